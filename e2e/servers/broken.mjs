// Servers with one view each, broken in one way: `node broken.mjs MOOD`.
import { createInterface } from "node:readline";

const mood = process.argv[2];
const hello = `parent.postMessage({ jsonrpc: "2.0", id: 1, method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo: { name: "b", version: "1" }, appCapabilities: {} } }, "*");`;
const ready = `parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/initialized" }, "*");`;
const page = (script, body = "") => `<!doctype html><body>${body}<script>${script}</script></body>`;
const shows = `onmessage = ({ data }) => { if (data.id === 1) { ${ready} document.body.append(Object.assign(document.createElement("p"), { textContent: "There." })); } }; ${hello}`;
const documents = {
  whole: page(shows),
  "no-jsonrpc": page(shows.replaceAll('jsonrpc: "2.0", ', "")),
  csp: `<!doctype html><body><script src="https://cdn.example/view.js"></script></body>`,
  "script-error": page(`const view = undefined; view.connect(); ${hello}`),
  "wrong-window": page(shows.replaceAll("parent.postMessage", "top.postMessage")),
  srcdoc: page("", `<iframe srcdoc="<script>${hello.replaceAll('"', "&quot;")}</script>"></iframe>`),
  "no-script": "<!doctype html><body><p>Only words.</p></body>",
  "never-connects": page("const app = { connect() {} };"),
  "wrong-source": page(`onmessage = ({ origin, data }) => { if (origin === "https://host.example" && data.id === 1) { ${ready} } }; ${hello}`),
  "no-handler": page(`onmessage = ({ data }) => { if (data.id === 1) { ${ready} } }; ${hello}`),
};
const uri = "ui://broken/view";
const mimeType = mood === "wrong-mime" ? "text/html" : "text/html;profile=mcp-app";
const text = documents[mood] ?? documents.whole;
const tool = {
  name: "show",
  inputSchema: { type: "object" },
  ...(mood !== "no-link" && { _meta: { ui: { resourceUri: uri } } }),
};
const answers = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {}, resources: {} }, serverInfo: { name: "broken", version: "1" } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: mood === "no-tools" ? [] : [tool] }),
  "resources/list": () => ({ resources: [] }),
  "resources/read": () => (mood === "no-document" ? undefined : { contents: [{ uri, mimeType, text }] }),
  "tools/call": () => (mood === "tool-failed" ? undefined : { content: [{ type: "text", text: "done" }] }),
};
if (mood === "no-server") process.exit(3);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.();
  const error = { code: -32601, message: `no ${method} here` };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
}
