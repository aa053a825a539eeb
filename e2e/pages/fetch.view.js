import { App } from "../../web/src/index.ts";
import { initMcpFetch } from "../../web/src/fetch/index.ts";
import "./fetch.requests.js";

globalThis.app = new App({ name: "fetch", version: "1.0.0" });
globalThis.handle = initMcpFetch(app);
app.connect();
