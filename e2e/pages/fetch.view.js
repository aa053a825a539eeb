import { App } from "../../web/src/index.ts";
import { initMcpHttp } from "../../web/src/fetch/index.ts";
import "./fetch.xhr.js";

globalThis.app = new App({ name: "fetch", version: "1.0.0" });
globalThis.handle = initMcpHttp(app);
app.connect();
