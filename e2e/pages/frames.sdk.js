// The official SDKs over the transport: `endpoint` makes a client or a server, 1.x or 2.x, in either kind of page.
import { Client as Client2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { McpServer as Server1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpServer as Server2 } from "@modelcontextprotocol/server";
import { z } from "zod";
import {
  IframeControl,
  InnerFrameTransport,
  OuterFrameTransport,
} from "../../web/src/frames/index.ts";

const info = { name: "frames", version: "1" };
const shape = { a: z.number(), b: z.number() };
const add = ({ a, b }) => ({ content: [{ type: "text", text: `${a + b}` }] });

globalThis.endpoint = (role, sdk) => {
  if (role === "client") return sdk === "1" ? new Client1(info) : new Client2(info);
  const server = sdk === "1" ? new Server1(info) : new Server2(info);
  server.registerTool("add", { inputSchema: sdk === "1" ? shape : z.object(shape) }, add);
  return server;
};

/** Lists and calls what the other page offers. */
globalThis.use = async (client) => {
  const { tools } = await client.listTools();
  const { content } = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
  return { tools: tools.map(({ name }) => name), text: content[0].text };
};

/** The outer page's part: connects, and uses the other page where it is the client. */
globalThis.openSdk = async (url, role, sdk) => {
  globalThis.mine = endpoint(role, sdk);
  const control = new IframeControl();
  await mine.connect(new OuterFrameTransport({ url, control }));
  return role === "client" ? use(mine) : undefined;
};

// The inner page's part, when its address says so.
const query = new URLSearchParams(location.search);
const role = query.get("role");
if (role) {
  globalThis.mine = endpoint(role, query.get("sdk"));
  const transport = new InnerFrameTransport({ allowedOrigins: query.getAll("allow") });
  mine.connect(transport).then(
    async () => ear.hear("used", role === "client" ? await use(mine) : undefined),
    (error) => ear.hear("used", String(error)),
  );
}
