// @vitest-environment node
/** Responses that are pulled, and the events in them, against an App that is a table of answers. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { initMcpFetch, initMcpHttp, type FetchHandle } from "transom/fetch";
import { openLines } from "transom/fetch/lines";

type Args = Record<string, unknown>;
const data = (structuredContent: Args) => ({ content: [], structuredContent });
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A backend whose response is these pieces; each is answered to a read of its own, and `undefined` never is. */
function pulled(pieces: (string | undefined | Args)[], headers: Args = {}) {
  const asked: Args[] = [];
  let offset = 0;
  const left = [...pieces];
  const app = {
    asked,
    getHostCapabilities: () => ({ serverTools: {} }),
    async callServerTool(
      { name, arguments: args }: Args,
      options?: { signal?: AbortSignal },
    ) {
      asked.push({ name, ...(args as Args) });
      if (name === "http_request")
        return data({
          status: 200,
          headers,
          bodyType: "stream",
          streamId: "s",
        });
      if (name === "http_stream_cancel") return data({});
      if (!left.length)
        return data({ offset, data: "", nextOffset: offset, done: true });
      const piece = left.shift();
      if (piece === undefined)
        return new Promise((_, reject) =>
          options!.signal!.addEventListener("abort", () =>
            reject(new Error("cancelled")),
          ),
        );
      if (typeof piece === "object") return data({ offset, ...piece });
      const from = offset;
      offset += Buffer.byteLength(piece);
      return data({
        offset: from,
        data: base64(piece),
        nextOffset: offset,
        done: false,
      });
    },
  };
  return app as typeof app & Parameters<typeof initMcpFetch>[0];
}

let handle: FetchHandle | undefined;
const install = (app: ReturnType<typeof pulled>) => {
  handle = initMcpFetch(app);
  return app;
};
const reads = ({ asked }: { asked: Args[] }) =>
  asked
    .filter(({ name }) => name === "http_stream_read")
    .map(({ offset }) => offset);
const cancelled = ({ asked }: { asked: Args[] }) =>
  asked.some(({ name }) => name === "http_stream_cancel");

afterEach(() => {
  handle?.restore();
  handle = undefined;
});

