/** The types that ext-apps exports to views, each in use: whoever lacks one does not compile. */
import type {
  AppEventMap,
  AppNotification,
  AppOptions,
  AppRequest,
  AppResult,
  AppToolCallback,
  AppToolResult,
  LegacyMethodSchema,
  LegacyNotificationHandler,
  LegacyNotificationHandlerSetter,
  LegacyRequestHandler,
  LegacyRequestHandlerExtra,
  LegacyRequestHandlerSetter,
  McpUiAppCapabilities,
  McpUiClientCapabilities,
  McpUiDisplayMode,
  McpUiDownloadFileRequest,
  McpUiDownloadFileResult,
  McpUiHostCapabilities,
  McpUiHostContext,
  McpUiHostContextChangedNotification,
  McpUiHostCss,
  McpUiHostStyles,
  McpUiInitializedNotification,
  McpUiInitializeRequest,
  McpUiInitializeResult,
  McpUiMessageRequest,
  McpUiMessageResult,
  McpUiOpenLinkRequest,
  McpUiOpenLinkResult,
  McpUiRequestDisplayModeRequest,
  McpUiRequestDisplayModeResult,
  McpUiRequestTeardownNotification,
  McpUiResourceCsp,
  McpUiResourceMeta,
  McpUiResourcePermissions,
  McpUiResourceTeardownRequest,
  McpUiResourceTeardownResult,
  McpUiSandboxProxyReadyNotification,
  McpUiSandboxResourceReadyNotification,
  McpUiSizeChangedNotification,
  McpUiStyles,
  McpUiStyleVariableKey,
  McpUiSupportedContentBlockModalities,
  McpUiTheme,
  McpUiToolCancelledNotification,
  McpUiToolInputNotification,
  McpUiToolInputPartialNotification,
  McpUiToolMeta,
  McpUiToolResultNotification,
  McpUiToolVisibility,
  McpUiUpdateModelContextRequest,
  RegisteredAppTool,
  StandardSchemaV1,
  StandardSchemaWithJSON,
} from "@modelcontextprotocol/ext-apps";

