/** Both sides of the transport against each other and against strangers; every message is delivered by the test's hand. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  FrameError,
  InnerFrameTransport,
  OuterFrameTransport,
  readServerUrl,
  type InnerOptions,
  type OuterOptions,
  type Payload,
  type SetupRequired,
} from "transom/frames";
import {
  ACCEPTED,
  COMPLETE,
  EIGHT,
  fate,
  HELLO,
  INNER,
  LinkedWindow,
  openWorld,
  OUTER,
  pass,
  PING,
  REPLY,
  SESSION,
  SETUP_HELLO,
  SETUP_REPLY,
  SETUP_REQUIRED,
  unwatched,
  URL_OF_INNER,
} from "./frames-world.js";
import { arrive, FakePort, settle } from "./stage.js";

let world: ReturnType<typeof openWorld>;
const made: { close(): Promise<void> }[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  world = openWorld();
});
afterEach(async () => {
  for (const each of made.splice(0)) await each.close();
  // TMO-7: whoever is closed leaves no timer behind.
  expect(vi.getTimerCount()).toBe(0);
});

function outerWith(more: Partial<OuterOptions> = {}) {
  const outer = new OuterFrameTransport({
    url: URL_OF_INNER,
    control: world.control,
    sessionId: SESSION,
    ...more,
  });
  made.push(outer);
  return unwatched(outer);
}
function innerWith(more: Partial<InnerOptions> = {}) {
  const inner = new InnerFrameTransport({ allowedOrigins: [OUTER], ...more });
  made.push(inner);
  return unwatched(inner);
}
/** Both sides connected; what each endpoint heard. */
async function connected(
  outerMore: Partial<OuterOptions> = {},
  innerMore: Partial<InnerOptions> = {},
) {
  const outer = outerWith(outerMore);
  const inner = innerWith(innerMore);
  const heard = { outer: listen(outer), inner: listen(inner) };
  const starts = [outer.start(), inner.start()];
  await settle();
  expect(await Promise.all(starts.map(fate))).toEqual(["resolved", "resolved"]);
  return { outer, inner, heard };
}
/** An outer side whose inner page is a script of the test. */
async function outerOpen(more: Partial<OuterOptions> = {}) {
  const outer = outerWith(more);
  const heard = listen(outer);
  const start = outer.start();
  world.fromInner(HELLO);
  world.fromInner(ACCEPTED);
  expect(await fate(start)).toBe("resolved");
  return { outer, heard };
}
/** What an endpoint hears, by name. */
function listen(transport: OuterFrameTransport | InnerFrameTransport) {
  const heard = { messages: [] as Payload[], errors: [] as Error[], closes: 0 };
  transport.onmessage = (message) => heard.messages.push(message);
  transport.onerror = (error) => heard.errors.push(error);
  transport.onclose = () => heard.closes++;
  return heard;
}
const codes = (errors: Error[]) =>
  errors.map((error) => (error as FrameError).code);
const ping = (id: number | string = 1): Payload => ({
  jsonrpc: "2.0",
  id,
  method: "ping",
});

describe("a whole session", () => {
  test("setup and connection, and to whom each message went (SEC-7, SEC-8)", async () => {
    location.hash = "#setup";
    const outer = outerWith();
    const page = innerWith();
    expect(page.phase).toBe("setup");
    const setup = outer.setup();
    const session = await page.setup();
    expect(session).toMatchObject({ sessionId: SESSION, origin: OUTER });
    await page.complete({
      status: "success",
      title: "Pi",
      visibility: { requirement: "optional", description: "dots" },
      ephemeralMessage: "ready",
    });
    expect(await setup).toEqual({
      title: "Pi",
      visibility: { requirement: "optional", description: "dots" },
      ephemeralMessage: "ready",
      origin: INNER,
      permissions: [],
    });
    await page.close();
    location.hash = "";
    const inner = innerWith();
    expect(inner.phase).toBe("transport");
    await Promise.all([outer.start(), inner.start()]);
    await outer.send(ping());
    await inner.send({ jsonrpc: "2.0", id: 1, result: {} });
    await settle();
    // PHS-1, PHS-5, MSG-3g: another address and another window for each phase, the first gone before the second.
    // ARC-3: whatever is done to a window is done by the control.
    expect(world.control.urls).toEqual([`${URL_OF_INNER}#setup`, URL_OF_INNER]);
    expect(world.control.calls).toEqual([
      "destroy",
      "open",
      "hide",
      "navigate",
      "destroy",
      "destroy",
      "open",
      "hide",
      "navigate",
    ]);
    expect(
      world.inner.posted.map(({ data, target }) => [data.type, target]),
    ).toEqual([
      ["MCP_SETUP_HANDSHAKE_REPLY", INNER],
      ["MCP_TRANSPORT_HANDSHAKE_REPLY", INNER],
      ["MCP_MESSAGE", INNER],
    ]);
    expect(
      world.outer.posted.map(({ data, target }) => [data.type, target]),
    ).toEqual([
      ["MCP_SETUP_HANDSHAKE", "*"],
      ["MCP_SETUP_COMPLETE", OUTER],
      ["MCP_TRANSPORT_HANDSHAKE", "*"],
      ["MCP_TRANSPORT_ACCEPTED", OUTER],
      ["MCP_MESSAGE", OUTER],
    ]);
  });

  test("ARC-6 ten thousand numbered notifications arrive in order, both ways", async () => {
    const { outer, inner, heard } = await connected();
    for (let n = 0; n < 10_000; n++) {
      void outer.send({ jsonrpc: "2.0", method: "n", params: { n } });
      void inner.send({ jsonrpc: "2.0", method: "n", params: { n } });
    }
    await settle();
    const order = (messages: Payload[]) =>
      messages.every(({ params }, at) => (params as { n: number }).n === at);
    expect([heard.inner.messages.length, order(heard.inner.messages)]).toEqual([
      10_000,
      true,
    ]);
    expect([heard.outer.messages.length, order(heard.outer.messages)]).toEqual([
      10_000,
      true,
    ]);
  });

  test("there is no sessionId for the SDK to take for a resumed session (SES-4)", async () => {
    const { outer, inner } = await connected();
    expect("sessionId" in outer || "sessionId" in inner).toBe(false);
  });

  test("MSG-6b a request in the very task of ACCEPTED is heard", async () => {
    const inner = innerWith();
    const heard = listen(inner);
    void inner.start();
    world.fromOuter(REPLY);
    world.fromOuter(PING);
    expect(heard.messages).toEqual([PING.payload]);
  });

  test("MSG-6b a reply before the endpoint is attached is not accepted before it is", async () => {
    const inner = innerWith();
    inner.announce();
    world.fromOuter(REPLY);
    await settle();
    expect(world.outer.types()).toEqual(["MCP_TRANSPORT_HANDSHAKE"]);
    await inner.start();
    expect(world.outer.types()).toEqual([
      "MCP_TRANSPORT_HANDSHAKE",
      "MCP_TRANSPORT_ACCEPTED",
    ]);
  });

  test("VIS-3 a page that must be seen is shown before it is connected", async () => {
    await connected({ visible: true });
    expect(world.control.calls).toEqual([
      "destroy",
      "open",
      "show",
      "navigate",
    ]);
  });
});

