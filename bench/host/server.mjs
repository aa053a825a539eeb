// The MCP server of the benchmark: one view, an echo, and a tool by which the view says what it measured. Over HTTP, with
// JSON answers, and with everything that a page of another origin needs to use it.
import { EventEmitter, once } from "node:events";
import http from "node:http";

const MIME = "text/html;profile=mcp-app";
const number = { type: "number" };
const hints = { readOnlyHint: true };

/** Starts it with the view's HTML. `far` is how long a call of that tool, and reading its view, take on the way. */
export async function startServer(html, far) {
  const reports = new EventEmitter();
  const pause = (name) =>
    name.includes("far")
      ? new Promise((done) => setTimeout(done, far))
      : undefined;
  const tools = {
    echo: ({ data }) => ({ content: [{ type: "text", text: data }] }),
    report: (measured) => {
      reports.emit(String(measured.run), measured);
      return { content: [] };
    },
  };
  const answers = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion:
        protocolVersion > "2025-11-25" ? "2025-11-25" : protocolVersion,
      serverInfo: { name: "bench", version: "1" },
      capabilities: { tools: {}, resources: {} },
    }),
    "tools/list": () => ({
      tools: [view("near"), view("far"), tool("echo"), tool("report")],
    }),
    "tools/call": async ({ name, arguments: given }) => {
      await pause(name);
      return (
        tools[name]?.(given) ?? { content: [{ type: "text", text: "opened" }] }
      );
    },
    "resources/list": () => ({ resources: [] }),
    "resources/read": async ({ uri }) => {
      await pause(uri);
      return { contents: [{ uri, mimeType: MIME, text: html }] };
    },
  };
  const server = http.createServer((request, response) =>
    serve(answers, request, response),
  );
  server.on("connection", (socket) => socket.setNoDelay(true));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    /** What the view of a run measured. */
    report: async (run) =>
      (
        await once(reports, String(run), {
          signal: AbortSignal.timeout(60_000),
        })
      )[0],
    close: () => (server.closeAllConnections(), server.close()),
  };
}

/** Answers one POST, and what a browser asks before it. */
async function serve(answers, request, response) {
  const reply = (status, value) => {
    const text = value === undefined ? "" : JSON.stringify(value);
    response.writeHead(status, {
      ...CORS,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    response.end(text);
  };
  if (request.method === "OPTIONS") return reply(204);
  if (request.method !== "POST") return reply(405);
  const {
    id,
    method,
    params = {},
  } = JSON.parse(Buffer.concat(await request.toArray()));
  if (id === undefined) return reply(202);
  const result = await answers[method]?.(params);
  if (result) reply(200, { jsonrpc: "2.0", id, result });
  else
    reply(400, {
      jsonrpc: "2.0",
      id,
      error: { code: -32601, message: "no such method" },
    });
}

const view = (name) => ({
  name,
  inputSchema: {
    type: "object",
    properties: { run: number, size: number, count: number },
  },
  annotations: hints,
  _meta: { ui: { resourceUri: `ui://bench/${name}.html` } },
});
const tool = (name) => ({
  name,
  inputSchema: { type: "object" },
  annotations: hints,
  _meta: { ui: { visibility: ["app"] } },
});

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers":
    "*, authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
  "access-control-allow-methods": "GET, POST, DELETE",
  // Asked once and remembered, so that the reference does not pay for it at every call.
  "access-control-max-age": "7200",
};
