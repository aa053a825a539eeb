/** What is read from a stranger and what is written to one: the eight messages in both dialects, and their payload. */
import { afterEach, describe, expect, test } from "vitest";
import {
  announcement,
  completion,
  fromInner,
  fromOuter,
  parse,
  speaks,
} from "transom/frames/messages";
import { readPayload } from "transom/frames/payload";
import {
  ACCEPTED,
  COMPLETE,
  EIGHT,
  HELLO,
  PING,
  REPLY,
  SETUP_HELLO,
  SETUP_REPLY,
  SETUP_REQUIRED,
} from "./frames-world.js";

const both = (data: unknown) =>
  parse(data, fromInner) ?? parse(data, fromOuter);
const message = (data: unknown) => {
  const parsed = both(data);
  return parsed && "message" in parsed ? parsed.message : undefined;
};
const reason = (data: unknown) => {
  const parsed = both(data);
  return parsed && "bad" in parsed ? parsed.bad.message : undefined;
};
const warning = (data: unknown) => {
  const parsed = both(data);
  return parsed && "message" in parsed ? parsed.warning : undefined;
};

const cyclic: Record<string, unknown> = { type: "MCP_MESSAGE" };
cyclic.payload = cyclic;

afterEach(() => {
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

describe("guards", () => {
  test("all eight are read", () => {
    for (const each of EIGHT) expect(message(each), each.type).toBeDefined();
  });

  test("each side reads only what the other may say", () => {
    for (const each of [SETUP_REPLY, REPLY])
      expect(parse(each, fromInner)).toBeUndefined();
    for (const each of [SETUP_HELLO, COMPLETE, HELLO, ACCEPTED, SETUP_REQUIRED])
      expect(parse(each, fromOuter)).toBeUndefined();
  });

  test.each([
    ["null", null],
    ["nothing", undefined],
    ["text", "MCP_MESSAGE"],
    ["a number", 5],
    ["a date", new Date(0)],
    ["a map", new Map([["type", "MCP_MESSAGE"]])],
    ["a buffer", new ArrayBuffer(8)],
    ["a list", [HELLO]],
    ["a type that is a number", { type: 5 }],
    ["a type that is an object", { type: {} }],
    ["a type that is a list", { type: ["MCP_MESSAGE"] }],
    [
      "a type that prints like one",
      { type: { toString: (): string => "MCP_MESSAGE" } },
    ],
    ["a very long type", { type: "MCP_".repeat(250_000) }],
    ["a name of ours that is none", { type: "MCP_SETUP_PARTY" }],
    ["an inherited type", Object.create({ type: "MCP_MESSAGE" })],
    ["a type that objects have", { type: "constructor" }],
    ["the type __proto__", { type: "__proto__" }],
  ])(
    "MSG-0a MSG-0c ATK-28 defect 12: %s is somebody else's, and nothing throws",
    (_, data) => {
      expect(both(data)).toBeUndefined();
    },
  );

  test.each([
    [
      "MSG-1e no requiresVisibleSetup",
      { ...SETUP_HELLO, requiresVisibleSetup: undefined },
    ],
    [
      "MSG-1e another type of it",
      { ...SETUP_HELLO, requiresVisibleSetup: "yes" },
    ],
    ["no version", { type: "MCP_SETUP_HANDSHAKE", requiresVisibleSetup: true }],
    [
      "a range with one end",
      {
        type: "MCP_SETUP_HANDSHAKE",
        minProtocolVersion: "1.0",
        requiresVisibleSetup: true,
      },
    ],
    [
      "ATK-23 a thousand permissions",
      { ...SETUP_HELLO, requestedPermissions: Array(1000).fill({}) },
    ],
    [
      "permissions that are no list",
      { ...SETUP_HELLO, requestedPermissions: { length: 1 } },
    ],
    ["MSG-2d an empty session", { ...REPLY, sessionId: "" }],
    ["MSG-2d a long session", { ...REPLY, sessionId: "a".repeat(129) }],
    ["MSG-2d other letters in it", { ...REPLY, sessionId: "a/b" }],
    [
      "ATK-16 a session that is an object",
      { ...ACCEPTED, sessionId: { toString: (): string => "x" } },
    ],
    ["MSG-3b no title", { ...COMPLETE, serverTitle: undefined }],
    ["MSG-3b a title of blanks", { ...COMPLETE, serverTitle: " \u202e\n " }],
    ["MSG-3b no visibility", { ...COMPLETE, transportVisibility: undefined }],
    [
      "MSG-3b an unknown visibility",
      { ...COMPLETE, transportVisibility: { requirement: "always" } },
    ],
    ["an unknown status", { ...COMPLETE, status: "maybe" }],
    [
      "MSG-3c an error without words",
      { ...COMPLETE, status: "error", error: { code: "TIMEOUT" } },
    ],
    ["MSG-7a an unknown reason", { ...SETUP_REQUIRED, reason: "BORED" }],
    ["MSG-7a no words", { ...SETUP_REQUIRED, message: undefined }],
    ["MSG-7a canContinue as text", { ...SETUP_REQUIRED, canContinue: "no" }],
    ["ATK-28 no payload", { type: "MCP_MESSAGE" }],
  ])("MSG-0b %s is refused, with the reason", (_, data) => {
    expect(message(data)).toBeUndefined();
    expect(reason(data)).toMatch(/^MCP_/);
  });

  test.each([
    "1",
    "1.0.0",
    "01.0",
    "1.0 ",
    "9e9",
    "1.",
    ".0",
    "",
    ["1.0"],
    { toString: (): string => "1.0" },
    1,
    null,
  ])("ATK-20 the version %j is refused", (version) => {
    expect(reason({ ...HELLO, protocolVersion: version })).toMatch("version");
    expect(reason({ ...REPLY, protocolVersion: version })).toMatch("version");
  });

  test("MSG-0b other members are ignored, and ATK-9 claims of origin with them", () => {
    const data = {
      ...REPLY,
      origin: "https://trusted.test",
      source: "parent",
      extra: 1,
    };
    expect(message(data)).toEqual(message(REPLY));
  });

  test("MSG-0e ATK-26 an own __proto__ is left behind", () => {
    const data = JSON.parse(
      '{"type":"MCP_TRANSPORT_ACCEPTED","sessionId":"s","__proto__":{"polluted":1}}',
    ) as object;
    const read = message(data)!;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(
      (read as unknown as Record<string, unknown>).polluted,
    ).toBeUndefined();
    const payload = JSON.parse(
      '{"type":"MCP_MESSAGE","payload":{"jsonrpc":"2.0","method":"m","params":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":1}}}',
    ) as object;
    expect(message(payload)).toMatchObject({ payload: { method: "m" } });
  });
});

describe("dialects", () => {
  const hello = {
    type: "MCP_SETUP_HANDSHAKE",
    minProtocolVersion: "1.0",
    maxProtocolVersion: "1.2",
    requiresVisibleSetup: true,
    requestedPermissions: [
      {
        name: "camera",
        phase: ["setup", "transport"],
        required: false,
        purpose: "to see",
      },
    ],
  };
  const complete = {
    type: "MCP_SETUP_COMPLETE",
    status: "success",
    displayName: "Pi",
    transportVisibility: {
      requirement: "optional",
      description: "see the dots",
    },
  };

  test("DIA-1 what is written has the names of both", () => {
    expect(announcement("setup", true, [])).toEqual({
      type: "MCP_SETUP_HANDSHAKE",
      protocolVersion: "1.0",
      minProtocolVersion: "1.0",
      maxProtocolVersion: "1.0",
      requiresVisibleSetup: true,
      requestedPermissions: [],
    });
    expect(
      completion({
        status: "success",
        title: "Pi",
        visibility: { requirement: "optional", description: "d" },
        ephemeralMessage: "done",
      }),
    ).toEqual({
      type: "MCP_SETUP_COMPLETE",
      status: "success",
      serverTitle: "Pi",
      displayName: "Pi",
      ephemeralMessage: "done",
      transportVisibility: {
        requirement: "optional",
        optionalMessage: "d",
        description: "d",
      },
    });
    // Either dialect alone reads what was written.
    const failed = completion({
      status: "error",
      code: "AUTH_FAILED",
      message: "no",
    });
    expect(message(failed)).toMatchObject({
      outcome: { status: "error", code: "AUTH_FAILED", message: "no" },
    });
  });

  test("MSG-1a MSG-4a the announcements hold nothing else", () => {
    expect(announcement("transport", true, [])).toEqual(HELLO);
  });

  test("DIA-2 either name is read", () => {
    expect(message(hello)).toMatchObject({
      versions: ["1.0", "1.2"],
      permissions: [
        {
          name: "camera",
          phase: ["setup", "transport"],
          required: false,
          purpose: "to see",
        },
      ],
    });
    expect(message(SETUP_HELLO)).toMatchObject({
      versions: ["1.0", "1.0"],
      permissions: [],
    });
    const outcome = {
      title: "Pi",
      visibility: { requirement: "optional", description: "see the dots" },
    };
    expect(message(complete)).toMatchObject({ outcome });
    expect(
      message({
        ...COMPLETE,
        transportVisibility: {
          requirement: "optional",
          optionalMessage: "see the dots",
        },
      }),
    ).toMatchObject({ outcome });
  });

  test("DIA-2 where they differ, the older one wins with a warning", () => {
    const data = { ...COMPLETE, displayName: "Tau" };
    expect(message(data)).toMatchObject({ outcome: { title: "Pi" } });
    expect(warning(data)).toMatch("two ways");
    const versions = { ...hello, protocolVersion: "1.0" };
    expect(message(versions)).toMatchObject({ versions: ["1.0", "1.0"] });
    expect(warning(versions)).toMatch("differ");
    expect(warning(COMPLETE)).toBeUndefined();
  });

  test("DIA-4 an error that is a string, and a permission of another shape", () => {
    expect(
      message({ ...COMPLETE, status: "error", error: "it broke" }),
    ).toMatchObject({
      outcome: { status: "error", code: "CONFIG_ERROR", message: "it broke" },
    });
    const data = {
      ...SETUP_HELLO,
      requestedPermissions: [
        { permission: "camera", reason: "to see", required: true },
      ],
    };
    expect(message(data)).toMatchObject({ permissions: [] });
    expect(warning(data)).toMatch("unknown shape");
  });

  test("MSG-3c an unknown code becomes CONFIG_ERROR, and the log has it", () => {
    const data = {
      ...COMPLETE,
      status: "error",
      error: { code: "MOON", message: "phase" },
    };
    expect(message(data)).toMatchObject({
      outcome: { code: "CONFIG_ERROR", message: "phase" },
    });
    expect(warning(data)).toMatch("MOON");
  });

  test.each([
    ["1.0", "1.0", true],
    ["1.0", "2.0", true],
    ["0.9", "1.0", true],
    ["0.1", "0.9", false],
    ["1.1", "9.0", false],
    ["2.0", "1.0", false],
  ])("a page that speaks %s to %s", (min, max, ours) => {
    expect(speaks([min, max])).toBe(ours);
  });
});

describe("ATK-22 a stranger's words", () => {
  const titled = (serverTitle: string) => {
    const read = message({ ...COMPLETE, serverTitle });
    return (read as { outcome: { title: string } }).outcome.title;
  };
  test("are cut, and stay in their line", () => {
    expect(titled("  Your\u202e bank\u0000\n ")).toBe("Your  bank");
    expect(titled("x".repeat(1_000_000))).toHaveLength(80);
    expect(titled("<img src=x onerror=alert(1)>")).toBe(
      "<img src=x onerror=alert(1)>",
    );
  });
  test("are capped wherever they stand", () => {
    const long = "y".repeat(100_000);
    const read = message({
      ...COMPLETE,
      ephemeralMessage: long,
      transportVisibility: { requirement: "optional", optionalMessage: long },
    }) as {
      outcome: {
        ephemeralMessage: string;
        visibility: { description: string };
      };
    };
    expect(read.outcome.ephemeralMessage).toHaveLength(300);
    expect(read.outcome.visibility.description).toHaveLength(300);
  });
});

describe("payload", () => {
  const take = (payload: unknown, limit = 4 * 1024 * 1024) =>
    readPayload(payload, limit).payload;
  const request = (params: unknown) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "m",
    params,
  });

  test.each([
    ["a request", { jsonrpc: "2.0", id: 1, method: "ping" }],
    ["a request with params", request({ a: [1, null, true, "x", { b: {} }] })],
    ["a notification", { jsonrpc: "2.0", method: "n", params: {} }],
    ["a result", { jsonrpc: "2.0", id: "a", result: {} }],
    [
      "an error",
      {
        jsonrpc: "2.0",
        id: 0,
        error: { code: -32603, message: "m", data: [1] },
      },
    ],
    [
      "an error about nothing",
      { jsonrpc: "2.0", error: { code: 1, message: "m" } },
    ],
    [
      "MSG-8e a large id",
      { jsonrpc: "2.0", id: Number.MAX_SAFE_INTEGER, method: "m" },
    ],
    ["MSG-8e an empty id", { jsonrpc: "2.0", id: "", method: "m" }],
    ["MSG-8e zero", { jsonrpc: "2.0", id: 0, method: "m" }],
    [
      "ARC-4 a method of any era",
      {
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: { _meta: {} },
      },
    ],
    [
      "ATK-32 a method named like a member",
      { jsonrpc: "2.0", id: 1, method: "__proto__" },
    ],
  ])("%s passes as it is", (_, payload) =>
    expect(take(payload)).toEqual(payload),
  );

  test("a member that is undefined is no member", () => {
    expect(
      Object.keys(
        take({
          jsonrpc: "2.0",
          id: 1,
          method: "m",
          params: undefined,
          result: undefined,
        }),
      ),
    ).toEqual(["jsonrpc", "id", "method"]);
    expect(take(request({ a: undefined }))).toBeDefined();
  });

  test.each([
    ["null", null],
    ["text", "{}"],
    ["MSG-8d a batch", [{ jsonrpc: "2.0", method: "m" }]],
    ["no version", { id: 1, method: "m" }],
    ["another version", { jsonrpc: "1.0", id: 1, method: "m" }],
    ["MSG-8a another member", { jsonrpc: "2.0", id: 1, method: "m", extra: 1 }],
    ["MSG-8a a null id", { jsonrpc: "2.0", id: null, method: "m" }],
    ["a fractional id", { jsonrpc: "2.0", id: 1.5, method: "m" }],
    [
      "params that are a list",
      { jsonrpc: "2.0", id: 1, method: "m", params: [] },
    ],
    [
      "ATK-31 a result beside an error",
      { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "" } },
    ],
    ["a result for nobody", { jsonrpc: "2.0", result: {} }],
    ["a result that is text", { jsonrpc: "2.0", id: 1, result: "x" }],
    ["an error that is text", { jsonrpc: "2.0", id: 1, error: "x" }],
    ["neither", { jsonrpc: "2.0", id: 1 }],
  ])("MSG-8a %s is refused", (_, payload) => {
    expect(() => take(payload)).toThrow(
      expect.objectContaining({ code: "BAD_MESSAGE" }),
    );
  });

  const deep: Record<string, unknown> = {};
  let end = deep;
  for (let i = 0; i < 10_000; i++) end = end.a = {};
  const holes: unknown[] = [];
  holes.length = 2 ** 32 - 1;
  test.each([
    ["a bigint", 1n, "NOT_JSON"],
    ["a date", new Date(0), "NOT_JSON"],
    ["a map", new Map(), "NOT_JSON"],
    ["bytes", new Uint8Array(4), "NOT_JSON"],
    ["a regular expression", /x/, "NOT_JSON"],
    ["NaN", NaN, "NOT_JSON"],
    ["an infinity", -Infinity, "NOT_JSON"],
    ["an error", new Error("x"), "NOT_JSON"],
    ["a cycle", cyclic, "NOT_JSON"],
    ["ATK-27 ten thousand levels", deep, "NOT_JSON"],
    ["a hole", [1, , 3], "NOT_JSON"], // eslint-disable-line
    ["ATK-27 four billion holes", holes, "TOO_LARGE"],
    ["ATK-27 a long string", "x".repeat(5 * 1024 * 1024), "TOO_LARGE"],
  ])("MSG-8b %s is refused", (_, value, code) => {
    expect(() => take(request({ value }))).toThrow(
      expect.objectContaining({ code }),
    );
  });

  test("ATK-27 a structure that unfolds to more than fits is refused", () => {
    let bomb: unknown = "x";
    for (let i = 0; i < 100; i++) bomb = { a: bomb, b: bomb };
    expect(() => take(request({ bomb }))).toThrow(
      expect.objectContaining({ code: "TOO_LARGE" }),
    );
  });

  test("MSG-8f what cannot be cloned gets the browser's own error", () => {
    expect(() => take(request({ f: () => {} }))).toThrow(
      expect.objectContaining({ name: "DataCloneError" }),
    );
  });

  test("MSG-8c the limit is in bytes of JSON text, to the byte", () => {
    for (const text of [
      "plain",
      '"'.repeat(50),
      "\u0001".repeat(20),
      "ü€😀".repeat(10),
    ]) {
      const payload = request({ text });
      const bytes = new TextEncoder().encode(JSON.stringify(payload)).length;
      expect(take(payload, bytes)).toEqual(payload);
      expect(() => take(payload, bytes - 1)).toThrow(
        expect.objectContaining({ code: "TOO_LARGE" }),
      );
    }
    expect(message({ ...PING })).toBeDefined();
  });
});
