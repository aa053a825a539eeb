import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  arrive,
  FakeChannel,
  FakePort,
  FakeWindow,
  HOST,
  mockFrames,
  readJson,
  settle,
  standUnder,
} from "./stage.js";

const GUEST = "https://guest.test";
let host: FakeWindow;
let guest: FakeWindow;

beforeEach(() => {
  document.body.replaceChildren();
  delete document.documentElement.dataset.refused;
  guest = new FakeWindow();
  mockFrames(guest);
  host = standUnder(stranger(new FakeWindow()));
  vi.stubGlobal("top", host);
});

/** Touching another origin's document throws, as in a browser. */
function stranger(other: FakeWindow): FakeWindow {
  Object.defineProperty(other, "document", {
    configurable: true,
    get() {
      throw new DOMException("cross-origin", "SecurityError");
    },
  });
  return other;
}

/** Runs the script as a page with these settings would. */
async function run(settings: Record<string, string>) {
  Object.defineProperty(document, "currentScript", {
    configurable: true,
    value: { dataset: settings },
  });
  vi.stubGlobal("location", {
    origin: "https://sandbox.test",
    href: "https://sandbox.test/",
    ancestorOrigins: [HOST],
  });
  vi.resetModules();
  // A new page has no listeners from the last one.
  for (const [type, listener] of listeners.splice(0))
    window.removeEventListener(type, listener);
  const really = window.addEventListener.bind(window);
  const add = vi
    .spyOn(window, "addEventListener")
    .mockImplementation((type: string, listener: unknown) => {
      listeners.push([type, listener as EventListener]);
      really(type, listener as EventListener);
    });
  await import("transom/sandbox");
  add.mockRestore();
  return document.querySelector("iframe");
}
const listeners: [string, EventListener][] = [];

const raw = (more = {}) => run({ host: HOST, ...more });
const withGuest = (more = {}) =>
  run({ host: HOST, guest: `${GUEST}/v`, ...more });
const fromHost = (data: unknown, arrival = {}) =>
  arrive(data, { source: host, ...arrival });
const fromGuest = (data: unknown, arrival = {}) =>
  arrive(data, { source: guest, origin: GUEST, ...arrival });
const READY = {
  jsonrpc: "2.0",
  method: "ui/notifications/sandbox-proxy-ready",
  params: { guest: GUEST },
};
const OFFER = {
  jsonrpc: "2.0",
  id: 0,
  result: { hostCapabilities: { experimental: { "transom/port": {} } } },
};
const resource = (
  params: object,
  method = "ui/notifications/sandbox-resource-ready",
) => ({
  jsonrpc: "2.0",
  method,
  params,
});
const note = (n: number) => ({ jsonrpc: "2.0", method: "note", params: { n } });

/** The clock stands still, so that a busy machine earns nobody anything. */
const stopClock = () => vi.useFakeTimers({ toFake: ["performance"] });

describe("refusals", () => {
  const refused = () => document.documentElement.dataset.refused;

  test("P-12 top-level", async () => {
    vi.stubGlobal("parent", window);
    await raw();
    expect(refused()).toBe("not inside a host");
    expect(host.posted).toEqual([]);
  });

  test.each([
    ["https://other.test"],
    [""],
    ["https://host.test.evil"],
    [`${HOST}/`],
  ])("P-12 a parent that is not in %j", async (allowed) => {
    await run({ host: allowed, guest: `${GUEST}/v` });
    expect(refused()).toBe("not this host");
    expect(document.querySelector("iframe")).toBeNull();
  });

  test("P-01, P-13 an origin shared with the host", async () => {
    Object.defineProperty(host, "document", { value: document });
    await raw();
    expect(refused()).toBe("not inside a host");
    expect(host.posted).toEqual([]);
  });
});

