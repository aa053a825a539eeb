/** ARC-1 ARC-2: the official SDKs, 1.x and 2.x, on either side and in either role; and what they say of our types. */
import {
  Client as Client2,
  type Transport as Transport2,
} from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { McpServer as Server1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Transport as Transport1 } from "@modelcontextprotocol/sdk/shared/transport.js";
import { McpServer as Server2 } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { InnerFrameTransport, OuterFrameTransport } from "transom/frames";
import { z } from "zod";
import {
  HELLO,
  openWorld,
  OUTER,
  SESSION,
  URL_OF_INNER,
} from "./frames-world.js";
import { settle } from "./stage.js";

let world: ReturnType<typeof openWorld>;
const open: { close(): Promise<void> }[] = [];
beforeEach(() => {
  world = openWorld();
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const info = { name: "test", version: "1" };
const outerSide = () =>
  new OuterFrameTransport({
    url: URL_OF_INNER,
    control: world.control,
    sessionId: SESSION,
  });
const innerSide = () => new InnerFrameTransport({ allowedOrigins: [OUTER] });

const clients = {
  "1.x": () => new Client1(info),
  "2.x": () => new Client2(info),
};
const servers = {
  "1.x": () => {
    const server = new Server1(info);
    server.registerTool(
      "add",
      { inputSchema: { a: z.number(), b: z.number() } },
      ({ a, b }) => ({
        content: [{ type: "text", text: `${a + b}` }],
      }),
    );
    return server;
  },
  "2.x": () => {
    const server = new Server2(info);
    server.registerTool(
      "add",
      { inputSchema: z.object({ a: z.number(), b: z.number() }) },
      ({ a, b }) => ({
        content: [{ type: "text", text: `${a + b}` }],
      }),
    );
    return server;
  },
};
type Any = {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  onclose?: () => void;
};
type AnyClient = Any & {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: object): Promise<{ content: unknown }>;
};

for (const layout of ["standard", "inverted"] as const)
  for (const [c, makeClient] of Object.entries(clients))
    for (const [s, makeServer] of Object.entries(servers))
      test(`${layout}: a client ${c} lists and calls the tool of a server ${s}`, async () => {
        const client = makeClient() as unknown as AnyClient;
        const server = makeServer() as unknown as Any;
        open.push(client, server);
        const [outer, inner] =
          layout === "standard" ? [client, server] : [server, client];
        // Both wait for each other: the server is connected once the handshake is over (INV-5).
        await Promise.all([
          outer.connect(outerSide()),
          inner.connect(innerSide()),
        ]);
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual(["add"]);
        const { content } = await client.callTool({
          name: "add",
          arguments: { a: 2, b: 3 },
        });
        expect(content).toMatchObject([{ type: "text", text: "5" }]);
      });

describe.each(Object.entries(clients))("a client %s", (_, makeClient) => {
  test("LIF-3 what it asked is rejected when the page reloads, and it connects again", async () => {
    const client = makeClient() as unknown as AnyClient;
    const first = outerSide();
    let again: Promise<void> | undefined;
    const next = makeClient() as unknown as AnyClient;
    open.push(client, next);
    first.onreload = (transport) => {
      again = next.connect(transport);
    };
    const page = innerSide();
    const server = servers["1.x"]();
    await Promise.all([client.connect(first), server.connect(page)]);
    // The page unloads in the middle of a question: nobody says goodbye, and another document announces itself.
    const question = client.callTool({
      name: "add",
      arguments: { a: 1, b: 1 },
    });
    const ended = question.then(
      () => "answered",
      () => "rejected",
    );
    const { from } = world.outer;
    world.outer.from = undefined;
    await page.close();
    world.outer.from = from;
    world.fromInner(HELLO);
    expect(await ended).toBe("rejected");
    const fresh = servers["2.x"]();
    open.push(fresh);
    await Promise.all([again, fresh.connect(innerSide())]);
    const { content } = await next.callTool({
      name: "add",
      arguments: { a: 4, b: 4 },
    });
    expect(content).toMatchObject([{ text: "8" }]);
  });

  test("STM-5 its connection attempt is rejected when the page never comes", async () => {
    const client = makeClient() as unknown as Any;
    const outer = outerSide();
    const attempt = client.connect(outer).then(
      () => "connected",
      (error: { code: string }) => error.code,
    );
    await settle();
    await outer.close();
    expect(await attempt).toBe("CLOSED");
  });
});

test("the types are those of the SDKs", () => {
  // Checked by the compiler; ARC-5: no stream of its own for each request.
  const one: Transport1[] = [outerSide(), innerSide()];
  const two: Transport2[] = [outerSide(), innerSide()];
  expect(
    two.every(({ hasPerRequestStream }) => hasPerRequestStream === undefined),
  ).toBe(true);
  expect(one.every(({ sessionId }) => sessionId === undefined)).toBe(true);
});
