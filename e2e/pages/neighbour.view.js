// A view that behaves, on our library: what a hostile one tries to disturb.
import { App } from "transom";

const app = new App({ name: "neighbour", version: "1" }, {}, { autoResize: false });
/** What the host told it, and whoever managed to pass for the host. */
globalThis.told = [];
for (const event of ["toolinput", "toolinputpartial", "toolresult", "toolcancelled", "hostcontextchanged", "teardown"])
  app[`on${event}`] = (params) => void told.push({ event, ...params });
globalThis.call = (name, args = {}) => app.callServerTool({ name, arguments: args });
globalThis.app = app;
app.connect().then(() => (document.body.dataset.ready = "yes"));
