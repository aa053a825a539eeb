/** What the author of a View imports: the client, and ext-apps' names for whoever has used them. */
export * from "./client.js";
export { LATEST_PROTOCOL_VERSION, RESOURCE_MIME_TYPE } from "./wire.js";
export * from "./methods.js";
export * from "./schemas.js";
export * from "./dispatcher.js";
export type * from "./mcpui.js";
export type * from "./standard.js";
