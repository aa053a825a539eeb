/** What the author of a View imports. */
export * from "./view.js";
export * from "./theme.js";
export { PostMessageTransport, type Transport } from "./transport.js";
export { TransomError } from "./error.js";