describe("STM-4 calls at the wrong time", () => {
  test("start twice, and after close", async () => {
    const { outer, inner } = await connected();
    expect(await fate(outer.start())).toBe("ALREADY_STARTED");
    expect(await fate(outer.setup())).toBe("ALREADY_STARTED");
    expect(await fate(inner.start())).toBe("ALREADY_STARTED");
    await outer.close();
    await inner.close();
    expect(await fate(outer.start())).toBe("CLOSED");
    expect(await fate(outer.setup())).toBe("CLOSED");
    expect(await fate(inner.start())).toBe("CLOSED");
  });

  test("send before the connection is open, and after it", async () => {
    const outer = outerWith();
    const inner = innerWith();
    void outer.start();
    expect(await fate(outer.send(ping()))).toBe("NOT_OPEN");
    expect(await fate(inner.send(ping()))).toBe("NOT_OPEN");
    void inner.start();
    await settle();
    await outer.close();
    await inner.close();
    expect(await fate(outer.send(ping()))).toBe("CLOSED");
    expect(await fate(inner.send(ping()))).toBe("CLOSED");
  });

  test("close twice tells once", async () => {
    const { outer, inner, heard } = await connected();
    await Promise.all([
      outer.close(),
      outer.close(),
      inner.close(),
      inner.close(),
    ]);
    await settle();
    expect([heard.outer.closes, heard.inner.closes]).toEqual([1, 1]);
    expect(codes(heard.outer.errors)).toEqual([]);
  });

  test("the two phases of a page are not mixed up", async () => {
    expect(await fate(innerWith().setup())).toBe("WRONG_PHASE");
    location.hash = "#setup";
    const page = innerWith();
    expect(await fate(page.start())).toBe("WRONG_PHASE");
    expect(
      await fate(
        page.complete({ status: "error", code: "TIMEOUT", message: "" }),
      ),
    ).toBe("NOT_OPEN");
    expect(
      await fate(page.requireSetup(SETUP_REQUIRED as unknown as SetupRequired)),
    ).toBe("NOT_OPEN");
  });

  test("STM-5 every promise settles on close", async () => {
    const [one, two] = [outerWith(), outerWith()];
    const inner = innerWith();
    const waiting = [one.setup(), two.start(), inner.start()];
    for (const each of [one, two, inner]) void each.close();
    expect(await Promise.all(waiting.map(fate))).toEqual([
      "CLOSED",
      "CLOSED",
      "CLOSED",
    ]);
  });

  test("LIF-8 mounted, unmounted and mounted again: one connection", async () => {
    const first = outerWith();
    const gave = first.start();
    await first.close();
    expect(await fate(gave)).toBe("CLOSED");
    const { heard } = await connected();
    world.fromInner(PING);
    expect(heard.outer.messages).toHaveLength(1);
  });
});

describe("PHS-2 the phase", () => {
  test.each(["#setup2", "#/setup", "#setup&x", "#SETUP", ""])(
    "%s is not the setup",
    (hash) => {
      location.hash = hash;
      expect(innerWith().phase).toBe("transport");
    },
  );
});

describe("origins", () => {
  test.each([
    "https://client.test.evil.test",
    "https://client.test:444",
    "http://client.test",
    "https://client.test.",
    "https://evil-client.test",
    "https://client.tes",
    "https://clientxtest",
    "null",
    "",
  ])(
    "SEC-3 SEC-4 ATK-6 ATK-7 an inner page does not answer %j",
    async (origin) => {
      const inner = innerWith();
      const start = inner.start();
      world.fromOuter(REPLY, origin);
      expect(await fate(start)).toBe("pending");
      expect(world.outer.types()).toEqual(["MCP_TRANSPORT_HANDSHAKE"]);
      expect(inner.session).toBeUndefined();
    },
  );

  test("SEC-3 ATK-7 entries are read as addresses are: case, path and port", async () => {
    const inner = innerWith({
      allowedOrigins: ["HTTPS://CLIENT.test:443/path?x#y"],
    });
    const start = inner.start();
    world.fromOuter(REPLY);
    expect(await fate(start)).toBe("resolved");
  });

  test("SEC-6 the list is copied", async () => {
    const allowedOrigins = ["https://other.test"];
    const inner = innerWith({ allowedOrigins });
    const start = inner.start();
    allowedOrigins.push(OUTER);
    world.fromOuter(REPLY);
    expect(await fate(start)).toBe("pending");
  });

  test.each([
    [[]],
    [["*"]],
    [["null"]],
    [[""]],
    [["client.test"]],
    [["data:text/html,x"]],
  ])("SEC-5 defect 17: %j is no list of origins", (allowedOrigins) => {
    expect(() => innerWith({ allowedOrigins })).toThrow(
      expect.objectContaining({ code: "BAD_ORIGIN" }),
    );
  });

  test("SEC-5 anybody only under a name that says it, with a warning, and still no opaque page", async () => {
    const log = vi.fn();
    const inner = innerWith({
      allowedOrigins: ["*"],
      dangerouslyAllowAnyOrigin: true,
      log,
    });
    const start = inner.start();
    expect(log).toHaveBeenCalledWith(expect.stringContaining("every website"));
    world.fromOuter(REPLY, "null");
    expect(await fate(start)).toBe("pending");
    world.fromOuter(REPLY, "https://anybody.test");
    expect(await fate(start)).toBe("resolved");
    expect(world.outer.posted.at(-1)!.target).toBe("https://anybody.test");
  });

  test("after the pin only the pinned origin is heard, allowed or not", async () => {
    const { heard } = await connected(
      {},
      { allowedOrigins: [OUTER, "https://other.test"] },
    );
    world.fromOuter(PING, "https://other.test");
    expect(heard.inner.messages).toEqual([]);
  });

  test.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "blob:https://server.test/x",
    "file:///etc/passwd",
    "http://server.test/",
    "https://user:word@server.test/",
    "/relative",
    "server.test",
    "",
  ])("SEC-12 %j is no address of a server", (url) => {
    expect(() => outerWith({ url })).toThrow(
      expect.objectContaining({ code: "BAD_URL" }),
    );
  });

  test("PHS-3 the fragment is taken off, with a notice", () => {
    expect(readServerUrl("http://localhost:8080/a?b#/route")).toEqual({
      url: "http://localhost:8080/a?b",
      origin: "http://localhost:8080",
      fragment: "#/route",
    });
    const log = vi.fn();
    expect(outerWith({ url: `${URL_OF_INNER}#x`, log }).url).toBe(URL_OF_INNER);
    expect(log).toHaveBeenCalledOnce();
  });

  test("WIN-6 ATK-5 a page of another origin announces itself: both are named, and it is told nothing", async () => {
    const outer = outerWith();
    const start = outer.start();
    world.fromInner(HELLO, "https://elsewhere.test");
    const error = await start.catch((error: FrameError) => error);
    expect(error).toMatchObject({
      code: "ORIGIN_MISMATCH",
      data: { expected: INNER, got: "https://elsewhere.test" },
    });
    expect(world.inner.posted).toEqual([]);
    expect(world.control.calls.at(-1)).toBe("destroy");
  });

  test("LIF-5 ATK-3 a window that went elsewhere is cut off at its first word", async () => {
    const { outer, heard } = await outerOpen();
    world.fromInner(ACCEPTED, "https://evil.test");
    expect(outer.reason).toMatchObject({
      code: "NAVIGATED_AWAY",
      data: { expected: INNER, got: "https://evil.test" },
    });
    expect(heard.closes).toBe(1);
  });
});

