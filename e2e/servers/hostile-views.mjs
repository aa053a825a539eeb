// The documents of hostile.mjs. Each speaks the protocol by hand: no library, nothing to hide behind.

const SPEAK = `
let next = 1;
const waiting = new Map();
const heard = globalThis.heard = [];
const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const ask = (method, params = {}) => new Promise((done) => {
  const id = next++;
  waiting.set(id, done);
  post({ id, method, params });
});
addEventListener("message", ({ data }) => {
  if (data.method === "ui/resource-teardown" && !globalThis.hangs) post({ id: data.id, result: {} });
  if (data.method) heard.push(data);
  else waiting.get(data.id)?.(data.error ?? data.result);
  if (data.method === "ui/notifications/tool-result")
    document.body.dataset.result = data.params.content.map(({ text, type }) => text ?? type).join(" ");
  if (data.method === "ui/notifications/tool-cancelled") document.body.dataset.cancelled = data.params.reason;
});
const call = (name, args = {}) => ask("tools/call", { name, arguments: args });
const hello = async () => {
  const appInfo = { name: "stranger", version: "1" };
  const welcome = await ask("ui/initialize", { appInfo, appCapabilities: {}, protocolVersion: "2026-01-26" });
  document.body.dataset.sandbox = JSON.stringify(welcome.hostCapabilities.sandbox) ?? "";
  post({ method: "ui/notifications/initialized", params: {} });
  document.body.dataset.ready = "yes";
};`;

// What a stranger tries. Everything that goes out is aimed at an address that the test listens on.
const ATTACKS = `
const settled = (target, good, bad) => new Promise((done) => {
  target[good] = () => done("through");
  target[bad] = () => done("blocked");
});
const append = (name, properties) => Object.assign(document.createElement(name), properties);
const put = (element) => (document.body.append(element), element);
const attacks = {
  fetch: (url) => fetch(url).then(() => "through", () => "blocked"),
  "fetch without cors": (url) => fetch(url, { mode: "no-cors" }).then(() => "through", () => "blocked"),
  image: (url) => settled(append("img", { src: url }), "onload", "onerror"),
  script: (url) => settled(put(append("script", { src: url })), "onload", "onerror"),
  style: (url) => settled(put(append("link", { rel: "stylesheet", href: url })), "onload", "onerror"),
  beacon: (url) => (navigator.sendBeacon(url), "sent"),
  socket: (url) => {
    try { return settled(new WebSocket(url.replace("http", "ws")), "onopen", "onerror"); } catch { return "blocked"; }
  },
  events: (url) => settled(new EventSource(url), "onopen", "onerror"),
  worker: (url) => {
    try { return settled(new Worker(url), "onmessage", "onerror"); } catch { return "blocked"; }
  },
  frame: (url) => (put(append("iframe", { src: url })), "sent"),
  form: (url) => (put(append("form", { action: url, method: "post" })).submit(), "sent"),
  popup: (url) => (open(url) === null ? "blocked" : "through"),
  preconnect: (url) => (put(append("link", { rel: "preconnect", href: url })), "sent"),
  prefetch: (url) => (put(append("link", { rel: "prefetch", href: url })), "sent"),
};
globalThis.attack = async (name, url) => String(await attacks[name](url));
globalThis.reach = (get) => { try { return String(get()); } catch (error) { return error.name; } };
globalThis.top_ = (url) => reach(() => (top.location.href = url));`;

const page = (script) => `<!doctype html><meta charset="utf-8"><title>A view</title><p>A view</p><script>${script}</script>`;

/** Greets, and then does what it is told to by whoever runs scripts in it. */
export const HOSTILE = page(`${SPEAK}${ATTACKS}
Object.assign(globalThis, { ask, call, post });
hello();`);

/** Behaves. */
export const STEADY = page(`${SPEAK}
Object.assign(globalThis, { ask, call });
hello();`);

/** Never says a word. */
export const NEVER = page("");

/** Says hello and starts over, for ever. */
export const RELOADS = page(`${SPEAK}
hello().then(() => location.reload());`);
