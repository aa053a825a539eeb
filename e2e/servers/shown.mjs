// A server with one document, over stdio and without any library: node shown.mjs FILE
// Its tool `get_forecast` answers as the example `weather` does, one degree warmer each time.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const URI = "ui://shown/page";
const MIME = "text/html;profile=mcp-app";
let high = 20;

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    serverInfo: { name: "shown", version: "1.0.0" },
    capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/ui": {} } },
  }),
  "tools/list": () => ({
    tools: [
      {
        name: "get_forecast",
        inputSchema: { type: "object", properties: { place: { type: "string" } } },
        annotations: { readOnlyHint: true },
        _meta: { ui: { resourceUri: URI } },
      },
    ],
  }),
  "resources/list": () => ({ resources: [{ uri: URI, name: "page", mimeType: MIME }] }),
  "resources/read": () => ({ contents: [{ uri: URI, mimeType: MIME, text: readFileSync(process.argv[2], "utf8") }] }),
  "tools/call": ({ arguments: { place } }) => ({
    content: [{ type: "text", text: `${place}: ${++high} °C` }],
    structuredContent: { place, days: [{ high }] },
  }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const reply = Object.hasOwn(answers, method)
    ? { result: answers[method](params) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
});