describe("SEC-1 SEC-2 who speaks", () => {
  const strangers: [string, Parameters<typeof arrive>[1]][] = [
    [
      "ATK-1 SEC-23 another window of the right origin",
      { source: new LinkedWindow(INNER), origin: INNER },
    ],
    ["ATK-14 no window", { source: null, origin: INNER }],
  ];
  test.each(strangers)("%s is not heard by the outer page", async (_, who) => {
    const outer = outerWith();
    const start = outer.start();
    for (const each of EIGHT) arrive(each, who);
    expect(await fate(start)).toBe("pending");
    expect(world.inner.posted).toEqual([]);
  });
  test.each(strangers)("%s is not heard by the inner page", async (_, who) => {
    const start = innerWith().start();
    for (const each of EIGHT) arrive(each, { ...who, origin: OUTER });
    expect(await fate(start)).toBe("pending");
  });
  test("SEC-10 ATK-10 an event that a script made is not heard", async () => {
    const start = innerWith().start();
    arrive(REPLY, { source: world.outer, origin: OUTER, isTrusted: false });
    expect(await fate(start)).toBe("pending");
  });
  test("WIN-1 in a popup the opener is the peer", async () => {
    vi.stubGlobal("parent", self);
    vi.stubGlobal("opener", world.outer);
    const start = innerWith().start();
    world.fromOuter(REPLY);
    expect(await fate(start)).toBe("resolved");
  });
  test("MSG-4b a page that nobody opened says so", async () => {
    vi.stubGlobal("parent", self);
    vi.stubGlobal("opener", null);
    expect(await fate(innerWith().start())).toBe("NO_PEER");
  });
  test("SEC-11 ATK-29 ports that nobody asked for are closed", async () => {
    const { inner } = await connected();
    const ports = Array.from({ length: 100 }, () => new FakePort());
    arrive(PING, { source: world.outer, origin: OUTER, ports });
    arrive(
      { type: "MCPX_PORT" },
      { source: world.outer, origin: OUTER, ports: [new FakePort()] },
    );
    expect(ports.every(({ closed }) => closed)).toBe(true);
    expect(inner.reason).toBeUndefined();
  });
});

