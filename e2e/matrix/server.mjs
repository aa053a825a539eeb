// A small server on the official library, with one document, over stdio: node server.mjs KIND FILE
// With PORT it is over HTTP, and one process is several servers, each under a path of its own: node server.mjs KIND FILE KIND FILE …
//   app       a tool with a view, as MCP Apps has it
//   adapter   the same, its document made by mcp-ui's adapter
//   plain     no view on the tool: the document is in its result, as mcp-ui had it before MCP Apps
//   link      an address in the result, which mcp-ui's hosts showed in a frame
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

// What it uses is installed beside the views.
const home = createRequire(path.resolve(import.meta.dirname, "../views/package.json"));
const load = (name) => import(pathToFileURL(home.resolve(name)).href);
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { z } = await load("zod");

const URI = "ui://matrix/view";
const given = process.argv.slice(2);
const all = [];
while (given.length > 0) all.push(await resource(...given.splice(0, 2)));

async function resource(kind, file) {
  const made = await make(kind, readFileSync(file, "utf8"));
  return { kind, made };
}

async function make(kind, html) {
  if (kind === "app") return { uri: URI, mimeType: "text/html;profile=mcp-app", text: html };
  // The last line of mcp-ui that writes text/html and text/uri-list, and the newest one.
  const { createUIResource } = await load(kind === "adapter" ? "@mcp-ui/server" : "mcp-ui-5");
  const content = kind === "link" ? { type: "externalUrl", iframeUrl: "https://example.com/matrix" } : { type: "rawHtml", htmlString: html };
  const adapters = kind === "adapter" ? { mcpApps: { enabled: true } } : undefined;
  return createUIResource({ uri: URI, content, encoding: "text", adapters }).resource;
}

function server({ kind, made }) {
  const server = new McpServer({ name: "matrix", version: "1.0.0" });
  const linked = kind === "app" || kind === "adapter";
  const _meta = linked ? { ui: { resourceUri: URI }, "ui/resourceUri": URI } : undefined;
  const annotations = { readOnlyHint: true };
  server.registerTool("count", { inputSchema: { from: z.number() }, annotations, _meta }, ({ from }) => ({
    content: [{ type: "text", text: `counted from ${from}` }, ...(linked ? [] : [{ type: "resource", resource: made }])],
  }));
  server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() }, annotations: { destructiveHint: false } }, ({ a, b }) => ({
    content: [{ type: "text", text: `that is ${a + b}` }],
  }));
  if (linked) server.registerResource("view", URI, { mimeType: made.mimeType }, () => ({ contents: [made] }));
  return server;
}

if (process.env.PORT) {
  const { StreamableHTTPServerTransport } = await load("@modelcontextprotocol/sdk/server/streamableHttp.js");
  createServer(async (request, response) => {
    // /mcp/3 is the fourth of them.
    const one = all[Number(request.url.split("/")[2])];
    if (!one) return void response.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await server(one).connect(transport);
    await transport.handleRequest(request, response);
  }).listen(Number(process.env.PORT), "127.0.0.1");
} else {
  const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
  await server(all[0]).connect(new StdioServerTransport());
}
