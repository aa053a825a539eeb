// Tools whose arguments are hard to draw, and whose answers are hard to show, over stdio and without any library: node forms.mjs
// `echo_…` tools answer with the arguments as they came; `show_…` tools with one kind of content each.
import { createInterface } from "node:readline";

const optional = (schema, more = {}) => ({ anyOf: [schema, { type: "null" }], default: null, ...more });
const wide = { type: "object", properties: { deep: { $ref: "#/$defs/d0" } }, $defs: { d30: {} } };
for (let n = 0; n < 30; n++) wide.$defs[`d${n}`] = { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] };

const SCHEMAS = {
  // As FastMCP and the Python SDK write every optional argument.
  echo_python: {
    type: "object",
    properties: {
      name: optional({ type: "string" }, { title: "Name" }),
      count: optional({ type: "integer" }, { title: "Count" }),
      tags: optional({ type: "array", items: { type: "string" } }, { title: "Tags" }),
    },
  },
  echo_nested: {
    type: "object",
    $defs: { Point: { type: "object", properties: { x: { type: "number" }, y: { type: "number", default: 2 } }, required: ["x"] } },
    properties: {
      title: { type: "string", minLength: 2, description: "What it is called." },
      place: { $ref: "#/$defs/Point" },
      path: { type: "array", items: { $ref: "#/$defs/Point" }, maxItems: 3 },
      colour: { allOf: [{ enum: ["red", "green", "blue"] }] },
      note: { type: "string", default: "one\ntwo" },
      either: { oneOf: [{ type: "string", title: "a name" }, { type: "integer", title: "a number" }] },
      agree: { type: "boolean" },
      labels: { type: "object", additionalProperties: { type: "string" } },
      file: { type: "string", contentEncoding: "base64" },
      day: { type: "string", format: "date" },
    },
    required: ["title", "place"],
  },
  echo_circle: { type: "object", properties: { in: { $ref: "#/properties/in" } } },
  echo_wide: wide,
  echo_nonsense: { type: ["object", 7], properties: { "<img src=x onerror=alert(1)>": { enum: "no list" }, __proto__x: null, b: { type: "🦆" } } },
};

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SHOWN = {
  show_text: { content: [{ type: "text", text: "# A title\n\n- one\n- **two**\n\n<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>[x](javascript:alert(1))" }] },
  show_media: {
    content: [
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "audio", data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=", mimeType: "audio/wav" },
      { type: "image", data: "not base64 <b>", mimeType: "text/html" },
    ],
  },
  show_resources: {
    content: [
      { type: "resource", resource: { uri: "file:///notes.md", mimeType: "text/markdown", text: "## Notes" } },
      { type: "resource", resource: { uri: "file:///a.bin", mimeType: "application/octet-stream", blob: "AAECAw==" } },
      { type: "resource_link", uri: "https://example.com/report", name: "report", title: "The report", description: "In full." },
      { type: "resource_link", uri: "javascript:alert(1)", name: "bad" },
    ],
  },
  show_data: { content: [{ type: "text", text: "{\"n\":1}" }], structuredContent: { city: "Lisbon", days: [{ high: 21 }, { high: 22 }] }, _meta: { "a.test/cost": 7 } },
  show_error: { isError: true, content: [{ type: "text", text: "the disk is full" }] },
  show_long: { content: [{ type: "text", text: Array.from({ length: 30_000 }, (_, n) => `line ${n}`).join("\n") }] },
  show_odd: { content: "no list", structuredContent: 7 },
};

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    serverInfo: { name: "forms", version: "1.0.0", title: "Forms and answers" },
    instructions: "Try what is **hard**.",
    capabilities: { tools: {}, resources: {}, prompts: {}, logging: {}, extensions: { "io.modelcontextprotocol/ui": {} } },
  }),
  "tools/list": () => ({
    tools: [
      ...Object.entries(SCHEMAS).map(([name, inputSchema]) => ({ name, inputSchema, annotations: { readOnlyHint: true } })),
      ...Object.keys(SHOWN).map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } })),
      { name: "for_views_alone", inputSchema: { type: "object" }, _meta: { ui: { visibility: ["app"] } } },
    ],
  }),
  "resources/list": () => ({
    resources: [
      { uri: "file:///notes.md", name: "notes", title: "The notes", mimeType: "text/markdown", description: "What was written down." },
      { uri: "file:///gone.txt", name: "gone" },
    ],
  }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "file:///logs/{day}.txt", name: "log", title: "A day's log" }] }),
  "resources/read": ({ uri }) => {
    if (uri === "file:///gone.txt") throw new Error("it is gone");
    return { contents: [{ uri, mimeType: uri.endsWith(".md") ? "text/markdown" : "text/plain", text: `# What is in ${uri}` }] };
  },
  "prompts/list": () => ({
    prompts: [
      { name: "greet", title: "Greet somebody", description: "A greeting.", arguments: [{ name: "who", description: "Whom.", required: true }, { name: "tone" }] },
      { name: "plain" },
    ],
  }),
  "prompts/get": ({ name, arguments: given = {} }) => ({
    description: `The prompt ${name}`,
    messages: [
      { role: "user", content: { type: "text", text: `Greet ${given.who} ${JSON.stringify(given)}` } },
      { role: "assistant", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
    ],
  }),
  "tools/call": ({ name, arguments: given }) =>
    SHOWN[name] ?? { content: [{ type: "text", text: `got ${JSON.stringify(given)}` }] },
  "logging/setLevel": () => ({}),
  ping: () => ({}),
};

process.stderr.write("forms: a line on standard error\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  let reply;
  try {
    reply = Object.hasOwn(answers, method) ? { result: answers[method](params) } : { error: { code: -32601, message: `no method ${method}` } };
  } catch (error) {
    reply = { error: { code: -32002, message: error.message } };
  }
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
});