describe("the handshake", () => {
  test("MSG-1b the announcement is repeated with pauses that grow, always the same", async () => {
    const inner = innerWith();
    void inner.start().catch(() => {});
    expect(world.outer.posted).toHaveLength(1);
    await pass(10_000);
    const count = world.outer.posted.length;
    expect(count).toBeGreaterThan(3);
    expect(count).toBeLessThan(10);
    for (const { data, target } of world.outer.posted)
      expect([data, target]).toEqual([HELLO, "*"]);
  });

  test("a repeated announcement crosses with the reply: one connection", async () => {
    const outer = outerWith();
    const start = outer.start();
    world.fromInner(HELLO);
    world.fromInner(HELLO);
    expect(world.inner.types()).toEqual([
      "MCP_TRANSPORT_HANDSHAKE_REPLY",
      "MCP_TRANSPORT_HANDSHAKE_REPLY",
    ]);
    world.fromInner(ACCEPTED);
    expect(await fate(start)).toBe("resolved");
    expect(outer.generation).toBe(1);
  });

  test.each(["wrong", "constructor", "__proto__"])(
    "ATK-16 ACCEPTED for %s ends it",
    async (sessionId) => {
      const start = outerWith().start();
      world.fromInner(HELLO);
      world.fromInner({ ...ACCEPTED, sessionId });
      expect(await fate(start)).toBe("SESSION_MISMATCH");
    },
  );

  test("ATK-15 a second reply is no second session", async () => {
    const log = vi.fn();
    location.hash = "#setup";
    const page = innerWith({ log });
    const setup = page.setup();
    world.fromOuter(SETUP_REPLY, "https://evil.test");
    world.fromOuter(SETUP_REPLY);
    world.fromOuter({ ...SETUP_REPLY, sessionId: "attacker" });
    expect((await setup).sessionId).toBe(SESSION);
    expect(page.session?.sessionId).toBe(SESSION);
    expect(log).toHaveBeenCalledWith(
      expect.stringContaining("another session"),
    );
  });

  test("ATK-17 a recorded transcript opens nothing", async () => {
    const { outer } = await connected();
    const record = world.inner.posted.map(({ data }) => data);
    await outer.close();
    const again = outerWith({ sessionId: "fresh" });
    const start = again.start();
    for (const each of [...record, PING, ACCEPTED]) world.fromInner(each);
    expect(await fate(start)).toBe("pending");
  });

  test("ATK-18 MSG-6c MCP messages before, between and after are dropped", async () => {
    const outer = outerWith();
    const heard = listen(outer);
    void outer.start();
    world.fromInner(PING);
    world.fromInner(HELLO);
    world.fromInner(PING);
    await outer.close();
    world.fromInner(PING);
    expect(heard.messages).toEqual([]);
  });

  test("ATK-19 messages of the other phase end the handshake or are ignored", async () => {
    expect(await wrong(() => outerWith().setup(), HELLO)).toBe("WRONG_PHASE");
    expect(await wrong(() => outerWith().start(), SETUP_HELLO)).toBe(
      "WRONG_PHASE",
    );
    async function wrong(begin: () => Promise<unknown>, data: object) {
      const promise = begin();
      world.fromInner(data);
      return fate(promise);
    }
  });

  test("MSG-1c a version of tomorrow is named, and told nothing", async () => {
    const setup = outerWith().setup();
    world.fromInner({
      ...SETUP_HELLO,
      protocolVersion: undefined,
      minProtocolVersion: "1.1",
      maxProtocolVersion: "2.0",
    });
    const error = await setup.catch((error: FrameError) => error);
    expect(error).toMatchObject({
      code: "VERSION_MISMATCH",
      data: { expected: "1.0", got: "1.1 to 2.0" },
    });
    expect(world.inner.posted).toEqual([]);
  });

  test("MSG-0d a malformed message is told once, and changes nothing", async () => {
    const { outer, heard } = await outerOpen();
    for (let i = 0; i < 100; i++)
      world.fromInner({ type: "MCP_MESSAGE", payload: [] });
    world.fromInner({ type: "MCP_SETUP_REQUIRED" });
    expect(codes(heard.errors)).toEqual(["BAD_MESSAGE", "BAD_MESSAGE"]);
    world.fromInner(PING);
    expect(heard.messages).toHaveLength(1);
    expect(outer.reason).toBeUndefined();
  });

  test("SES-1 the outer page makes the name, in both layouts, and keeps it (PHS-8)", () => {
    const outer = outerWith({ sessionId: undefined as never });
    expect(outer.session).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(outer.again().session).toBe(outer.session);
    expect(() => outerWith({ sessionId: "a b" })).toThrow();
  });

  test("SES-3 ATK-21 another page that knows the name has another key", async () => {
    const key = async (origin: string) => {
      const inner = innerWith({
        allowedOrigins: [OUTER, "https://other.test"],
      });
      void inner.start();
      world.fromOuter(REPLY, origin);
      await settle();
      return inner.session!.storageKey("config");
    };
    expect(await key(OUTER)).not.toBe(await key("https://other.test"));
  });
});

describe("deadlines", () => {
  test.each([
    [0, "did not load"],
    [1, "did not announce"],
    [undefined, "may have loaded"],
  ])(
    "TMO-1 TMO-2 nothing in thirty seconds after %s loads: %s",
    async (loads, words) => {
      const start = outerWith().start();
      world.control.loads = loads;
      await pass(29_999);
      expect(await fate(start)).toBe("pending");
      await pass(1);
      expect(await start.catch((error: FrameError) => error)).toMatchObject({
        code: "LOAD_TIMEOUT",
        message: expect.stringContaining(words) as string,
      });
    },
  );

  test("TMO-3 ATK-34 announced and never accepted", async () => {
    const start = outerWith().start();
    world.fromInner(HELLO);
    await pass(10_000);
    expect(await fate(start)).toBe("ACCEPT_TIMEOUT");
  });

  test("TMO-4 nobody replies to the inner page; with patience a late reply is taken", async () => {
    const impatient = innerWith();
    const start = impatient.start();
    await pass(30_000);
    expect(await fate(start)).toBe("REPLY_TIMEOUT");
    const patient = innerWith({ replyTimeout: Infinity }).start();
    await pass(3_600_000);
    world.fromOuter(REPLY);
    expect(await fate(patient)).toBe("resolved");
  });

  test("TMO-5 defect 8: a setup waits for a person, and can be cancelled", async () => {
    const cancel = new AbortController();
    const outer = outerWith();
    const setup = outer.setup({ signal: cancel.signal });
    world.fromInner(SETUP_HELLO);
    await pass(3_600_000);
    expect(await fate(setup)).toBe("pending");
    cancel.abort();
    expect(await fate(setup)).toBe("USER_CANCELLED");
    expect(world.control.calls.at(-1)).toBe("destroy");
    // And tried again on the same transport, with the same session.
    const again = outer.setup();
    world.fromInner(SETUP_HELLO);
    world.fromInner(COMPLETE);
    expect(await again).toMatchObject({ title: "Pi" });
    cancel.abort();
    expect(await fate(outerWith().setup({ signal: cancel.signal }))).toBe(
      "USER_CANCELLED",
    );
  });

  test("TMO-6 a setup with a deadline ends with TIMEOUT", async () => {
    const setup = outerWith().setup({ timeout: 60_000 });
    world.fromInner(SETUP_HELLO);
    await pass(60_000);
    expect(await fate(setup)).toBe("TIMEOUT");
  });

  test("TMO-9 a timer that fires early looks at the clock", async () => {
    const start = outerWith().start();
    const now = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    await pass(30_000);
    expect(await fate(start)).toBe("pending");
    now.mockRestore();
    await pass(30_000);
    expect(await fate(start)).toBe("LOAD_TIMEOUT");
  });
});

