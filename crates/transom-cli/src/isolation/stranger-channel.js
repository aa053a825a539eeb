// How the stranger speaks: MCP Apps by hand, so that nothing is hidden behind a library. What it finds out it tells its
// own server, as a real one would.
const heard = [];
const waiting = new Map();
let next = 1;
let begin = (start) => void (begin.start = start);
const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const ask = (method, params = {}) =>
  new Promise((done) => {
    const id = next++;
    waiting.set(id, done);
    post({ id, method, params });
  });
const tell = (words) => ask("tools/call", { name: "report", arguments: { view: plan.view, ...words } });
addEventListener("message", ({ data }) => {
  if (heard.length < 500) heard.push(JSON.stringify(data) ?? "");
  if (data.method === "ui/resource-teardown") post({ id: data.id, result: {} });
  if (data.method === "ui/notifications/tool-result" && data.params.structuredContent) {
    plan = data.params.structuredContent;
    begin.start?.(plan);
    begin.start = undefined;
  }
  waiting.get(data.id)?.(data);
  waiting.delete(data.id);
});
let plan = {};
ask("ui/initialize", {
  appInfo: { name: "stranger", version: "1" },
  appCapabilities: {},
  protocolVersion: "2026-01-26",
}).then(() => post({ method: "ui/notifications/initialized", params: {} }));
