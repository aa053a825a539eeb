/** MCP between two windows: a page that is a server, or a page that is a client, in a frame or a popup. */
export { FrameError, type FrameCode, type SetupCode } from "./error.js";
export {
  InnerFrameTransport,
  type InnerOptions,
  type InnerSession,
} from "./inner.js";
export type {
  PermissionRequest,
  SetupOutcome,
  SetupRequired,
  SetupResult,
  Visibility,
} from "./messages.js";
export { readServerUrl } from "./origins.js";
export { OuterFrameTransport } from "./outer.js";
export type { OuterOptions, Setup } from "./outer-options.js";
export type { Payload } from "./payload.js";
export type { FrameOptions, Limits } from "./transport.js";
export {
  IframeControl,
  PopupControl,
  type IframeOptions,
  type WindowControl,
} from "./window.js";
