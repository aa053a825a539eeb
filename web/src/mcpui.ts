/** The wire types, and a few others, under ext-apps' names, for Views that import them. */
import type {
  MethodSchema,
  NotificationHandlerSetter,
  RequestHandlerSetter,
} from "./handlers.js";
import type { RequestExtra } from "./tools.js";
import type * as wire from "./wire.js";

export type McpUiTheme = wire.Theme;
export type McpUiDisplayMode = wire.DisplayMode;
export type McpUiStyleVariableKey = wire.StyleVariableKey;
export type McpUiStyles = wire.Styles;
export type McpUiHostCss = NonNullable<wire.HostStyles["css"]>;
export type McpUiHostStyles = wire.HostStyles;
export type McpUiHostContext = wire.HostContext;
export type McpUiHostCapabilities = wire.HostCapabilities;
export type McpUiAppCapabilities = wire.AppCapabilities;
export type McpUiInitializeResult = wire.InitializeResult;
export type McpUiResourceCsp = wire.ResourceCsp;
export type McpUiResourcePermissions = wire.ResourcePermissions;
export type McpUiSupportedContentBlockModalities = wire.Modalities;
export type McpUiInitializeRequest = {
  method: "ui/initialize";
  params: {
    appInfo: wire.Implementation;
    appCapabilities: wire.AppCapabilities;
    protocolVersion: string;
  };
};
export type McpUiInitializedNotification = {
  method: "ui/notifications/initialized";
  params?: wire.Json;
};
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
export type McpUiResourceTeardownResult = wire.Json;
export type McpUiRequestTeardownNotification = {
  method: "ui/notifications/request-teardown";
  params?: wire.Json;
};
export type McpUiOpenLinkResult = wire.Outcome;
export type McpUiMessageResult = wire.Outcome;
export type McpUiDownloadFileResult = wire.Outcome;
export type McpUiDownloadFileRequest = {
  method: "ui/download-file";
  params: { contents: (wire.EmbeddedResource | wire.ResourceLink)[] };
};
export type McpUiRequestDisplayModeResult = {
  [key: string]: unknown;
  mode: wire.DisplayMode;
};
export type McpUiSandboxProxyReadyNotification = {
  method: "ui/notifications/sandbox-proxy-ready";
  params: wire.Json;
};
export type McpUiSandboxResourceReadyNotification = {
  method: "ui/notifications/sandbox-resource-ready";
  params: {
    html: string;
    sandbox?: string;
    csp?: wire.ResourceCsp;
    permissions?: wire.ResourcePermissions;
  };
};

/** What a server says of a View, and of a tool that has one. */
export type McpUiResourceMeta = {
  csp?: wire.ResourceCsp;
  permissions?: wire.ResourcePermissions;
  domain?: string;
  prefersBorder?: boolean;
};
export type McpUiToolVisibility = "model" | "app";
export type McpUiToolMeta = {
  resourceUri?: string;
  visibility?: McpUiToolVisibility[];
  csp?: never;
  permissions?: never;
};
export type McpUiClientCapabilities = { mimeTypes?: string[] };

/** Everything that the two sides of a session ask, tell and answer. */
export type AppRequest =
  | McpUiInitializeRequest
  | McpUiOpenLinkRequest
  | McpUiDownloadFileRequest
  | McpUiMessageRequest
  | McpUiUpdateModelContextRequest
  | McpUiResourceTeardownRequest
  | McpUiRequestDisplayModeRequest
  | { method: "tools/call"; params: wire.CallToolParams }
  | {
      method:
        | "tools/list"
        | "resources/list"
        | "resources/templates/list"
        | "prompts/list";
      params?: wire.ListParams;
    }
  | { method: "resources/read"; params: wire.ReadResourceParams }
  | { method: "sampling/createMessage"; params: wire.CreateMessageParams }
  | { method: "ping"; params?: wire.Json };
export type AppNotification =
  | McpUiHostContextChangedNotification
  | McpUiToolInputNotification
  | McpUiToolInputPartialNotification
  | McpUiToolResultNotification
  | McpUiToolCancelledNotification
  | McpUiSandboxResourceReadyNotification
  | McpUiInitializedNotification
  | McpUiSizeChangedNotification
  | McpUiSandboxProxyReadyNotification
  | McpUiRequestTeardownNotification
  | {
      method: `notifications/${"tools" | "resources" | "prompts"}/list_changed`;
      params?: wire.Json;
    }
  | { method: "notifications/message"; params: wire.LogParams };
export type AppResult =
  | McpUiInitializeResult
  | McpUiOpenLinkResult
  | McpUiResourceTeardownResult
  | McpUiRequestDisplayModeResult
  | wire.CallToolResult
  | wire.ListToolsResult
  | wire.ListResourcesResult
  | wire.ReadResourceResult
  | wire.CreateMessageResult
  | wire.CreateMessageResultWithTools;

/** The form of handlers in ext-apps' first version. */
export type LegacyMethodSchema = MethodSchema;
export type LegacyRequestHandlerExtra = RequestExtra;
export type LegacyRequestHandler<S extends LegacyMethodSchema> = (
  request: S["_output"],
  extra: LegacyRequestHandlerExtra,
) => unknown;
export type LegacyNotificationHandler<S extends LegacyMethodSchema> = (
  notification: S["_output"],
) => void | Promise<void>;
export type LegacyRequestHandlerSetter<Modern = RequestHandlerSetter> =
  Modern & {
    <S extends LegacyMethodSchema>(
      schema: S,
      handler: LegacyRequestHandler<S>,
    ): void;
  };
export type LegacyNotificationHandlerSetter<
  Modern = NotificationHandlerSetter,
> = Modern & {
  <S extends LegacyMethodSchema>(
    schema: S,
    handler: LegacyNotificationHandler<S>,
  ): void;
};
