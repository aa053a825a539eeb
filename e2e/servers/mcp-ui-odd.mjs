// A server whose tools answer with views in their results, as mcp-ui has it, and each with something wrong: over stdio, without any library.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const HTML = "text/html";
const view = (more, mimeType = HTML) => ({ type: "resource", resource: { uri: "ui://odd/view", mimeType, ...more } });
const list = (text) => view({ text }, "text/uri-list");

/** A view that says what it is told to by its test, in mcp-ui's form, and keeps what it hears. */
const TALKS = `<!doctype html><meta charset="utf-8"><p id="is">talks</p><script>
  const told = [];
  addEventListener("message", ({ data }) => told.push(data));
  const say = (message) => parent.postMessage(message, "*");
  say({ type: "ui-lifecycle-iframe-ready" });
</script>`;

/** What each tool answers with. */
const TOOLS = {
  talks: () => [view({ text: TALKS })],
  mute: () => [view({ text: "<p id=is>has nothing to say</p>" })],
  huge: () => [view({ text: `<p>${"x".repeat(50e6)}` })],
  large: () => [view({ text: `<p>${"x".repeat(17 << 20)}` })],
  base64: () => [view({ blob: "no base64 at all %%%" })],
  picture: () => [view({ blob: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAAElEQVR4nA==" })],
  lies: () => [view({ text: "<p>hi" }, "image/png")],
  remote: () => [view({ text: "root.append(1)" }, "application/vnd.mcp-ui.remote-dom+javascript; framework=react")],
  empty: () => [view({ text: "  " })],
  many: () => Array.from({ length: 5000 }, (_, at) => view({ text: `<p id=is>number ${at}` })),
  bad_links: () => [list("# none of these\r\njavascript:alert(1)\r\nfile:///etc/passwd\r\ndata:text/html,<script>alert(1)</script>\r\n")],
  links: () => [list(`# some\r\njavascript:alert(1)\r\nhttps://example.com/"><script>document.title='in'</script>\r\n${"https://example.org/\n".repeat(5000)}`)],
  framed: () => [view({ text: "<p id=is>reaches out<img src=https://example.com/x><script>fetch('https://example.com/y').catch(() => is.textContent = 'kept in')</script>", _meta: { ui: { csp: { connectDomains: ["https://example.com"], resourceDomains: ["https://example.com"] } } } })],
  look: () => [{ type: "text", text: "looked" }],
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize")
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } } });
  if (method === "tools/list")
    return send({ id, result: { tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } })) } });
  if (method === "tools/call") return send({ id, result: { content: TOOLS[params.name]() } });
  return send({ id, error: { code: -32601, message: "no such method" } });
});