const options: AppOptions = {
  autoResize: false,
  strict: false,
  allowUnsafeEval: false,
  enforceStrictCapabilities: false,
};
const theme: McpUiTheme = "dark";
const mode: McpUiDisplayMode = "pip";
const key: McpUiStyleVariableKey = "--font-sans";
const variables = { [key]: "serif" } as McpUiStyles;
const css: McpUiHostCss = { fonts: "" };
const styles: McpUiHostStyles = { variables, css };
const csp: McpUiResourceCsp = { connectDomains: ["https://a.example"] };
const permissions: McpUiResourcePermissions = { camera: {} };
const resource: McpUiResourceMeta = {
  csp,
  permissions,
  domain: "a",
  prefersBorder: true,
};
const visibility: McpUiToolVisibility[] = ["app"];
const tool: McpUiToolMeta = { resourceUri: "ui://a/b", visibility };
const client: McpUiClientCapabilities = { mimeTypes: [] };
const modalities: McpUiSupportedContentBlockModalities = {
  text: {},
  structuredContent: {},
};
const host: McpUiHostCapabilities = {
  serverTools: { listChanged: true },
  message: modalities,
  sandbox: { csp, permissions },
};
const able: McpUiAppCapabilities = {
  availableDisplayModes: [mode],
  tools: { listChanged: true },
};
const context: McpUiHostContext = {
  theme,
  styles,
  displayMode: mode,
  containerDimensions: { maxHeight: 10, width: 5 },
  safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
  toolInfo: { tool: { name: "t", inputSchema: { type: "object" } } },
};
const initialize: McpUiInitializeRequest = {
  method: "ui/initialize",
  params: {
    appInfo: { name: "a", version: "1" },
    appCapabilities: able,
    protocolVersion: "2026-01-26",
  },
};
const initialized: McpUiInitializedNotification = {
  method: "ui/notifications/initialized",
};
const welcome: McpUiInitializeResult = {
  protocolVersion: "2026-01-26",
  hostInfo: { name: "h", version: "1" },
  hostCapabilities: host,
  hostContext: context,
};
const link: McpUiOpenLinkRequest = {
  method: "ui/open-link",
  params: { url: "https://a.example" },
};
const message: McpUiMessageRequest = {
  method: "ui/message",
  params: { role: "user", content: [{ type: "text", text: "a" }] },
};
const known: McpUiUpdateModelContextRequest = {
  method: "ui/update-model-context",
  params: { structuredContent: { a: 1 } },
};
const display: McpUiRequestDisplayModeRequest = {
  method: "ui/request-display-mode",
  params: { mode },
};
const teardown: McpUiResourceTeardownRequest = {
  method: "ui/resource-teardown",
  params: {},
};
const file: McpUiDownloadFileRequest = {
  method: "ui/download-file",
  params: {
    contents: [{ type: "resource_link", uri: "file:///a", name: "a" }],
  },
};
const requests: AppRequest[] = [
  initialize,
  link,
  message,
  known,
  display,
  teardown,
  file,
];
const notifications: AppNotification[] = [
  initialized,
  {
    method: "ui/notifications/tool-input",
    params: { arguments: {} },
  } satisfies McpUiToolInputNotification,
  {
    method: "ui/notifications/tool-input-partial",
    params: {},
  } satisfies McpUiToolInputPartialNotification,
  {
    method: "ui/notifications/tool-result",
    params: { content: [] },
  } satisfies McpUiToolResultNotification,
  {
    method: "ui/notifications/tool-cancelled",
    params: { reason: "no" },
  } satisfies McpUiToolCancelledNotification,
  {
    method: "ui/notifications/host-context-changed",
    params: context,
  } satisfies McpUiHostContextChangedNotification,
  {
    method: "ui/notifications/size-changed",
    params: { height: 1 },
  } satisfies McpUiSizeChangedNotification,
  {
    method: "ui/notifications/request-teardown",
  } satisfies McpUiRequestTeardownNotification,
  {
    method: "ui/notifications/sandbox-proxy-ready",
    params: {},
  } satisfies McpUiSandboxProxyReadyNotification,
  {
    method: "ui/notifications/sandbox-resource-ready",
    params: { html: "", csp },
  } satisfies McpUiSandboxResourceReadyNotification,
];
const outcome: McpUiOpenLinkResult &
  McpUiMessageResult &
  McpUiDownloadFileResult = { isError: false };
const shown: McpUiRequestDisplayModeResult = { mode };
const saved: McpUiResourceTeardownResult = { a: 1 };
const results: AppResult[] = [welcome, outcome, shown, saved];

const bare: AppToolCallback = (extra) => ({
  content: [{ type: "text", text: extra.mcpReq.method }],
});
type Text = StandardSchemaV1<string, string>;
const written: AppToolCallback<Text, StandardSchemaV1<{ n: number }>> = async (
  args,
) => ({
  content: [],
  structuredContent: { n: args.length },
});
const failed: AppToolResult<StandardSchemaV1<{ n: number }>> = {
  content: [],
  isError: true,
};
type Both = StandardSchemaWithJSON.InferOutput<
  StandardSchemaWithJSON<string, number>
>;
const output: Both &
  StandardSchemaV1.InferOutput<StandardSchemaV1<string, number>> = 1;

const register = (tool: RegisteredAppTool) => [tool.enabled, tool.title];
const events: (keyof AppEventMap)[] = [
  "toolinput",
  "toolinputpartial",
  "toolresult",
  "toolcancelled",
  "hostcontextchanged",
];
const legacy = {
  answer: ((request, extra) => [
    request,
    extra.signal,
    extra.requestId,
  ]) satisfies LegacyRequestHandler<LegacyMethodSchema>,
  hear: (() => {}) satisfies LegacyNotificationHandler<LegacyMethodSchema>,
  extra: (extra: LegacyRequestHandlerExtra) => extra._meta,
  setters: (
    request: LegacyRequestHandlerSetter<unknown>,
    notification: LegacyNotificationHandlerSetter<unknown>,
  ) => [request, notification],
};

/** How many there are of each: only so that all is used. */
export const shapes = [
  options,
  resource,
  tool,
  client,
  requests,
  notifications,
  results,
  bare,
  written,
  failed,
  output,
  register,
  events,
  legacy,
].map((one) => Object.keys(Object(one)).length);