describe("the setup", () => {
  const failing = { ...COMPLETE, status: "error" };
  test.each([
    "USER_CANCELLED",
    "AUTH_FAILED",
    "TIMEOUT",
    "CONFIG_ERROR",
    "VERSION_MISMATCH",
    "INSUFFICIENT_PERMISSIONS",
  ])(
    "MSG-3c %s reaches the caller as itself, and the transport can try again (MSG-3f)",
    async (code) => {
      const outer = outerWith();
      const setup = outer.setup();
      world.fromInner(SETUP_HELLO);
      world.fromInner({ ...failing, error: { code, message: "words" } });
      expect(await setup.catch((error: FrameError) => error)).toMatchObject({
        code,
        message: "words",
      });
      expect(await fate(outer.setup())).toBe("pending");
    },
  );

  test("MSG-3a complete before the reply is nothing", async () => {
    const setup = outerWith().setup();
    world.fromInner(COMPLETE);
    expect(await fate(setup)).toBe("pending");
  });

  test("MSG-3h TMO-8 a setup without a person needs no timer", async () => {
    location.hash = "#setup";
    const page = innerWith();
    const setup = outerWith().setup();
    void page.setup().then(() =>
      page.complete({
        status: "success",
        title: "t",
        visibility: { requirement: "hidden" },
      }),
    );
    expect(await fate(setup)).toMatchObject({ title: "t" });
    expect(world.control.calls).not.toContain("show");
  });

  test("a page that reloads in its setup is replied to again, and again only after a load", async () => {
    void outerWith()
      .setup()
      .catch(() => {});
    world.fromInner(SETUP_HELLO);
    world.control.loads = 1;
    world.fromInner(SETUP_HELLO);
    expect(world.inner.posted).toHaveLength(1);
    world.control.loads = 2;
    world.fromInner(SETUP_HELLO);
    world.fromInner(SETUP_HELLO);
    expect(world.inner.posted).toHaveLength(2);
  });

  test("SEC-24 a page that others can read along with runs no setup", async () => {
    location.hash = "#setup";
    vi.stubGlobal("isSecureContext", false);
    expect(await fate(innerWith().setup())).toBe("INSECURE");
  });

  describe("permissions", () => {
    const wants = (name: string, phase: string[], required = false) => ({
      name,
      phase,
      required,
      purpose: "because",
    });
    const asks = (...requestedPermissions: object[]) => ({
      ...SETUP_HELLO,
      requestedPermissions,
    });

    test("SEC-15 defect 7: nothing is granted unless somebody says so", async () => {
      const setup = outerWith().setup();
      world.fromInner(asks(wants("camera", ["transport"])));
      await settle();
      world.fromInner(COMPLETE);
      expect(await setup).toMatchObject({ permissions: [] });
    });

    test("required and denied ends the setup", async () => {
      const setup = outerWith({ onpermissions: () => [] }).setup();
      world.fromInner(asks(wants("camera", ["transport"], true)));
      expect(await fate(setup)).toBe("INSUFFICIENT_PERMISSIONS");
    });

    test("defect 6 SEC-14: granted for the setup, it is loaded anew with it, and nobody is asked twice", async () => {
      const onpermissions = vi.fn(() => ["camera"]);
      const setup = outerWith({ onpermissions }).setup();
      const hello = asks(
        wants("camera", ["setup", "transport"], true),
        wants("usb", ["setup"]),
      );
      world.fromInner(hello);
      await settle();
      expect(world.control.urls).toHaveLength(2);
      expect(world.control.permissions).toEqual(["camera"]);
      expect(world.inner.posted).toEqual([]);
      world.fromInner(hello);
      await settle();
      world.fromInner(COMPLETE);
      expect(await setup).toMatchObject({ permissions: ["camera"] });
      expect(onpermissions).toHaveBeenCalledOnce();
    });

    test.each([
      "camera *; microphone",
      "camera;",
      "*",
      "CAMERA",
      "no-such-feature",
      "__proto__",
    ])(
      "ATK-25 OQ-1 %j is never granted, whatever a handler says",
      async (name) => {
        const onpermissions = vi.fn((wanted: { name: string }[]) => [
          ...wanted.map(({ name }) => name),
          name,
        ]);
        const outer = outerWith({ onpermissions });
        const setup = outer.setup();
        world.fromInner(asks(wants(name, ["setup", "transport"])));
        await settle();
        world.fromInner(COMPLETE);
        expect(await setup).toMatchObject({ permissions: [] });
        expect(world.control.permissions).toEqual([]);
        expect(onpermissions).not.toHaveBeenCalled();
      },
    );

    test("what was granted earlier is given when it connects, and only what is known", async () => {
      await outerOpen({ permissions: ["camera", "x; y"] });
      expect(world.control.permissions).toEqual(["camera"]);
    });
  });
});

describe("MSG-7e defect 9: setup required", () => {
  const final = { ...SETUP_REQUIRED, canContinue: false };

  test("MSG-7b told, and the session goes on", async () => {
    const { outer } = await outerOpen();
    const told = (outer.onsetuprequired = vi.fn());
    world.fromInner(SETUP_REQUIRED);
    expect(told).toHaveBeenCalledWith({
      reason: "AUTH_EXPIRED",
      message: "sign in again",
      canContinue: true,
    });
    expect(await fate(outer.send(ping()))).toBe("resolved");
  });

  test("MSG-7c where nothing can go on, new requests are refused and old ones may finish", async () => {
    const { outer, heard } = await outerOpen();
    await outer.send(ping(1));
    world.fromInner(final);
    expect(await fate(outer.send(ping(2)))).toBe("SETUP_REQUIRED");
    expect(
      await fate(
        outer.send({
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: 1 },
        }),
      ),
    ).toBe("resolved");
    world.fromInner({
      type: "MCP_MESSAGE",
      payload: { jsonrpc: "2.0", id: 1, result: {} },
    });
    expect(heard.messages).toHaveLength(1);
  });

  test("MSG-7c then it is set up again and connects under the same session", async () => {
    const { outer } = await outerOpen();
    world.fromInner(final);
    const next = outer.again();
    made.push(next);
    await outer.close();
    const setup = next.setup();
    world.fromInner(SETUP_HELLO);
    world.fromInner(COMPLETE);
    await setup;
    const start = next.start();
    world.fromInner(HELLO);
    world.fromInner(ACCEPTED);
    expect(await fate(start)).toBe("resolved");
    expect(
      world.inner.posted
        .filter(({ data }) => data.sessionId)
        .every(({ data }) => data.sessionId === SESSION),
    ).toBe(true);
    expect(await fate(next.send(ping()))).toBe("resolved");
  });

  test("MSG-7d ATK-23 a page that nags is heard once in ten seconds", async () => {
    const { outer } = await outerOpen();
    const told = (outer.onsetuprequired = vi.fn());
    for (let i = 0; i < 100; i++) world.fromInner(SETUP_REQUIRED);
    expect(told).toHaveBeenCalledOnce();
    await pass(10_000);
    world.fromInner(SETUP_REQUIRED);
    expect(told).toHaveBeenCalledTimes(2);
  });

  test("PHS-7 right after it opened", async () => {
    const inner = innerWith();
    const outer = outerWith();
    const told = (outer.onsetuprequired = vi.fn());
    void inner.start().then(() =>
      inner.requireSetup({
        reason: "CONFIG_CHANGED",
        message: "no file",
        canContinue: false,
      }),
    );
    await outer.start();
    await settle();
    expect(told).toHaveBeenCalledWith({
      reason: "CONFIG_CHANGED",
      message: "no file",
      canContinue: false,
    });
  });
});

