import { App } from "@modelcontextprotocol/ext-apps";
import { initMcpHttp } from "../../web/src/fetch/index.ts";
import "./fetch.xhr.js";

globalThis.app = new App({ name: "fetch", version: "1.0.0" }, {});
globalThis.handle = initMcpHttp(app);
app.connect();