describe("streams", () => {
  test("STR-1 STR-12 a response that is a stream is read like any other", async () => {
    const app = install(pulled(["one ", "", "two ", "three"]));
    const response = await fetch("/x");
    expect(response.url).toBe("https://app.invalid/x");
    expect(await response.text()).toBe("one two three");
    expect(reads(app)).toEqual([0, 4, 4, 8, 13]);
    expect(app.asked[0]).toMatchObject({ stream: true });
  });

  test("STR-2 the reader sets the pace, one chunk ahead", async () => {
    const app = install(pulled(Array.from({ length: 100 }, () => "piece")));
    const reader = (await fetch("/x")).body!.getReader();
    await reader.read();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads(app).length).toBeLessThanOrEqual(4);
  });

  test("STR-7 tee, pipes and a reader that brings its own buffer", async () => {
    install(pulled(["käse ", "und wein"]));
    const [one, two] = (await fetch("/x")).body!.tee();
    const piped = one.pipeThrough(
      new TextDecoderStream(),
    ) as unknown as AsyncIterable<string>;
    let text = "";
    for await (const piece of piped) text += piece;
    expect(text).toBe("käse und wein");
    expect(await new Response(two).text()).toBe(text);
    handle!.restore();
    install(pulled(["abcdef"]));
    const byob = (await fetch("/x")).body!.getReader({ mode: "byob" });
    expect(
      Buffer.from((await byob.read(new Uint8Array(4))).value!).toString(),
    ).toBe("abcd");
    expect(
      Buffer.from((await byob.read(new Uint8Array(4))).value!).toString(),
    ).toBe("ef");
    expect((await byob.read(new Uint8Array(4))).done).toBe(true);
  });

  test("ERR-6 STR-5 an abort after the headers ends body and stream, with its own reason", async () => {
    const app = install(pulled(["first", undefined]));
    const controller = new AbortController();
    const { body } = await fetch("/x", { signal: controller.signal });
    const reader = body!.getReader();
    await reader.read();
    const next = reader.read();
    controller.abort("enough");
    await expect(next).rejects.toBe("enough");
    expect(cancelled(app)).toBe(true);
  });

  test.each(["reader", "body"])(
    "STR-5 what is cancelled by its %s ends at the server",
    async (by) => {
      const app = install(pulled(["first", undefined]));
      const { body } = await fetch("/x");
      if (by === "body") await body!.cancel();
      else {
        const reader = body!.getReader();
        await reader.read();
        await reader.cancel();
      }
      expect(cancelled(app)).toBe(true);
    },
  );

  test("STR-6 a backend that dies is a TypeError, after what came", async () => {
    install(
      pulled([
        "came",
        {
          data: base64("too"),
          nextOffset: 7,
          done: true,
          error: { code: "network", message: "gone" },
        },
      ]),
    );
    const reader = (await fetch("/x")).body!.getReader();
    const read = async () =>
      Buffer.from((await reader.read()).value!).toString();
    expect(await read()).toBe("came");
    const rest = await reader
      .read()
      .then(
        async ({ value }) => (
          expect(Buffer.from(value!).toString()).toBe("too"),
          reader.read()
        ),
      )
      .catch((error: unknown) => error);
    expect(rest).toBeInstanceOf(TypeError);
  });

  // STR-11, ATK-54: what does not go on where it was is no part of it.
  test.each<[string, Args]>([
    [
      "an offset that is behind",
      { offset: 0, data: base64("x"), nextOffset: 1 },
    ],
    ["a gap", { offset: 6, data: base64("x"), nextOffset: 7 }],
    [
      "a length that is not its own",
      { offset: 5, data: base64("x"), nextOffset: 99 },
    ],
    ["no offset", { offset: undefined, data: base64("x"), nextOffset: 6 }],
  ])("%s ends the stream", async (_, answer) => {
    install(pulled(["first", answer]));
    await expect((await fetch("/x")).text()).rejects.toThrow(TypeError);
  });
});

