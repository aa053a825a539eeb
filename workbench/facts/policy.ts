/** What a directive of a policy means, for who has to find out why something does not load. */

export function explain(name: string, value: string): string {
  const what = WHAT[name];
  const words = value.split(/\s+/).filter(Boolean);
  if (what === undefined) return ALONE[name] ?? "A rule that browsers know.";
  if (words.length === 0 || words.includes("'none'"))
    return `${what}: from nowhere.`;
  return `${what}: ${words.map(source).join(", ")}.`;
}

function source(word: string): string {
  if (word.startsWith("'nonce-")) return "what carries this page's own mark";
  if (word.startsWith("'sha")) return "what has exactly this hash";
  if (word.startsWith("'")) return SOURCES[word] ?? word;
  if (word.endsWith(":")) return SCHEMES[word] ?? `addresses with ${word}`;
  return word;
}

const WHAT: Record<string, string> = {
  "default-src": "Everything that no other line names",
  "script-src": "Scripts",
  "script-src-elem": "Scripts that are elements",
  "script-src-attr": "Scripts in attributes, such as onclick",
  "style-src": "Style sheets and styles",
  "style-src-elem": "Style sheets",
  "style-src-attr": "Styles in attributes",
  "img-src": "Images",
  "font-src": "Fonts",
  "media-src": "Sound and video",
  "object-src": "Plug-ins",
  "connect-src": "fetch, XMLHttpRequest, WebSocket, EventSource and beacons",
  "frame-src": "Frames inside the view",
  "child-src": "Frames and workers inside the view",
  "worker-src": "Workers",
  "manifest-src": "The manifest of an app",
  "prefetch-src": "What is loaded ahead",
  "form-action": "Where forms may be sent",
  "frame-ancestors": "Who may show this document in a frame",
  "base-uri": "What the base of its addresses may be",
  "navigate-to": "Where it may lead",
};

const ALONE: Record<string, string> = {
  sandbox:
    "What the frame may do at all; what is not named here is switched off.",
  "report-uri": "Where the browser tells what it blocked: that is this host.",
  "report-to": "Where the browser tells what it blocked: that is this host.",
  "upgrade-insecure-requests":
    "Addresses with http are asked for with https instead.",
  "require-trusted-types-for":
    "Strings do not become scripts without being looked at.",
  "trusted-types": "Which makers of trusted values there may be.",
  webrtc: "Whether connections between browsers may be made.",
};

const SOURCES: Record<string, string> = {
  "'self'": "its own origin",
  "'unsafe-inline'": "what is written in the document itself",
  "'unsafe-eval'": "text that a script turns into code (eval)",
  "'wasm-unsafe-eval'": "WebAssembly that a script compiles",
  "'strict-dynamic'": "what an allowed script loads",
  "'report-sample'": "with the beginning of it in reports",
  "'block'": "none",
};

const SCHEMES: Record<string, string> = {
  "data:": "data in the address itself (data:)",
  "blob:": "what the view made itself (blob:)",
  "https:": "any address with https",
  "http:": "any address with http",
};
