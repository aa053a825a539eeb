// Gives ext-apps' AppBridge (either version, in `peer`) the face the conversation drives: methods by their wire names.
// Only its public doors are used, so what passes here passes for every host built on it.
globalThis.openHost = async (frame, { hostContext, hostCapabilities }) => {
  const bridge = new peer.AppBridge(
    null,
    { name: "e2e-host", version: "1" },
    hostCapabilities,
    { hostContext },
  );
  bridge.oninitialized = () => ear.hear("initialized");
  bridge.onsandboxready = () => ear.hear("sandboxready");
  bridge.onerror = (error) => ear.hear("error", String(error));
  const transport = new peer.PostMessageTransport(
    frame.contentWindow,
    frame.contentWindow,
  );
  await bridge.connect(transport);

  const verbs = verbsOf(bridge);
  return {
    bridge,
    handle(method, handler) {
      const setter = HANDLERS.get(method);
      if (setter) bridge[setter] = handler;
      else ear.hear("unhandled", method);
    },
    send: (method, params) => verbs.get(method)(params),
    sendHtml: (html, more = {}) =>
      bridge.sendSandboxResourceReady({ html, ...more }),
    appInfo: () => bridge.getAppVersion(),
    appCapabilities: () => bridge.getAppCapabilities(),
    close: () => bridge.close(),
  };
};

const HANDLERS = new Map([
  ["tools/call", "oncalltool"],
  ["resources/read", "onreadresource"],
  ["resources/list", "onlistresources"],
  ["sampling/createMessage", "oncreatesamplingmessage"],
  ["ui/message", "onmessage"],
  ["ui/open-link", "onopenlink"],
  ["ui/download-file", "ondownloadfile"],
  ["ui/request-display-mode", "onrequestdisplaymode"],
  ["ui/update-model-context", "onupdatemodelcontext"],
  ["ui/notifications/size-changed", "onsizechange"],
  ["ui/notifications/request-teardown", "onrequestteardown"],
  ["notifications/message", "onloggingmessage"],
]);

/** What a test sends by its wire name. */
function verbsOf(bridge) {
  return new Map([
    ["ui/notifications/tool-input", (params) => bridge.sendToolInput(params)],
    [
      "ui/notifications/tool-input-partial",
      (params) => bridge.sendToolInputPartial(params),
    ],
    ["ui/notifications/tool-result", (params) => bridge.sendToolResult(params)],
    [
      "ui/notifications/tool-cancelled",
      (params) => bridge.sendToolCancelled(params),
    ],
    [
      "ui/notifications/host-context-changed",
      (params) => bridge.sendHostContextChange(params),
    ],
    ["notifications/tools/list_changed", () => bridge.sendToolListChanged()],
    [
      "notifications/resources/list_changed",
      () => bridge.sendResourceListChanged(),
    ],
    [
      "notifications/prompts/list_changed",
      () => bridge.sendPromptListChanged(),
    ],
    ["ui/resource-teardown", (params) => bridge.teardownResource(params)],
    ["tools/list", (params) => bridge.listTools(params)],
    ["tools/call", (params) => bridge.callTool(params)],
    ["ping", () => pingThrough(bridge)],
  ]);
}

// `ping` has no method of its own on AppBridge; both versions take it through `request`, with different arguments.
function pingThrough(bridge) {
  const anything = {
    parse: (value) => value,
    safeParse: (data) => ({ success: true, data }),
  };
  const schema = peer.EmptyResultSchema ?? anything;
  return bridge.request({ method: "ping" }, schema);
}