describe("lines", () => {
  // SSE-2, SSE-7, ATK-57.
  test.each<[string, string[], unknown[]]>([
    ["one event", ["data: hello\n\n"], ["message hello "]],
    [
      "every line end",
      ["data: a\r\rdata: b\r\n\r\ndata: c\n\n"],
      ["message a ", "message b ", "message c "],
    ],
    [
      "line ends cut in two",
      ["data: a\r", "\n\r", "\ndata: b\r", "\r", "data: c\n\n"],
      ["message a ", "message b ", "message c "],
    ],
    ["a mark in front", ["\ufeffdata: a\n\n"], ["message a "]],
    ["several lines", ["data: a\ndata\ndata:  b\n\n"], ["message a\n\n b "]],
    [
      "comments and unknown fields",
      [": ping\nfoo: bar\ndata: a\n\n"],
      ["message a "],
    ],
    [
      "a name, which counts once",
      ["event: tick\ndata: a\n\ndata: b\n\n"],
      ["tick a ", "message b "],
    ],
    [
      "no data, no event",
      ["event: tick\nid: 7\n\ndata: a\n\n"],
      ["message a 7"],
    ],
    [
      "an id stays until it is emptied",
      ["id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"],
      ["message a 1", "message b 1", "message c "],
    ],
    [
      "an id with NUL is none",
      ["id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n"],
      ["message a 1", "message b 1"],
    ],
    ["a block that does not end", ["data: a\n\ndata: b\n"], ["message a "]],
    ["letters cut in two", ["data: k", "ä", "se\n\n"], ["message käse "]],
    [
      "a name that is a state's",
      ["event: error\ndata: a\n\nevent: open\ndata: b\n\n"],
      ["error a ", "open b "],
    ],
  ])("%s", (_, pieces, expected) => {
    const told = (pieces: Uint8Array[]) => {
      const lines = openLines();
      return pieces
        .flatMap((piece) => lines.push(piece))
        .map(({ type, data, lastEventId }) => `${type} ${data} ${lastEventId}`);
    };
    expect(told(pieces.map((piece) => Buffer.from(piece)))).toEqual(expected);
    // However the bytes are cut.
    expect(
      told(
        [...Buffer.from(pieces.join(""))].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(expected);
  });

  test("SSE-2 a time to wait is digits and nothing else", () => {
    const lines = openLines();
    lines.push(Buffer.from("retry: 1e3\nretry: -1\nretry:\n"));
    expect(lines.retry).toBe(undefined);
    lines.push(Buffer.from("retry: 250\nretry: 2.5\n"));
    expect(lines.retry).toBe(250);
  });

  test("ATK-57 a line that never ends is given up", () => {
    const lines = openLines();
    const piece = Buffer.alloc(1 << 20, "x");
    expect(() => {
      for (let at = 0; at < 20; at++) lines.push(piece);
    }).toThrow(RangeError);
  });
});

describe("EventSource", () => {
  const events = { "content-type": "text/event-stream" };
  const open = (app: ReturnType<typeof pulled>) => {
    handle = initMcpHttp(app);
    expect(initMcpHttp(app)).toBe(handle);
    return new EventSource("/events");
  };

  // SSE-3, SSE-5.
  test("it tells what comes, and comes back with the last id", async () => {
    const app = pulled(["retry: 1\nid: 7\nevent: tick\ndata: a\n\n"], events);
    const source = open(app);
    expect([
      source.readyState,
      source.url,
      source.withCredentials,
      source.CLOSED,
      EventSource.OPEN,
    ]).toEqual([0, "https://app.invalid/events", false, 2, 1]);
    const told: unknown[] = [];
    source.onopen = () => told.push(["open", source.readyState]);
    source.onerror = () => told.push(["error", source.readyState]);
    source.addEventListener("tick", ({ data, lastEventId, origin }) =>
      told.push([data, lastEventId, origin]),
    );
    const asked = () => app.asked.filter(({ name }) => name === "http_request");
    await vi.waitFor(() => expect(asked().length).toBeGreaterThan(1));
    source.close();
    expect(told.slice(0, 3)).toEqual([
      ["open", 1],
      ["a", "7", "https://app.invalid"],
      ["error", 0],
    ]);
    expect(asked()[0]).toMatchObject({
      headers: { accept: "text/event-stream" },
      cache: "no-store",
    });
    expect(asked()[1]).toMatchObject({ headers: { "last-event-id": "7" } });
    expect(source.readyState).toBe(2);
  });

  // SSE-4.
  test.each<[string, number, Args]>([
    ["another status", 204, events],
    ["an error", 500, events],
    ["another type", 200, { "content-type": "text/plain" }],
    ["no type", 200, {}],
  ])("%s fails for good", async (_, status, headers) => {
    const app = pulled([]);
    vi.spyOn(app, "callServerTool").mockImplementation(
      async () =>
        data({ status, headers, body: "", bodyType: "text" }) as never,
    );
    const source = open(app);
    await new Promise((resolve) => (source.onerror = resolve));
    expect(source.readyState).toBe(2);
    expect(app.callServerTool).toHaveBeenCalledTimes(1);
  });

  test("SSE-3 an address that is none is a SyntaxError", () => {
    handle = initMcpHttp(pulled([]));
    expect(() => new EventSource("https://")).toThrow(
      expect.objectContaining({ name: "SyntaxError" }) as Error,
    );
  });

  test("INS-8 the classes are given back", () => {
    const before = [globalThis.EventSource, globalThis.XMLHttpRequest];
    handle = initMcpHttp(pulled([]));
    expect(globalThis.EventSource).not.toBe(before[0]);
    handle.restore();
    expect([globalThis.EventSource, globalThis.XMLHttpRequest]).toEqual(before);
  });
});