describe("what is sent", () => {
  test("MSG-8b MSG-8f refused at the caller, and the connection lives", async () => {
    const { outer, heard } = await connected();
    const send = (params: object) =>
      fate(outer.send({ jsonrpc: "2.0", method: "n", params }));
    expect(await send({ at: new Date() })).toBe("NOT_JSON");
    expect(await send({ f: () => {} })).toBe("DataCloneError");
    expect(await send({ text: "x".repeat(4 * 1024 * 1024) })).toBe("TOO_LARGE");
    expect(await send({ fine: true })).toBe("resolved");
    await settle();
    expect(heard.inner.messages).toHaveLength(1);
  });

  test("MSG-8c the receiver's limit is its own", async () => {
    const { outer, heard } = await connected(
      {},
      { limits: { message: 1_000 } },
    );
    await outer.send({
      jsonrpc: "2.0",
      method: "n",
      params: { text: "x".repeat(1_000) },
    });
    await settle();
    expect(heard.inner.messages).toEqual([]);
    expect(codes(heard.inner.errors)).toEqual(["TOO_LARGE"]);
  });
});

describe("SEC-18 limits", () => {
  test("ATK-33 a burst of fifty thousand is cut off, and says why", async () => {
    const { outer, heard } = await outerOpen();
    for (let i = 0; i < 50_000; i++) world.fromInner(PING);
    expect(outer.reason?.code).toBe("FLOODED");
    expect(heard.messages.length).toBeLessThan(20_001);
    expect(heard.closes).toBe(1);
    expect(world.control.calls.at(-1)).toBe("destroy");
  });

  test("ATK-33 so is what goes on for long, even of messages that are nobody's", async () => {
    const { outer } = await outerOpen();
    let seconds = 0;
    for (; outer.reason === undefined && seconds < 30; seconds++) {
      for (let i = 0; i < 5_000; i++) world.fromInner({ other: "library" });
      await pass(1_000);
    }
    expect(outer.reason?.code).toBe("FLOODED");
    expect(seconds).toBeGreaterThan(2);
  });

  test("a peer with too many questions at once is cut off; answered and cancelled ones do not count", async () => {
    const { inner } = await connected({}, { limits: { pending: 10 } });
    const ask = (id: number) =>
      world.fromOuter({ type: "MCP_MESSAGE", payload: ping(id) });
    for (let id = 0; id < 30; id++) {
      ask(id);
      if (id % 2) await inner.send({ jsonrpc: "2.0", id, result: {} });
      else
        world.fromOuter({
          type: "MCP_MESSAGE",
          payload: {
            jsonrpc: "2.0",
            method: "notifications/cancelled",
            params: { requestId: id },
          },
        });
    }
    expect(inner.reason).toBeUndefined();
    for (let id = 100; id < 120; id++) ask(id);
    expect(inner.reason?.code).toBe("FLOODED");
  });
});

test("a cancellation that names nothing is the endpoint's to judge", async () => {
  const { heard } = await outerOpen();
  const payload = { jsonrpc: "2.0", method: "notifications/cancelled" };
  world.fromInner({ type: "MCP_MESSAGE", payload });
  expect(heard.messages).toEqual([payload]);
});

describe("SEC-19 handlers that throw", () => {
  test("stop neither the next message nor each other", async () => {
    const { outer } = await outerOpen();
    const errors: string[] = [];
    outer.onmessage = () => {
      throw new Error("mine");
    };
    outer.onerror = (error) => {
      errors.push(error.message);
      throw new Error("again");
    };
    outer.onsetuprequired = () => {
      throw new Error("theirs");
    };
    world.fromInner(PING);
    world.fromInner(SETUP_REQUIRED);
    const heard: Payload[] = [];
    outer.onmessage = (message) => heard.push(message);
    world.fromInner(PING);
    expect(errors).toEqual(["mine", "theirs"]);
    expect(heard).toHaveLength(1);
  });
});

