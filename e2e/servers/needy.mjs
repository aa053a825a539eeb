// A server whose views need more than their policy gives, over stdio and without any library: node needy.mjs [MOOD]
// Each tool opens a view that tries one thing, and writes into its body what came of it.
//   unlisted  does not say which tools it has     crash  ends at once, with an error
//   chatty    says things beside its answers
import { createInterface } from "node:readline";

const MIME = "text/html;profile=mcp-app";

// The smallest module: it holds nothing.
const WASM = "[0, 97, 115, 109, 1, 0, 0, 0]";
const VIEWS = {
  compile: `done(new Function("return 6 * 7")())`,
  worker: `
    const code = new Blob(["postMessage(6 * 7)"], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(code));
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = () => done("blocked");`,
  module: `WebAssembly.instantiate(new Uint8Array(${WASM})).then(() => done(42), () => done("blocked"))`,
  picture: `
    const svg = new Blob(['<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'], { type: "image/svg+xml" });
    const image = new Image();
    image.onload = () => done(42);
    image.onerror = () => done("blocked");
    image.src = URL.createObjectURL(svg);`,
  elsewhere: `
    const script = Object.assign(document.createElement("script"), { src: "https://cdn.elsewhere.test/lib.js?key=secret" });
    script.onerror = () => done("blocked");
    document.head.append(script);`,
  both: `
    let left = 2, sum = 0;
    const one = (value) => { sum += value; if (!--left) done(sum); };
    try { one(new Function("return 40")()); } catch {}
    new Worker(URL.createObjectURL(new Blob(["postMessage(2)"], { type: "text/javascript" }))).onmessage = ({ data }) => one(data);`,
  // A hostile guest: as many different violations as it can cause.
  flood: `
    for (let n = 0; n < 3000; n++) new Image().src = "https://" + n + ".flood.test/";
    done("sent");`,
  // It says itself that something was blocked.
  liar: `
    const report = { "csp-report": { "effective-directive": "script-src", "blocked-uri": "eval" } };
    const headers = { "content-type": "application/csp-report" };
    fetch(location.href, { method: "POST", headers, body: JSON.stringify(report) }).then(({ status }) => done(status), () => done("blocked"));`,
  sized: `
    const size = (height) => post({ method: "ui/notifications/size-changed", params: { height } });
    globalThis.size = size;
    globalThis.go = (mode) => post({ id: 7, method: "ui/request-display-mode", params: { mode } });
    globalThis.call = (fail) => post({ id: 8, method: "tools/call", params: { name: "sized", arguments: { fail } } });
    addEventListener("message", ({ data }) => {
      if (data.method === "ui/notifications/tool-result") size(220);
      if (data.method === "ui/notifications/host-context-changed" && data.params.displayMode) done(data.params.displayMode);
    });`,
  busy: `
    for (const end = performance.now() + 4000; performance.now() < end; );
    done("late");`,
  camera: `done(document.featurePolicy.allowsFeature("camera") ? 42 : "blocked")`,
};
/** Views that say hello in their own way, or not at all. */
const WHOLE = {
  silent: `<!doctype html><body><p>nothing happens</p>`,
  stranger: `<!doctype html><body><script>parent.postMessage({ hello: "world" }, "*")</script>`,
  // What it needs to begin is blocked.
  stuck: `<!doctype html><body><script>new Function("return 1")()</script><p>not even a hello`,
  late: `<!doctype html><body><button>Begin</button><script>
    document.querySelector("button").onclick = () => parent.postMessage({ jsonrpc: "2.0", id: 1, method: "ui/initialize",
      params: { appInfo: { name: "late", version: "1" }, appCapabilities: {}, protocolVersion: "2026-01-26" } }, "*");
    addEventListener("message", ({ data }) => data.id === 1 && parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/initialized", params: {} }, "*"));
  </script>`,
  failing: `<!doctype html><body><script>console.error("not", "well"); Promise.reject(new Error("never caught"));</script>
    <script>undefined.property</script><p id="after">after`,
};
const META = { liar: { csp: {} }, camera: { permissions: { camera: {}, geolocation: {} } } };

const page = (script) => `<!doctype html><meta charset="utf-8"><body><p>…</p><script>
const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const done = (value) => { document.body.dataset.done = document.querySelector("p").textContent = value; };
addEventListener("message", ({ data }) => {
  if (data.id === 1) {
    document.body.dataset.sandbox = JSON.stringify(data.result.hostCapabilities.sandbox) ?? "";
    post({ method: "ui/notifications/initialized", params: {} });
  }
  if (data.method === "ui/notifications/tool-result") document.body.dataset.result = data.params.content[0].text;
  if (data.method === "ui/resource-teardown") post({ id: data.id, result: {} });
});
post({ id: 1, method: "ui/initialize", params: { appInfo: { name: "needy", version: "1" }, appCapabilities: {}, protocolVersion: "2026-01-26" } });
</script><script>${script}</script>`;

const [mood] = process.argv.slice(2);
if (mood === "crash") {
  console.error("starting…");
  throw new Error("the database is not there");
}
const note = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const DOCUMENTS = { ...Object.fromEntries(Object.entries(VIEWS).map(([name, script]) => [name, page(script)])), ...WHOLE };
let calls = 0;
const uri = (name) => `ui://needy/${name}`;
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    serverInfo: { name: "needy", version: "1.0.0" },
    capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/ui": {} } },
  }),
  "tools/list": () => ({
    tools: Object.keys(DOCUMENTS).map((name) => ({
      name,
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      _meta: { ui: { resourceUri: uri(name) } },
    })),
  }),
  "resources/list": () => ({ resources: Object.keys(DOCUMENTS).map((name) => ({ uri: uri(name), name, mimeType: MIME })) }),
  "resources/read": ({ uri }) => {
    const name = uri.split("/").at(-1);
    const ui = META[name];
    return { contents: [{ uri, mimeType: MIME, text: DOCUMENTS[name], ...(ui && { _meta: { ui } }) }] };
  },
  "tools/call": ({ arguments: { fail } = {} }) => {
    if (mood === "chatty") {
      console.error("a line on standard error");
      note({ method: "notifications/message", params: { level: "warning", logger: "db", data: "it is slow today" } });
    }
    return { content: [{ type: "text", text: `call ${++calls}` }], ...(fail && { isError: true }) };
  },
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (mood === "unlisted" && method === "tools/list")
    return note({ id, error: { code: -32603, message: "the tools are in the cellar" } });
  const reply = Object.hasOwn(answers, method)
    ? { result: answers[method](params) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
});
