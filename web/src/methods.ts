/** The names of the spec's methods, under ext-apps' names. */
export const OPEN_LINK_METHOD = "ui/open-link";
export const DOWNLOAD_FILE_METHOD = "ui/download-file";
export const MESSAGE_METHOD = "ui/message";
export const SANDBOX_PROXY_READY_METHOD =
  "ui/notifications/sandbox-proxy-ready";
export const SANDBOX_RESOURCE_READY_METHOD =
  "ui/notifications/sandbox-resource-ready";
export const SIZE_CHANGED_METHOD = "ui/notifications/size-changed";
export const TOOL_INPUT_METHOD = "ui/notifications/tool-input";
export const TOOL_INPUT_PARTIAL_METHOD = "ui/notifications/tool-input-partial";
export const TOOL_RESULT_METHOD = "ui/notifications/tool-result";
export const TOOL_CANCELLED_METHOD = "ui/notifications/tool-cancelled";
export const HOST_CONTEXT_CHANGED_METHOD =
  "ui/notifications/host-context-changed";
export const REQUEST_TEARDOWN_METHOD = "ui/notifications/request-teardown";
export const RESOURCE_TEARDOWN_METHOD = "ui/resource-teardown";
export const INITIALIZE_METHOD = "ui/initialize";
export const INITIALIZED_METHOD = "ui/notifications/initialized";
export const REQUEST_DISPLAY_MODE_METHOD = "ui/request-display-mode";

/** Where a tool's older, flat metadata has the address of its View. */
export const RESOURCE_URI_META_KEY = "ui/resourceUri";