describe("the end", () => {
  test("LIF-1 close is told to the other side", async () => {
    const { outer, inner, heard } = await connected();
    await outer.close();
    await settle();
    expect(inner.reason?.code).toBe("PEER_CLOSED");
    expect(heard.inner.closes).toBe(1);
  });

  test("LIF-1 and the other way round", async () => {
    const { outer, inner, heard } = await connected();
    await inner.close();
    await settle();
    expect(outer.reason?.code).toBe("PEER_CLOSED");
    expect(heard.outer.closes).toBe(1);
  });

  test("LIF-6 a frame that was removed is noticed within a second", async () => {
    const { outer, heard } = await outerOpen();
    world.control.gone = true;
    await pass(1_000);
    expect([outer.reason?.code, heard.closes]).toEqual(["FRAME_REMOVED", 1]);
    expect(await fate(outer.send(ping()))).toBe("CLOSED");
  });

  test("LIF-5 another document that stays silent is given up", async () => {
    const { outer } = await outerOpen();
    world.control.loads = 1;
    await pass(60_000);
    expect(outer.reason).toBeUndefined();
    world.control.loads = 2;
    await pass(31_000);
    expect(outer.reason?.code).toBe("NAVIGATED_AWAY");
  });

  test("LIF-5 the same document, asked, goes on", async () => {
    const { outer } = await connected();
    world.control.loads = 3;
    await pass(60_000);
    expect(outer.reason).toBeUndefined();
  });

  test("LIF-2 WIN-7 a popup notices that its opener is gone", async () => {
    vi.stubGlobal("parent", self);
    vi.stubGlobal("opener", world.outer);
    const inner = innerWith();
    void inner.start();
    world.fromOuter(REPLY);
    world.outer.close();
    await pass(1_000);
    expect(inner.reason?.code).toBe("PEER_CLOSED");
  });

  test("WIN-7 a goodbye from a page that is gone counts when it names the session and has its origin", async () => {
    const inner = innerWith();
    void inner.start();
    const bye = { type: "MCPX_CLOSE", sessionId: SESSION, reason: "pagehide" };
    const say = (data: object, origin = OUTER) =>
      arrive(data, { source: null, origin });
    say(bye);
    world.fromOuter(REPLY);
    say({ ...bye, sessionId: "guessed" });
    say(bye, "https://evil.test");
    say(PING);
    // More than the limits of the page that is there: what comes from nobody does not count against it.
    for (let i = 0; i < 30_000; i++) say({ ...bye, sessionId: "guessed" });
    expect(inner.reason).toBeUndefined();
    inner.onclose = () => {
      throw new Error("a handler's mistake stays its own");
    };
    say(bye);
    expect(inner.reason).toMatchObject({
      code: "PEER_CLOSED",
      message: expect.stringContaining("reloaded") as string,
    });
  });

  test("WIN-7 ATK-40 an outer page that is left tells its popup, which adopts no fresh one", async () => {
    world.control.kind = "popup";
    world.control.loads = undefined;
    const { outer, inner, heard } = await connected();
    dispatchEvent(Object.assign(new Event("pagehide"), { persisted: true }));
    await settle();
    expect(inner.reason?.code).toBe("PEER_CLOSED");
    expect([heard.outer.closes, heard.inner.closes]).toEqual([1, 1]);
    expect(await fate(outer.send(ping()))).toBe("CLOSED");
    expect(world.control.calls).not.toContain("close");
    const posted = world.outer.posted.length;
    world.fromOuter(REPLY);
    expect(world.outer.posted).toHaveLength(posted);
  });

  test("LIF-1 an inner page that unloads may come back: its requests wait for as long as a load", async () => {
    const { outer } = await connected();
    dispatchEvent(new Event("pagehide"));
    await settle();
    expect(outer.reason).toBeUndefined();
    await pass(30_000);
    expect(outer.reason?.code).toBe("NAVIGATED_AWAY");
  });

  test("LIF-7 a page that comes out of the browser's cache announces itself, and the same session goes on", async () => {
    const inner = innerWith();
    const heard = listen(inner);
    void inner.start();
    world.fromOuter(REPLY);
    await settle();
    dispatchEvent(Object.assign(new Event("pagehide"), { persisted: true }));
    expect(inner.reason).toBeUndefined();
    dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
    expect(world.outer.types().at(-1)).toBe("MCP_TRANSPORT_HANDSHAKE");
    expect(await fate(inner.send(ping()))).toBe("NOT_OPEN");
    world.fromOuter(REPLY);
    world.fromOuter(PING);
    expect(heard.messages).toHaveLength(1);
  });
});

describe("LIF-3 defect 10: the inner page reloads", () => {
  test("the old session ends, the next one opens in the same window under the same name", async () => {
    const { outer, heard } = await outerOpen();
    let next!: OuterFrameTransport;
    outer.onreload = (transport) => made.push((next = transport));
    await outer.send(ping(1));
    world.fromInner(HELLO);
    expect([outer.reason?.code, heard.closes]).toEqual(["PEER_RELOADED", 1]);
    expect(codes(heard.errors)).toEqual(["PEER_RELOADED"]);
    expect([next.generation, next.session]).toEqual([2, SESSION]);
    const fresh = listen(next);
    const start = next.start();
    world.fromInner(ACCEPTED);
    expect(await fate(start)).toBe("resolved");
    world.fromInner(PING);
    expect([fresh.messages.length, heard.messages.length]).toEqual([1, 0]);
    expect(world.control.calls.filter((call) => call === "open")).toHaveLength(
      1,
    );
  });

  test("LIF-4 a hundred questions in flight: no answer of before is matched to a question of after", async () => {
    const { outer } = await outerOpen();
    let next!: OuterFrameTransport;
    outer.onreload = (transport) => made.push((next = transport));
    for (let id = 0; id < 100; id++) await outer.send(ping(id));
    world.fromInner(HELLO);
    const fresh = listen(next);
    const start = next.start();
    // Late, from the document before.
    for (let id = 0; id < 100; id++)
      world.fromInner({
        type: "MCP_MESSAGE",
        payload: { jsonrpc: "2.0", id, result: {} },
      });
    world.fromInner(ACCEPTED);
    await start;
    expect(fresh.messages).toEqual([]);
  });

  test("without a handler the window is closed", async () => {
    const { outer } = await outerOpen();
    world.fromInner(HELLO);
    expect(outer.reason?.code).toBe("PEER_RELOADED");
    expect(world.control.calls.at(-1)).toBe("destroy");
  });

  test("ATK-37 a page that reloads for ever is stopped after three times in a minute", async () => {
    let { outer } = await outerOpen();
    for (let round = 0; ; round++) {
      let next: OuterFrameTransport | undefined;
      outer.onreload = (transport) => made.push((next = transport));
      world.fromInner(HELLO);
      if (!next) {
        expect(round).toBe(3);
        expect(outer.reason?.message).toContain("more than 3 times");
        break;
      }
      const start = next.start();
      world.fromInner(ACCEPTED);
      await start;
      outer = next;
    }
    expect(world.control.calls.at(-1)).toBe("destroy");
  });

  test("and after a minute it may again", async () => {
    let { outer } = await outerOpen();
    for (let round = 0; round < 6; round++) {
      let next!: OuterFrameTransport;
      outer.onreload = (transport) => made.push((next = transport));
      world.fromInner(HELLO);
      const start = next.start();
      world.fromInner(ACCEPTED);
      await start;
      outer = next;
      await pass(30_000);
    }
    expect(outer.reason).toBeUndefined();
  });
});

