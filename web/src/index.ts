/** What the author of a View imports. */
export * from "./view.js";
export * from "./theme.js";
export * from "./data.js";
export type * from "./mcpui.js";