describe("with a guest's URL", () => {
  test("P-03 it announces itself once, to the host's origin, and loads the guest", async () => {
    const frame = await withGuest({ allow: "camera; geolocation" });
    expect(host.posted).toEqual([{ data: READY, target: HOST, ports: [] }]);
    expect(frame?.src).toBe(`${GUEST}/v`);
    expect(frame?.getAttribute("sandbox")).toBe(
      "allow-scripts allow-same-origin allow-forms",
    );
    expect(frame?.allow).toBe("camera; geolocation");
  });

  test("P-06, P-09, P-11 it forwards both ways, at once, in order and unchanged", async () => {
    await withGuest();
    for (let n = 0; n < 3; n++) {
      fromGuest(note(n));
      expect(host.posted.at(-1)).toEqual({
        data: note(n),
        target: HOST,
        ports: [],
      });
      fromHost(note(n));
      expect(guest.posted.at(-1)).toEqual({
        data: note(n),
        target: GUEST,
        ports: [],
      });
    }
    fromGuest("text");
    expect(host.messages.at(-1)).toBe("text");
  });

  test("whether the person did something in it is told to the host when it asks, and to nobody else", async () => {
    const activation = { isActive: false };
    Object.defineProperty(navigator, "userActivation", {
      configurable: true,
      value: activation,
    });
    await withGuest();
    const method = "ui/notifications/sandbox-active";
    const asked = { jsonrpc: "2.0", method };
    fromGuest(asked);
    expect(host.messages).toEqual([READY]);
    for (const active of [false, true]) {
      activation.isActive = active;
      fromHost(asked);
      expect(host.messages.at(-1)).toEqual({ ...asked, params: { active } });
    }
    expect(guest.messages).toEqual([]);
  });

  test.each([
    ["ui/notifications/sandbox-proxy-ready"],
    ["ui/notifications/sandbox-resource-ready"],
    ["ui/notifications/sandbox-anything"],
    ["ui/sandbox-resource-ready"],
  ])("P-07 %s stops here, both ways", async (method) => {
    await withGuest();
    fromGuest({ jsonrpc: "2.0", method, params: {} });
    fromHost({ jsonrpc: "2.0", method, params: { html: "x" } });
    expect(host.messages).toEqual([READY]);
    expect(guest.messages).toEqual([]);
    expect(document.querySelectorAll("iframe")).toHaveLength(1);
  });

  test.each([
    ["another window", { source: new FakeWindow() }],
    ["another origin", { origin: "https://evil.test" }],
    ["an opaque origin", { origin: "null" }],
    ["a synthetic event", { isTrusted: false }],
  ])("P-10 %s is not heard on either side", async (_, arrival) => {
    await withGuest();
    fromGuest(note(1), arrival);
    fromHost(note(1), arrival);
    expect(host.messages).toEqual([READY]);
    expect(guest.messages).toEqual([]);
  });

  test("a port of the guest's own goes with the answer to a handshake, and with nothing else", async () => {
    await withGuest();
    const ports = () => [new FakeChannel().port2];
    const good = ports();
    fromHost(OFFER, { ports: good });
    const given = guest.posted.at(-1)!.ports;
    expect(given).toHaveLength(1);
    expect(given[0]).not.toBe(good[0]);
    expect([given[0]?.closed, good[0]?.closed]).toEqual([false, false]);
    for (const [data, sent] of [
      [note(1), ports()],
      [OFFER, [...ports(), ...ports()]],
      [{ ...OFFER, result: {} }, ports()],
    ] as const) {
      fromHost(data, { ports: sent });
      expect(guest.posted.at(-1)).toMatchObject({ data, ports: [] });
      expect(sent.every((port) => port.closed)).toBe(true);
    }
    const smuggled = ports();
    fromGuest(OFFER, { ports: smuggled });
    expect(host.posted.at(-1)?.ports).toEqual([]);
    expect(smuggled[0]?.closed).toBe(true);
  });

  describe("behind a porch", () => {
    const behind = (more = {}) =>
      run({ host: HOST, porch: `${GUEST}/porch`, ...more });
    let inside: FakeWindow;
    const fromInside = (data: unknown, arrival = {}) =>
      arrive(data, { source: inside, origin: GUEST, ...arrival });
    beforeEach(() => {
      inside = new FakeWindow();
      Object.assign(guest, { 0: inside, length: 1 });
    });

    test("it shows the porch, and is told whose it is", async () => {
      const frame = await behind();
      expect(frame?.src).toBe(`${GUEST}/porch`);
      expect(host.messages).toEqual([READY]);
    });

    test("the guest speaks through it, and is spoken to itself", async () => {
      await behind();
      fromHost(note(0));
      expect(guest.messages).toEqual([note(0)]);
      fromGuest(note(1));
      fromHost(note(2));
      expect(host.messages).toEqual([READY, note(1)]);
      expect(inside.posted).toEqual([
        { data: note(2), target: GUEST, ports: [] },
      ]);
      expect(guest.messages).toHaveLength(1);
    });

    test("what goes past it is measured and counted all the same", async () => {
      stopClock();
      await behind({ limit: "1000", rate: "10" });
      fromGuest(note(0));
      fromInside(note(1));
      fromInside({ ...note(2), text: "x".repeat(2000) });
      fromInside({ jsonrpc: "2.0", method: READY.method });
      expect(host.messages.map(({ method }) => method)).toEqual([
        READY.method,
        "note",
        "note",
        "ui/notifications/sandbox-dropped",
      ]);
      for (let n = 0; n < 60; n++) {
        fromGuest(note(n));
        fromInside(note(n));
      }
      expect(host.messages.at(-1)?.params).toEqual({ reason: "flood" });
      const told = host.posted.length;
      fromGuest(note(0));
      fromInside(note(0));
      expect(host.posted).toHaveLength(told);
      expect(document.querySelector("iframe")).toBeNull();
    });

    test.each([
      ["another window", { source: new FakeWindow() }],
      ["another origin", { origin: "https://evil.test" }],
    ])("P-10 %s is not heard", async (_, arrival) => {
      await behind();
      fromGuest(note(0));
      fromInside(note(1), arrival);
      expect(host.messages).toEqual([READY, note(0)]);
    });

    test("a porch that waits says that it is there, and is told when its guest shall come", async () => {
      Object.assign(guest, { 0: undefined, length: 0 });
      await behind();
      fromGuest("spare");
      expect(host.messages).toEqual([READY, "spare"]);
      fromHost({});
      expect(guest.messages).toEqual([{}]);
      Object.assign(guest, { 0: inside, length: 1 });
      fromGuest(note(1));
      fromHost(note(2));
      expect(host.messages.at(-1)).toEqual(note(1));
      expect(inside.messages).toEqual([note(2)]);
      expect(guest.messages).toHaveLength(1);
    });

    test("a guest that took itself out of it is told nothing, and harms nobody", async () => {
      await behind();
      Object.assign(guest, { 0: undefined, length: 0 });
      fromGuest(note(0));
      fromHost(note(1));
      fromGuest(note(2));
      expect(host.messages).toEqual([READY, note(0), note(2)]);
      expect(inside.posted).toEqual([]);
    });

    test("the port goes to the guest", async () => {
      await behind();
      fromGuest(note(0));
      fromHost(OFFER, { ports: [new FakeChannel().port2] });
      expect(inside.posted.at(-1)?.ports).toHaveLength(1);
      expect(guest.posted).toEqual([]);
    });
  });

  describe("the guest's port ends here", () => {
    let page: FakePort;
    let heard: unknown[];
    let port: FakePort;
    const take = () => {
      const { port1, port2 } = new FakeChannel();
      page = port1;
      heard = [];
      page.addEventListener("message", (event) =>
        heard.push((event as { data: unknown }).data),
      );
      fromHost(OFFER, { ports: [port2] });
      port = guest.posted.at(-1)!.ports[0]!;
    };
    const say = async (...texts: unknown[]) => {
      for (const text of texts) {
        port.postMessage(text);
        await settle();
      }
    };
    const told = () => host.messages.slice(1);

    test("text goes through both ways, unread and in order", async () => {
      await withGuest();
      take();
      const back: unknown[] = [];
      port.addEventListener("message", (event) =>
        back.push((event as { data: unknown }).data),
      );
      await say('{"a":1}', "not even JSON", "");
      for (const text of ["x", "y"]) page.postMessage(text);
      await settle();
      expect(heard).toEqual(['{"a":1}', "not even JSON", ""]);
      expect(back).toEqual(["x", "y"]);
      expect(told()).toEqual([]);
    });

    test("text above the limit is dropped with its beginning, and the next one passes", async () => {
      await withGuest({ limit: "1000" });
      take();
      await say('{"id":7,' + "x".repeat(2000), "small");
      expect(heard).toEqual(["small"]);
      expect(told().map(({ params }) => params)).toEqual([
        { message: '{"id":7,' + "x".repeat(991) },
      ]);
    });

    test.each([
      ["an object", {}],
      ["what becomes no number", { length: NaN }],
      ["nothing", undefined],
      ["null", null],
      ["a number", 7],
      ["bytes", new Uint8Array(8)],
      ["a String object", new String("x")],
      ["a list of texts", ["x"]],
    ])("%s on it ends the guest, with its reason", async (_, thing) => {
      await withGuest();
      take();
      await say("before", thing, "after");
      expect(heard).toEqual(["before"]);
      expect(told()).toMatchObject([
        {
          method: "ui/notifications/sandbox-stopped",
          params: { reason: "not-text" },
        },
      ]);
      expect(document.querySelector("iframe")).toBeNull();
      expect([port.closed, page.closed]).toEqual([true, true]);
    });

    test("a flood on it ends the guest, and both lanes count together", async () => {
      stopClock();
      await withGuest({ rate: "10" });
      take();
      for (let n = 0; n < 60; n++) fromGuest(note(n));
      await say(...Array<string>(60).fill("x"));
      expect(heard).toHaveLength(39);
      expect(told().at(-1)?.params).toEqual({ reason: "flood" });
      expect(port.closed).toBe(true);
    });

    test("by its size too: what goes on may be 32 MB a second, and ten seconds of that", async () => {
      stopClock();
      await withGuest();
      take();
      const large = "x".repeat(2 ** 24 - 1);
      await say(...Array<string>(25).fill(large));
      expect(heard).toHaveLength(19);
      expect(told().at(-1)?.params).toEqual({ reason: "flood" });
    });

    test("by the bytes a second that it was told", async () => {
      stopClock();
      await withGuest({ bytes: "1000", limit: "1000" });
      take();
      await say(...Array<string>(20).fill("x".repeat(1000)));
      expect(heard).toHaveLength(9);
      expect(told().at(-1)?.params).toEqual({ reason: "flood" });
    });

    test("it keeps the pace, and a large one alone does not wait", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
      try {
        await withGuest({ rate: "100", pace: "3" });
        take();
        const large = "x".repeat(2 ** 22);
        await say(large, "1", "2");
        expect(heard).toEqual([large]);
        vi.advanceTimersByTime(300);
        await settle();
        expect(heard).toEqual([large, "1", "2"]);
      } finally {
        vi.useRealTimers();
      }
    });

    test("another document gets another one, and the old one is closed", async () => {
      await withGuest();
      take();
      const [old, oldPage] = [port, page];
      take();
      expect([old.closed, oldPage.closed]).toEqual([true, true]);
      await say("x");
      expect(heard).toEqual(["x"]);
    });
  });

  test.each([
    ["a String object", new String("x".repeat(500))],
    ["a Number object", Object(1)],
    ["a Boolean object", Object(true)],
    ["a big integer", 1n],
    ["a BigInt object", Object(1n)],
    ["a map", new Map([[1, 2]])],
    ["a set", new Set([1])],
    ["a date", new Date(0)],
    ["a pattern", /x/],
    ["an error", new Error("x")],
    ["a buffer", new ArrayBuffer(1)],
    ["bytes", new Uint8Array(1)],
    ["a blob", new Blob(["x"])],
    ["holes", [, 1]],
    ["undefined in a list", [undefined]],
    ["a list with a name in it", Object.assign([1], { name: "x" })],
    ["a hole in place of a name", Object.assign([,], { name: "x" })],
  ])("P-18 %s is not JSON, and is dropped wherever it is", async (_, thing) => {
    await withGuest();
    fromGuest({ id: 1, method: "x", params: { deep: [{ thing }] } });
    fromGuest({ id: thing, method: "x" });
    fromGuest(thing);
    expect(host.messages.slice(1).map(({ params }) => params)).toEqual([
      { id: 1, method: "x" },
      {},
      {},
    ]);
    fromGuest({
      id: 2,
      method: "x",
      params: { none: undefined, list: [null] },
    });
    expect(host.messages.at(-1)).toMatchObject({ id: 2 });
  });

  test("P-18 one object named a million times counts a million times", async () => {
    await withGuest();
    let laughs: unknown = "ha";
    for (let n = 0; n < 40; n++) laughs = [laughs, laughs];
    fromGuest({ method: "x", params: { laughs } });
    let keyed: object = {};
    for (let n = 0; n < 40; n++) keyed = { a: keyed, b: keyed };
    fromGuest({ method: "x", params: keyed });
    fromGuest({ method: laughs });
    expect(host.messages.slice(1).map(({ params }) => params)).toEqual([
      { method: "x" },
      { method: "x" },
      {},
    ]);
  });

  test.each(["", "x", "NaN", "0", "-1", "Infinity"])(
    "P-18 a limit, a rate, bytes or a pace of %j is none, and the usual one holds",
    async (odd) => {
      stopClock();
      await withGuest({ limit: odd, rate: odd, bytes: odd, pace: odd });
      fromGuest({ method: "x", params: { text: "x".repeat(2 ** 24) } });
      expect(host.messages.at(-1)?.method).toContain("sandbox-dropped");
      for (let n = 0; n < 20_001; n++) fromGuest(note(n));
      expect(host.messages.length).toBeGreaterThan(19_000);
      expect(host.messages.at(-1)?.method).toContain("sandbox-stopped");
    },
  );

  test("P-18 a message above the limit is dropped, and one below it is not", async () => {
    await withGuest({ limit: "1000" });
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const holes: unknown[] = [];
    holes.length = 2 ** 32 - 1;
    for (const big of [
      { text: "x".repeat(1000) },
      { list: Array.from({ length: 200 }, (_, i) => i) },
      { bytes: new Uint8Array(1000) },
      { map: new Map(Array.from({ length: 200 }, (_, i) => [i, i])) },
      { cyclic },
      { holes },
      JSON.parse(`${'{"a":'.repeat(500)}1${"}".repeat(500)}`),
    ])
      fromGuest({ jsonrpc: "2.0", method: "note", params: big });
    const dropped = {
      ...READY,
      method: "ui/notifications/sandbox-dropped",
      params: { method: "note" },
    };
    expect(host.messages).toEqual([READY, ...Array(7).fill(dropped)]);
    // Whose it was goes with it, unless that is too large itself.
    fromGuest({ id: 7, method: "ask", params: "x".repeat(1000) });
    fromGuest({ id: "x".repeat(2000), method: "ask" });
    fromGuest("x".repeat(1000));
    expect(host.messages.slice(8).map(({ params }) => params)).toEqual([
      { id: 7, method: "ask" },
      {},
      {},
    ]);
    fromGuest({
      jsonrpc: "2.0",
      method: "note",
      params: { size: 1e9, length: 1e9, byteLength: 1e9 },
    });
    expect(host.messages).toHaveLength(12);
  });

  test("P-18, ATK-33 a flood ends the guest and says so on the page", async () => {
    stopClock();
    await withGuest({ rate: "10" });
    for (let n = 0; n < 200; n++) fromGuest(note(n));
    // The hundredth is ten seconds and its bytes ahead.
    expect(host.messages).toHaveLength(101);
    expect(host.messages.at(-1)).toEqual({
      jsonrpc: "2.0",
      method: "ui/notifications/sandbox-stopped",
      params: { reason: "flood" },
    });
    expect(document.querySelector("iframe")).toBeNull();
    expect(document.body.textContent).toContain("flood");
    fromHost(note(1));
    expect(guest.messages).toEqual([]);
  });

  test("ATK-33 what comes at once goes on at its pace, in order, and a flood not at all", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    try {
      await withGuest({ rate: "100", pace: "3" });
      const heard = () => host.messages.slice(1).map((m) => m.params?.n);
      for (let n = 0; n < 20; n++) fromGuest(note(n));
      expect(heard()).toEqual([0, 1, 2]);
      vi.advanceTimersByTime(50);
      expect(heard().length).toBeGreaterThan(5);
      expect(heard().length).toBeLessThan(10);
      vi.advanceTimersByTime(1000);
      expect(heard()).toEqual(Array.from({ length: 20 }, (_, n) => n));
      for (let n = 0; n < 2000; n++) fromGuest(note(n));
      expect(host.messages).toHaveLength(25);
      expect(host.messages.at(-1)?.method).toContain("sandbox-stopped");
      vi.advanceTimersByTime(1000);
      expect(host.messages).toHaveLength(25);
    } finally {
      vi.useRealTimers();
    }
  });

  test("10,000 messages pass at the usual rate", async () => {
    await withGuest();
    for (let n = 0; n < 10_000; n++) fromGuest(note(n));
    expect(host.messages.slice(1).map((m) => m.params?.n)).toEqual(
      Array.from({ length: 10_000 }, (_, n) => n),
    );
  });
});

