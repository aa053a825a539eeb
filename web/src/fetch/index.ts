/** Plain `fetch()` in a View that has no network: each request is a tool call, made by the server. */
export { initMcpFetch } from "./install.js";
export { initMcpHttp } from "./http.js";
export { carry } from "./carry.js";
export type { FetchHandle, FetchOptions, ToolCaller } from "./install.js";
export type { FetchCode } from "./failure.js";
