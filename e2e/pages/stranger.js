// A page that wants in. `attack` posts every message of the protocol to a window.
globalThis.received = [];
addEventListener("message", ({ origin, data }) =>
  received.push({ origin, data }),
);

const TEXT = [{ type: "text", text: "evil" }];
const NOTIFICATIONS = [
  ["ui/notifications/initialized", {}],
  ["ui/notifications/size-changed", { width: 1, height: 1 }],
  ["ui/notifications/request-teardown", {}],
  ["ui/notifications/tool-input", { arguments: { evil: 1 } }],
  ["ui/notifications/tool-input-partial", { arguments: { evil: 1 } }],
  ["ui/notifications/tool-result", { content: TEXT }],
  ["ui/notifications/tool-cancelled", { reason: "evil" }],
  ["ui/notifications/host-context-changed", { theme: "light" }],
  ["ui/notifications/sandbox-proxy-ready", {}],
  [
    "ui/notifications/sandbox-resource-ready",
    { html: "<script>parent.postMessage('evil','*')</script>" },
  ],
  ["notifications/message", { level: "error", data: "evil" }],
  ["notifications/cancelled", { requestId: 0 }],
  ["notifications/progress", { progressToken: 0, progress: 1 }],
  ["notifications/tools/list_changed", {}],
];
const REQUESTS = [
  [
    "ui/initialize",
    {
      appInfo: { name: "evil", version: "1" },
      appCapabilities: {},
      protocolVersion: "2026-01-26",
    },
  ],
  ["ui/open-link", { url: "https://evil.test" }],
  ["ui/message", { role: "user", content: TEXT }],
  ["ui/update-model-context", { content: TEXT }],
  ["ui/request-display-mode", { mode: "fullscreen" }],
  ["ui/download-file", { contents: [] }],
  ["ui/resource-teardown", {}],
  ["tools/call", { name: "evil", arguments: {} }],
  ["tools/list", {}],
  ["resources/read", { uri: "file:///evil" }],
  ["ping", {}],
];

globalThis.everyMessage = () => [
  ...NOTIFICATIONS.map(([method, params]) => ({
    jsonrpc: "2.0",
    method,
    params: { ...params, attack: true },
  })),
  ...REQUESTS.map(([method, params], i) => ({
    jsonrpc: "2.0",
    id: 900 + i,
    method,
    params: { ...params, attack: true },
  })),
  ...[0, 1, 2].map((id) => ({
    jsonrpc: "2.0",
    id,
    result: { content: TEXT, evil: true },
    attack: true,
  })),
  { jsonrpc: "2.0", id: 1, error: { code: 1, message: "evil" }, attack: true },
];
globalThis.attack = (target) => {
  const messages = everyMessage();
  for (const message of messages) target.postMessage(message, "*");
  return messages.length;
};
