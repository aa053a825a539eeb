// A server that takes its time, over stdio and without any library: node slow.mjs [MOOD]
// Its tools "dig" (with a view) and "count" (without one) begin, say how they get on, and answer when "go" is called.
// "flood" says so 50,000 times. "late" answers what was taken back all the same; "told" says what was.
//   mute      never lists its tools          stuck     lists one page, and never the next
//   endless   lists one page after another   many      lists 10,000 tools, each with a view
import { createInterface } from "node:readline";

const MIME = "text/html;profile=mcp-app";
const [mood] = process.argv.slice(2);
const send = (message) => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words) => ({ content: [{ type: "text", text: words }] });
const VIEW = `<!doctype html><meta charset="utf-8"><body><p>…</p><script>
const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
addEventListener("message", ({ data }) => {
  if (data.id === 1) post({ method: "ui/notifications/initialized", params: {} });
  const kind = /tool-(input|result|cancelled)$/.exec(data.method ?? "")?.[1];
  if (kind) document.body.dataset[kind] = data.params.content?.[0].text ?? data.params.reason ?? JSON.stringify(data.params.arguments);
  if (data.method === "ui/resource-teardown") post({ id: data.id, result: {} });
});
post({ id: 1, method: "ui/initialize", params: { appInfo: { name: "slow", version: "1" }, appCapabilities: {}, protocolVersion: "2026-01-26" } });
</script>`;

/** Calls that have not been answered, and those that were taken back. */
const open = new Map();
const gone = [];
let calls = 0;
const progress = (id, params) => send({ method: "notifications/progress", params: { progressToken: open.get(id).token, ...params } });
const TOOLS = {
  dig: (id) => progress(id, { progress: 1, total: 4, message: "digging\u202e" }),
  count: (id) => progress(id, { progress: 7, message: "one by one" }),
  quiet: () => {},
  flood: (id) => {
    for (let n = 0; n < 50_000; n++) progress(id, { progress: n, total: 50_000, message: `grain ${n}` });
    progress(id, { progress: 50_000, total: 50_000, message: "the last grain" });
  },
  go: (id) => {
    open.delete(id);
    for (const waiting of open.keys()) send({ id: waiting, result: text(`answer ${++calls}`) });
    open.clear();
    return text("gone on");
  },
  late: () => {
    for (const { requestId } of gone) send({ id: requestId, result: text("too late") });
    return text("answered all the same");
  },
  told: () => text(JSON.stringify(gone)),
};

const views = mood === "many" ? Array.from({ length: 10_000 }, (_, n) => `tool_${String(n).padStart(5, "0")}`) : ["dig"];
const listed = mood === "many" ? views : Object.keys(TOOLS);
const tools = listed.map((name) => ({
  name,
  description: "takes its time ".repeat(20),
  inputSchema: { type: "object", properties: { depth: { type: "number" } } },
  ...(views.includes(name) && { _meta: { ui: { resourceUri: `ui://slow/${mood === "many" ? name : "dig"}` } } }),
}));

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    serverInfo: { name: "slow", version: "1.0.0" },
    capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/ui": {} } },
  }),
  "tools/list": ({ cursor = "0" } = {}) => {
    if (mood === "mute" || (mood === "stuck" && cursor !== "0")) return undefined;
    const nextCursor = String(Number(cursor) + 1);
    if (mood === "endless") return { tools: [{ name: `page_${cursor}`, inputSchema: { type: "object" } }], nextCursor };
    return { tools, ...(mood === "stuck" && { nextCursor }) };
  },
  "resources/list": () => ({ resources: [] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, mimeType: MIME, text: VIEW }] }),
  "tools/call": ({ name, _meta }, id) => {
    open.set(id, { token: _meta?.progressToken });
    const result = TOOLS[name]?.(id);
    if (result) open.delete(id);
    return result;
  },
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") {
    gone.push(params);
    open.delete(params.requestId);
  }
  if (id === undefined) return;
  if (!Object.hasOwn(answers, method)) return send({ id, error: { code: -32601, message: `no method ${method}` } });
  const result = answers[method](params, id);
  if (result !== undefined) send({ id, result });
});
