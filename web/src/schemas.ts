/**
 * What stands for ext-apps' schemas of messages: each names its method, for `setRequestHandler` and
 * `setNotificationHandler`, and carries the message's type. None looks inside: an answer or a message need only be an
 * object, as everything that arrives here is, and a View that wants more checked brings a schema of its own.
 */
import type * as named from "./mcpui.js";
import type { StandardSchemaV1 } from "./standard.js";

/** A schema of one kind of message or answer. */
export interface MessageSchema<T, M = unknown> extends StandardSchemaV1<T> {
  /** The method of the message; an answer has none. */
  readonly shape: { readonly method: { readonly value: M } };
  /** Never there: the type that zod's objects carry here. */
  readonly _output: T;
}

/*#__NO_SIDE_EFFECTS__*/
const schema = <T extends object>(
  value?: MethodOf<T>,
): MessageSchema<T, MethodOf<T>> =>
  ({
    shape: { method: { value } },
    "~standard": {
      version: 1,
      vendor: "transom",
      validate: (value: unknown) => ({ value }),
    },
  }) as never;

type MethodOf<T> = T extends { method: infer M } ? M : undefined;

export const McpUiOpenLinkRequestSchema =
  schema<named.McpUiOpenLinkRequest>("ui/open-link");
export const McpUiDownloadFileRequestSchema =
  schema<named.McpUiDownloadFileRequest>("ui/download-file");
export const McpUiMessageRequestSchema =
  schema<named.McpUiMessageRequest>("ui/message");
export const McpUiUpdateModelContextRequestSchema =
  schema<named.McpUiUpdateModelContextRequest>("ui/update-model-context");
export const McpUiSandboxProxyReadyNotificationSchema =
  schema<named.McpUiSandboxProxyReadyNotification>(
    "ui/notifications/sandbox-proxy-ready",
  );
export const McpUiSandboxResourceReadyNotificationSchema =
  schema<named.McpUiSandboxResourceReadyNotification>(
    "ui/notifications/sandbox-resource-ready",
  );
export const McpUiSizeChangedNotificationSchema =
  schema<named.McpUiSizeChangedNotification>("ui/notifications/size-changed");
export const McpUiToolInputNotificationSchema =
  schema<named.McpUiToolInputNotification>("ui/notifications/tool-input");
export const McpUiToolInputPartialNotificationSchema =
  schema<named.McpUiToolInputPartialNotification>(
    "ui/notifications/tool-input-partial",
  );
export const McpUiToolResultNotificationSchema =
  schema<named.McpUiToolResultNotification>("ui/notifications/tool-result");
export const McpUiToolCancelledNotificationSchema =
  schema<named.McpUiToolCancelledNotification>(
    "ui/notifications/tool-cancelled",
  );
export const McpUiHostContextChangedNotificationSchema =
  schema<named.McpUiHostContextChangedNotification>(
    "ui/notifications/host-context-changed",
  );
export const McpUiResourceTeardownRequestSchema =
  schema<named.McpUiResourceTeardownRequest>("ui/resource-teardown");
export const McpUiRequestTeardownNotificationSchema =
  schema<named.McpUiRequestTeardownNotification>(
    "ui/notifications/request-teardown",
  );
export const McpUiInitializeRequestSchema =
  schema<named.McpUiInitializeRequest>("ui/initialize");
export const McpUiInitializedNotificationSchema =
  schema<named.McpUiInitializedNotification>("ui/notifications/initialized");
export const McpUiRequestDisplayModeRequestSchema =
  schema<named.McpUiRequestDisplayModeRequest>("ui/request-display-mode");

export const McpUiOpenLinkResultSchema = schema<named.McpUiOpenLinkResult>();
export const McpUiDownloadFileResultSchema =
  schema<named.McpUiDownloadFileResult>();
export const McpUiMessageResultSchema = schema<named.McpUiMessageResult>();
export const McpUiResourceTeardownResultSchema =
  schema<named.McpUiResourceTeardownResult>();
export const McpUiInitializeResultSchema =
  schema<named.McpUiInitializeResult>();
export const McpUiRequestDisplayModeResultSchema =
  schema<named.McpUiRequestDisplayModeResult>();