describe("what the first implementation got wrong", () => {
  test("STM-1 defect 1: whoever announces itself while it loads is heard", async () => {
    world.control.onnavigate = () => world.fromInner(HELLO);
    const start = outerWith().start();
    world.fromInner(ACCEPTED);
    expect(await fate(start)).toBe("resolved");
  });

  test("MSG-2a MSG-5a defect 2: replies name the one origin that may read them", async () => {
    const outer = outerWith();
    void outer.setup();
    world.fromInner(SETUP_HELLO);
    world.fromInner(COMPLETE);
    void outer.start();
    world.fromInner(HELLO);
    expect(world.inner.posted.map(({ target }) => target)).toEqual([
      INNER,
      INNER,
    ]);
  });

  test("SEC-1 defect 3: the right window with another page in it is not listened to", async () => {
    const { heard } = await outerOpen();
    world.fromInner(PING, "https://evil.test");
    expect(heard.messages).toEqual([]);
  });

  test("MSG-2b MSG-5b defect 4: nothing but a valid reply pins", async () => {
    const inner = innerWith({ allowedOrigins: [OUTER, "https://other.test"] });
    const start = inner.start();
    for (const each of [
      PING,
      SETUP_REPLY,
      { ...REPLY, sessionId: "" },
      { ...REPLY, protocolVersion: "2.0" },
      { type: "MCP_NEW" },
    ])
      world.fromOuter(each, "https://other.test");
    expect(inner.session).toBeUndefined();
    world.fromOuter(REPLY);
    expect(await fate(start)).toBe("resolved");
    expect(inner.session?.origin).toBe(OUTER);
  });

  test("defect 14: the name of a session is not guessed from Math.random", () => {
    const dice = vi.spyOn(Math, "random").mockReturnValue(0.5);
    const names = [1, 2].map(
      () => outerWith({ sessionId: undefined as never }).session,
    );
    dice.mockRestore();
    expect(names[0]).not.toBe(names[1]);
  });

  test("MSG-3f defect 16: a failure costs neither the address nor the session", async () => {
    const outer = outerWith();
    const setup = outer.setup();
    world.fromInner(SETUP_HELLO);
    world.fromInner({ ...COMPLETE, status: "error", error: "no" });
    expect(await fate(setup)).toBe("CONFIG_ERROR");
    expect([outer.url, outer.session]).toEqual([URL_OF_INNER, SESSION]);
    const again = outer.setup();
    world.fromInner(SETUP_HELLO);
    world.fromInner(COMPLETE);
    expect(await fate(again)).toMatchObject({ title: "Pi" });
  });
});

describe("SEC-20 opaque pages", () => {
  beforeEach(() => {
    world.inner.origin = "null";
    world.control.opaque = true;
  });

  test("the only message to * holds a port and no secret; the rest goes through it", async () => {
    const { outer, inner, heard } = await connected({}, { opaque: true });
    expect(world.inner.posted).toEqual([
      { data: { type: "MCPX_PORT" }, target: "*" },
    ]);
    expect(world.outer.types()).toEqual(["MCP_TRANSPORT_HANDSHAKE"]);
    expect(inner.session).toMatchObject({ sessionId: SESSION, origin: OUTER });
    await outer.send(ping(1));
    await inner.send({ jsonrpc: "2.0", id: 1, result: {} });
    await settle();
    expect([heard.inner.messages.length, heard.outer.messages.length]).toEqual([
      1, 1,
    ]);
  });

  test("ATK-4 whoever moves into the window is neither heard nor told anything", async () => {
    const { outer, heard } = await connected({}, { opaque: true });
    world.fromInner(PING);
    world.fromInner(SETUP_REQUIRED);
    expect(heard.outer.messages).toEqual([]);
    const posted = world.inner.posted.length;
    world.fromInner(HELLO);
    expect(outer.reason?.code).toBe("NAVIGATED_AWAY");
    expect(world.inner.posted).toHaveLength(posted);
  });

  test("ATK-8 an opaque page does not trust another opaque page", async () => {
    const start = innerWith({ opaque: true }).start();
    arrive(
      { type: "MCPX_PORT" },
      { source: world.outer, origin: "null", ports: [new FakePort()] },
    );
    world.fromOuter(REPLY, "null");
    expect(await fate(start)).toBe("pending");
  });

  test("a page that did not ask for it takes no port", async () => {
    const start = innerWith().start();
    const port = new FakePort();
    arrive(
      { type: "MCPX_PORT" },
      { source: world.outer, origin: OUTER, ports: [port] },
    );
    expect(port.closed).toBe(true);
    expect(await fate(start)).toBe("pending");
  });

  test("its setup works, too", async () => {
    location.hash = "#setup";
    const page = innerWith({ opaque: true });
    const setup = outerWith().setup();
    await page.setup();
    await page.complete({
      status: "success",
      title: "Pi",
      visibility: { requirement: "hidden" },
    });
    await settle();
    expect(await fate(setup)).toMatchObject({ title: "Pi" });
  });

  test("defect 5: a page that is opaque by mistake is named, and not waited for", async () => {
    world.control.opaque = false;
    const start = outerWith().start();
    world.fromInner(HELLO);
    expect(await start.catch((error: FrameError) => error)).toMatchObject({
      code: "ORIGIN_MISMATCH",
      data: { expected: INNER, got: "null" },
    });
  });
});

describe("secrets", () => {
  test("SES-4 SEC-21 defect 13: nothing is logged but what was asked for, and never names or payloads", async () => {
    const words: string[] = [];
    const print = vi.spyOn(console, "log").mockImplementation(() => {});
    const log = (text: string) => words.push(text);
    const { outer, inner } = await connected({ log }, { log });
    await outer.send({
      jsonrpc: "2.0",
      id: 1,
      method: "secret-method",
      params: { token: "secret-token" },
    });
    world.fromOuter({ ...REPLY, sessionId: "attacker" });
    world.fromOuter(REPLY, "https://evil.test");
    world.fromInner({ type: "MCP_MESSAGE", payload: { secret: 1 } });
    await settle();
    expect(inner.reason).toBeUndefined();
    expect(words.join()).not.toMatch(/secret|attacker|1111/);
    expect(words.length).toBeGreaterThan(0);
    expect(print).not.toHaveBeenCalled();
  });

  test("SEC-9 WIN-9 nothing is posted before the page has announced itself", async () => {
    void outerWith().start();
    await settle();
    expect(world.inner.posted).toEqual([]);
  });
});

test("STM-3 whatever arrives in whatever order, nothing escapes the listener", async () => {
  const caught = vi.fn();
  addEventListener("error", caught);
  const outer = outerWith();
  const inner = innerWith();
  void outer.start().catch(() => {});
  void inner.start().catch(() => {});
  let seed = 7;
  const random = (n: number) =>
    (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0) % n;
  const junk = [
    null,
    5,
    "MCP_MESSAGE",
    { type: 5 },
    { type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: {} } },
    [],
  ];
  const all = [...EIGHT, ...junk];
  for (let i = 0; i < 5_000; i++) {
    const data = all[random(all.length)];
    if (random(2)) world.fromInner(data);
    else world.fromOuter(data);
  }
  removeEventListener("error", caught);
  expect(caught).not.toHaveBeenCalled();
});
