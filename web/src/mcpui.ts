/** The wire types under ext-apps' names, for Views that import them. */
import type * as wire from "./wire.js";

export type McpUiTheme = wire.Theme;
export type McpUiDisplayMode = wire.DisplayMode;
export type McpUiStyleVariableKey = wire.StyleVariableKey;
export type McpUiStyles = wire.Styles;
export type McpUiHostStyles = wire.HostStyles;
export type McpUiHostContext = wire.HostContext;
export type McpUiHostCapabilities = wire.HostCapabilities;
export type McpUiAppCapabilities = wire.AppCapabilities;
export type McpUiInitializeResult = wire.InitializeResult;
export type McpUiResourceCsp = wire.ResourceCsp;
export type McpUiResourcePermissions = wire.ResourcePermissions;
export type McpUiSupportedContentBlockModalities = wire.Modalities;
export type McpUiToolInputNotification = {
  method: "ui/notifications/tool-input";
  params: wire.ToolInputParams;
};
export type McpUiToolInputPartialNotification = {
  method: "ui/notifications/tool-input-partial";
  params: wire.ToolInputParams;
};
export type McpUiToolResultNotification = {
  method: "ui/notifications/tool-result";
  params: wire.CallToolResult;
};
export type McpUiToolCancelledNotification = {
  method: "ui/notifications/tool-cancelled";
  params: wire.ToolCancelledParams;
};
export type McpUiHostContextChangedNotification = {
  method: "ui/notifications/host-context-changed";
  params: wire.HostContext;
};
export type McpUiSizeChangedNotification = {
  method: "ui/notifications/size-changed";
  params: wire.SizeParams;
};
export type McpUiMessageRequest = {
  method: "ui/message";
  params: wire.MessageParams;
};
export type McpUiOpenLinkRequest = {
  method: "ui/open-link";
  params: { url: string };
};
export type McpUiUpdateModelContextRequest = {
  method: "ui/update-model-context";
  params: wire.ModelContextParams;
};
export type McpUiRequestDisplayModeRequest = {
  method: "ui/request-display-mode";
  params: { mode: wire.DisplayMode };
};
export type McpUiResourceTeardownRequest = {
  method: "ui/resource-teardown";
  params: { reason?: string };
};