describe("in raw mode", () => {
  const policyIn = (frame: HTMLIFrameElement | null) => {
    const html = frame?.srcdoc ?? "";
    const found =
      /^<meta http-equiv=Content-Security-Policy content="([^"]*)">/.exec(html);
    return found?.[1]?.replaceAll("&quot;", '"');
  };

  test("it waits for the HTML, and takes only the first", async () => {
    expect(await raw()).toBeNull();
    fromHost(resource({ html: "<!doctype html><p>hi" }));
    const frame = document.querySelector("iframe");
    expect(frame?.srcdoc).toMatch(/^<meta [^>]*><!doctype html><p>hi$/);
    fromHost(resource({ html: "<p>evil" }));
    expect(document.querySelectorAll("iframe")).toHaveLength(1);
    expect(frame?.srcdoc).not.toContain("evil");
  });

  test("the draft's name for it is taken too", async () => {
    await raw();
    fromHost(resource({ html: "x" }, "ui/sandbox-resource-ready"));
    expect(document.querySelector("iframe")).not.toBeNull();
  });

  test("P-11 the guest has the sandbox's own origin, or none", async () => {
    await raw();
    fromHost(resource({ html: "x" }));
    fromGuest(note(1), { origin: "https://sandbox.test" });
    expect(host.messages.at(-1)).toEqual(note(1));
    fromHost(note(2));
    expect(guest.posted.at(-1)?.target).toBe("https://sandbox.test");
  });

  test("P-11 a guest without an origin is posted to without one, and the host never so", async () => {
    await raw();
    fromHost(resource({ html: "x", sandbox: "allow-scripts" }));
    fromGuest(note(1), { origin: "null" });
    expect(host.posted.at(-1)).toMatchObject({ data: note(1), target: HOST });
    fromHost(note(2));
    expect(guest.posted.at(-1)?.target).toBe("*");
  });

  const { sandbox: wishes } = readJson<{
    sandbox: { asked: string; granted: string }[];
  }>("csp/frames.json");

  test.each(wishes)(
    "P-16 $asked is read as in Rust",
    async ({ asked, granted }) => {
      await raw();
      fromHost(resource({ html: "x", sandbox: asked }));
      const frame = document.querySelector("iframe");
      expect(frame?.getAttribute("sandbox")).toBe(granted);
    },
  );

  test("P-16 an override takes away and never adds", async () => {
    await raw();
    fromHost(
      resource({
        html: "x",
        sandbox: "allow-scripts allow-top-navigation allow-popups",
      }),
    );
    expect(document.querySelector("iframe")?.getAttribute("sandbox")).toBe(
      "allow-scripts",
    );
    fromGuest(note(1), { origin: "null" });
    expect(host.messages.at(-1)).toEqual(note(1));
    fromHost(note(2));
    expect(guest.posted.at(-1)?.target).toBe("*");
  });

  test.each([
    [{ camera: {}, clipboardWrite: {} }, undefined, "camera; clipboard-write"],
    [{ camera: {}, microphone: {} }, "microphone; geolocation", "microphone"],
    [{ "camera *; microphone": {}, usb: {} }, undefined, ""],
    [undefined, undefined, ""],
  ])(
    "P-05, ATK-25 permissions %j under %j",
    async (permissions, allow, expected) => {
      await run({ host: HOST, ...(allow && { allow }) });
      fromHost(resource({ html: "x", ...(permissions && { permissions }) }));
      expect(document.querySelector("iframe")?.allow).toBe(expected);
    },
  );

  const A =
    "default-src 'none'; script-src 'unsafe-inline' 'self'; style-src 'unsafe-inline' 'self'; connect-src 'none'; img-src data: 'self'; media-src data: 'self'; frame-src 'none'; object-src 'none'; base-uri 'self'; form-action 'none'";
  const B =
    "default-src 'none'; script-src 'unsafe-inline' 'self'; style-src 'unsafe-inline' 'self'; connect-src 'self'; img-src data: 'self'; font-src 'self'; media-src data: 'self'; frame-src 'none'; object-src 'none'; base-uri 'self'; form-action 'none'";
  const FULL =
    "default-src 'none'; script-src 'unsafe-inline' 'self' https://cdn.x.com; style-src 'unsafe-inline' 'self' https://cdn.x.com; connect-src 'self' https://api.x.com wss://rt.x.com; img-src data: 'self' https://cdn.x.com; font-src 'self' https://cdn.x.com; media-src data: 'self' https://cdn.x.com; frame-src https://www.youtube.com; object-src 'none'; base-uri https://cdn.x.com; form-action 'none'";

  test.each([
    ["absent", undefined, A],
    ["empty", {}, B],
    [
      "full",
      {
        connectDomains: ["https://api.x.com", "wss://rt.x.com"],
        resourceDomains: ["https://cdn.x.com"],
        frameDomains: ["https://www.youtube.com"],
        baseUriDomains: ["https://cdn.x.com"],
      },
      FULL,
    ],
    [
      "a bare host",
      { connectDomains: ["api.x.com"] },
      B.replace("connect-src 'self'", "connect-src 'self' https://api.x.com"),
    ],
    [
      "wildcard and port",
      { connectDomains: ["https://*.x.com:8443"] },
      B.replace(
        "connect-src 'self'",
        "connect-src 'self' https://*.x.com:8443",
      ),
    ],
    [
      "what does not parse",
      {
        connectDomains: [
          "*",
          "https://*",
          "https://a.com; script-src *",
          "https://a.com, *",
          "https://a.com\n*",
          "'unsafe-eval'",
          'https://a.com"><script>',
          "javascript://a.com",
          "data:",
          "https://user@a.com",
          "https://a.com\\evil",
          " https://a.com",
          "",
          7,
          null,
          ["https://a.com"],
        ],
        resourceDomains: "https://a.com",
      },
      B,
    ],
  ])("P-04, P-19 the policy for %s", async (_, csp, policy) => {
    await raw();
    fromHost(resource({ html: "x", ...(csp && { csp }) }));
    expect(policyIn(document.querySelector("iframe"))).toBe(policy);
  });

  describe("the shared sources (fixtures/csp)", () => {
    const { granted, refused, bare } = readJson<{
      granted: string[];
      refused: { entry: string }[];
      bare: { entry: string; reads?: string }[];
    }>("csp/sources.json");
    const granted_ = [...granted, ...bare.map(({ reads }) => reads)].join(" ");
    const bared = new Set(bare.map(({ entry }) => entry));

    /** What a document that declares this entry may connect to. */
    const connects = async (entry: string) => {
      // Granted, whatever is private among them: that is another rule.
      await raw({ private: granted_ });
      fromHost(resource({ html: "x", csp: { connectDomains: [entry] } }));
      const policy = policyIn(document.querySelector("iframe"));
      const [, sources] = /connect-src 'self'([^;]*);/.exec(policy ?? "")!;
      return sources?.trim();
    };

    test.each(granted)("%j is granted as it is", async (entry) => {
      expect(await connects(entry)).toBe(entry);
    });

    test.each(refused.filter(({ entry }) => !bared.has(entry)))(
      "H-31 $entry is refused",
      async ({ entry }) => {
        expect(await connects(entry)).toBe("");
      },
    );

    test.each(bare)("$entry without a scheme", async ({ entry, reads }) => {
      expect(await connects(entry)).toBe(reads ?? "");
    });

    test("a list is read up to its limit, and each entry once", async () => {
      const list = Array.from({ length: 100 }, (_, n) => `https://a${n}.test`);
      await raw();
      const csp = { connectDomains: [list[0], ...list] };
      fromHost(resource({ html: "x", csp }));
      const policy = policyIn(document.querySelector("iframe"));
      expect(policy).toContain(
        `connect-src 'self' ${list.slice(0, 63).join(" ")};`,
      );
    });
  });

  // Our own order of sources is another one, which means the same.
  const directives = (policy: string) =>
    policy
      .split("; ")
      .map((each) => each.split(" ").sort())
      .sort();

  test.each(
    readJson<
      {
        name: string;
        kind: string;
        declaration: object | null;
        header: string;
      }[]
    >("csp/golden.json").filter(
      (row) =>
        row.kind === "guest" &&
        !["fonts", "grants", "frameAncestors"].some((key) => key in row),
    ),
  )("P-04 $name", async ({ declaration, header }) => {
    await raw();
    fromHost(resource({ html: "x", ...(declaration && { csp: declaration }) }));
    const policy = policyIn(document.querySelector("iframe"));
    expect(directives(policy ?? "")).toEqual(directives(header));
  });
  const NEAR = {
    connectDomains: [
      "http://localhost:3000",
      "https://0x7f.1",
      "*.localhost",
      "http://localhost:3001",
      "https://*.com",
    ],
    resourceDomains: ["https://169.254.169.254", "http://[::1]"],
    frameDomains: ["https://router", "https://192.168.0.1:*"],
    baseUriDomains: ["https://nas.home.arpa/x"],
  };

  test.each([
    ["nothing", undefined, B],
    [
      "what is declared of it",
      "http://localhost:3001 http://localhost:3002",
      B.replace(
        "connect-src 'self'",
        "connect-src 'self' http://localhost:3001",
      ),
    ],
  ])(
    "no declaration alone reaches what is private; granted, it gives %s",
    async (_, granted, policy) => {
      await raw(granted && { private: granted });
      fromHost(resource({ html: "x", csp: NEAR }));
      expect(policyIn(document.querySelector("iframe"))).toBe(policy);
    },
  );
});
