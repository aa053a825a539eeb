// The view of every line of ext-apps: what it was told, and one button for each thing that it may ask for.
import { App, PostMessageTransport } from "ext-apps";

const app = new App({ name: "matrix", version: "1.0.0" }, {});
const show = (id, text) => (document.getElementById(id).textContent = text);
const words = ({ content }) => content.map(({ text }) => text).join(" ");
const on = (id, act) => document.getElementById(id).addEventListener("click", () => act().catch((error) => show("trouble", String(error))));

app.ontoolinput = ({ arguments: given }) => show("input", `asked for ${given.from ?? given.start}`);
app.ontoolresult = (result) => show("result", words(result));
on("add", async () => show("sum", words(await app.callServerTool({ name: "add", arguments: { a: 40, b: 2 } }))));
on("say", () => app.sendMessage({ role: "user", content: [{ type: "text", text: "said by a view" }] }));
on("link", () => (app.openLink ?? app.sendOpenLink).call(app, { url: "https://example.com/matrix" }));
app.connect(new PostMessageTransport(window.parent, window.parent)).then(
  () => show("host", `shown by ${app.getHostVersion().name}`),
  (error) => show("trouble", String(error)),
);
