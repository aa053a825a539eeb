import { MCPServer } from "mcp-use";
import { z } from "zod";

const server = new MCPServer({ name: "matrix", title: "Matrix", version: "1.0.0" });

server.tool(
  {
    name: "count",
    description: "Counts from a number",
    inputSchema: z.object({ from: z.number() }),
    outputSchema: z.object({ counted: z.string() }),
    view: { name: "counter" },
    annotations: { readOnlyHint: true },
  },
  async ({ from }) => {
    const counted = `counted from ${from}`;
    return { content: [{ type: "text", text: counted }], structuredContent: { counted } };
  },
);

server.tool(
  {
    name: "add",
    description: "Adds two numbers",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    annotations: { destructiveHint: false },
  },
  async ({ a, b }) => ({ content: [{ type: "text", text: `that is ${a + b}` }] }),
);

export default server;
