// @vitest-environment node
/** `fetch()` over tool calls, against an App that is a table of answers. Node's own Request and Response are the real ones. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  initMcpFetch,
  type FetchHandle,
  type FetchOptions,
} from "transom/fetch";

type Args = Record<string, unknown>;
type Answer = Record<string, unknown>;

/** An App that answers each call by a function, and remembers what it was asked. */
function fakeApp(answer: (args: Args, signal: AbortSignal) => unknown = ok) {
  const asked: Args[] = [];
  return {
    asked,
    capabilities: { serverTools: {} } as object | undefined,
    getHostCapabilities() {
      return this.capabilities;
    },
    async callServerTool(params: Args, options?: { signal?: AbortSignal }) {
      asked.push(params.arguments as Args);
      return (await answer(
        params.arguments as Args,
        options!.signal!,
      )) as never;
    },
  };
}

const data = (structuredContent: Answer) => ({
  content: [],
  structuredContent,
});
const ok = () => data({ status: 200, headers: {}, body: "", bodyType: "text" });
const failing = (error: Answer) => ({ ...data({ error }), isError: true });

let handle: FetchHandle | undefined;
const native = globalThis.fetch;
const install = (app = fakeApp(), options: FetchOptions = {}) => {
  handle = initMcpFetch(app, { patience: 50, ...options });
  return app;
};
const answering = (answer: Answer, options?: FetchOptions) =>
  install(
    fakeApp(() =>
      data({ status: 200, headers: {}, bodyType: "text", body: "", ...answer }),
    ),
    options,
  );
const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it resolved"),
    (error) => error as TypeError & { cause: Args },
  );

beforeEach(() =>
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response("native")),
  ),
);
afterEach(() => {
  handle?.restore();
  handle = undefined;
  vi.unstubAllGlobals();
});

describe("requests", () => {
  // BOD-1, BOD-2, BOD-3, REQ-3, DEF-11.
  test.each<[string, RequestInit, Answer, string | null]>([
    ["nothing", {}, {}, null],
    [
      "text",
      { body: "käse" },
      { bodyType: "text", body: "käse" },
      "text/plain;charset=UTF-8",
    ],
    [
      "JSON as it is written",
      {
        body: '{ "n": 1.0, "n":2 }',
        headers: { "content-type": "application/json" },
      },
      { bodyType: "text", body: '{ "n": 1.0, "n":2 }' },
      "application/json",
    ],
    [
      "half a surrogate pair",
      { body: "a\ud800b" },
      { bodyType: "text", body: "a\ufffdb" },
      "text/plain;charset=UTF-8",
    ],
    [
      "a byte order mark",
      { body: "\ufeffx" },
      { bodyType: "text", body: "\ufeffx" },
      "text/plain;charset=UTF-8",
    ],
    [
      "an empty text",
      { body: "" },
      { bodyType: "text", body: "" },
      "text/plain;charset=UTF-8",
    ],
    [
      "a query",
      {
        body: new URLSearchParams([
          ["a", "1 2"],
          ["a", "ä"],
        ]),
      },
      { bodyType: "urlEncoded", body: "a=1+2&a=%C3%A4" },
      "application/x-www-form-urlencoded;charset=UTF-8",
    ],
    [
      "a buffer",
      { body: new Uint8Array([0, 255]).buffer },
      { bodyType: "base64", body: "AP8=" },
      null,
    ],
    [
      "a view of a buffer",
      { body: new Uint8Array([9, 0, 255, 9]).subarray(1, 3) },
      { bodyType: "base64", body: "AP8=" },
      null,
    ],
    [
      "a blob",
      { body: new Blob(["hi"], { type: "image/png" }) },
      { bodyType: "base64", body: "aGk=" },
      "image/png",
    ],
    [
      "a stream",
      { body: new Blob(["hi"]).stream(), duplex: "half" } as RequestInit,
      { bodyType: "base64", body: "aGk=" },
      null,
    ],
  ])(
    "a body that is %s arrives byte for byte",
    async (_, init, expected, type) => {
      const { asked } = install();
      await fetch("/api", { method: "POST", ...init });
      const { headers, bodyType, body } = asked[0] as {
        headers: Args;
      } & Answer;
      expect({ ...(bodyType !== undefined && { bodyType, body }) }).toEqual(
        expected,
      );
      expect(headers["content-type"]?.toString().toLowerCase() ?? null).toBe(
        type?.toLowerCase() ?? null,
      );
    },
  );

  // BOD-4.
  test("a form keeps order, doubles and files, as it was at the call", async () => {
    const { asked } = install();
    const form = new FormData();
    form.append("a", "1");
    form.append("a", "2");
    form.append(
      "f",
      new File([new Uint8Array([0, 255])], "x.bin", { type: "image/png" }),
    );
    form.append("e", new File([], "empty"));
    const sent = fetch("/api", { method: "POST", body: form });
    form.append("late", "no");
    await sent;
    expect(asked[0]).toMatchObject({
      bodyType: "formData",
      body: [
        { name: "a", value: "1" },
        { name: "a", value: "2" },
        {
          name: "f",
          filename: "x.bin",
          contentType: "image/png",
          data: "AP8=",
        },
        { name: "e", filename: "empty", data: "" },
      ],
    });
  });

  // REQ-7: every way to name a request.
  test.each<[string, () => [RequestInfo | URL, RequestInit?], Answer]>([
    [
      "a path",
      () => ["/a?x=1&y=%2F#f"],
      { method: "GET", url: "/a?x=1&y=%2F" },
    ],
    ["a relative path", () => ["a/b"], { url: "/a/b" }],
    ["a URL", () => [new URL("https://app.invalid/u")], { url: "/u" }],
    [
      "something that writes itself",
      () => [{ toString: () => "/s" } as unknown as string],
      { url: "/s" },
    ],
    [
      "a Request",
      () => [
        new Request("https://app.invalid/r", {
          method: "PUT",
          headers: { "x-a": "1" },
        }),
      ],
      { method: "PUT", url: "/r", headers: { "x-a": "1" } },
    ],
    [
      "a Request that is overruled",
      () => [
        new Request("https://app.invalid/r", { method: "PUT" }),
        { method: "delete" },
      ],
      { method: "DELETE", url: "/r" },
    ],
    [
      "a method in small letters",
      () => ["/m", { method: "patch" }],
      { method: "patch" },
    ],
    [
      "its options",
      () => [
        "/o",
        { redirect: "manual", cache: "no-store", credentials: "omit" },
      ],
      { redirect: "manual", cache: "no-store", credentials: "omit" },
    ],
    [
      "joined headers",
      () => [
        "/h",
        {
          headers: [
            ["X-A", "1"],
            ["x-a", "2"],
          ],
        },
      ],
      { headers: { "x-a": "1, 2" } },
    ],
  ])("%s names a request", async (_, make, expected) => {
    const { asked } = install();
    await fetch(...make());
    expect(asked[0]).toMatchObject(expected);
  });

  // REQ-4, REQ-5, REQ-6, BOD-8: what a browser refuses is refused as it refuses it, and nobody is asked.
  test.each<[string, () => [RequestInfo | URL, RequestInit?]]>([
    ["a body with GET", () => ["/x", { body: "x" }]],
    ["CONNECT", () => ["/x", { method: "CONNECT" }]],
    ["trace", () => ["/x", { method: "trace" }]],
    ["a user in the address", () => ["https://me:pw@app.invalid/x"]],
    ["a mode that is the browser's own", () => ["/x", { mode: "navigate" }]],
    [
      "a method that no-cors does not have",
      () => ["/x", { mode: "no-cors", method: "PUT" }],
    ],
    [
      "only-if-cached from elsewhere",
      () => ["/x", { cache: "only-if-cached" }],
    ],
    [
      "a stream without duplex",
      () => ["/x", { method: "POST", body: new Blob(["x"]).stream() }],
    ],
    ["a header that is none", () => ["/x", { headers: { "a b": "c" } }]],
    ["half a line in a header", () => ["/x", { headers: { a: "b\r\nc" } }]],
  ])("%s is a TypeError", async (_, make) => {
    const { asked } = install();
    await expect(fetch(...make())).rejects.toThrow(TypeError);
    expect(asked).toEqual([]);
  });

  test("BOD-8 a Request whose body is used is a TypeError", async () => {
    const { asked } = install();
    const used = new Request("https://app.invalid/x", {
      method: "POST",
      body: "x",
    });
    await used.text();
    await expect(fetch(used)).rejects.toThrow(TypeError);
    expect(asked).toEqual([]);
  });

  test("BOD-7 a stream that fails rejects with its own error, and nobody is asked", async () => {
    const { asked } = install();
    const wrong = new Error("torn");
    const body = new ReadableStream({
      start: (controller) => controller.error(wrong),
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    expect(await rejection(fetch("/x", init))).toBe(wrong);
    expect(asked).toEqual([]);
  });
});

describe("responses", () => {
  // RES-7, DEF-10.
  test("a response says where it came from, and so does its clone", async () => {
    answering({
      url: "/final?x=1",
      redirected: true,
      body: "hi",
      statusText: "Fine",
      headers: { "x-a": "1" },
    });
    const response = await fetch("/first");
    for (const each of [response, response.clone(), response.clone().clone()]) {
      expect(each).toBeInstanceOf(Response);
      expect([each.url, each.redirected, each.type]).toEqual([
        "https://app.invalid/final?x=1",
        true,
        "basic",
      ]);
      expect([
        each.status,
        each.ok,
        each.statusText,
        each.headers.get("x-a"),
      ]).toEqual([200, true, "Fine", "1"]);
      expect(await each.text()).toBe("hi");
    }
    expect(response.bodyUsed).toBe(true);
  });

  // RES-8, RES-9, RES-15.
  test.each<[string, Answer, number[]]>([
    ["empty", { body: "" }, []],
    ["a zero", { body: "0" }, [48]],
    ["null as text", { body: "null" }, [110, 117, 108, 108]],
    ["with NUL bytes", { body: "a\0b" }, [97, 0, 98]],
    ["no bytes in base64", { body: "", bodyType: "base64" }, []],
    ["bytes", { body: "AP8=", bodyType: "base64" }, [0, 255]],
    [
      "JSON of another server",
      { body: { a: 1 }, bodyType: "json" },
      [...'{"a":1}'].map((c) => c.charCodeAt(0)),
    ],
    ["absent", { body: null, bodyType: "none" }, []],
  ])("a body that is %s", async (_, answer, expected) => {
    answering(answer);
    const response = await fetch("/x");
    expect(response.headers.get("content-type")).toBe(null);
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual(expected);
  });

  test("RES-8 every way to read a body", async () => {
    const form =
      '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n';
    answering({
      body: btoa(form),
      bodyType: "base64",
      headers: { "content-type": "multipart/form-data; boundary=b" },
    });
    const get = () => fetch("/x");
    expect((await (await get()).formData()).get("a")).toBe("1");
    expect((await (await get()).blob()).type).toMatch(/^multipart\/form-data/);
    expect(await (await get()).text()).toBe(form);
    const [one, two] = (await get()).body!.tee();
    expect(await new Response(one).text()).toBe(await new Response(two).text());
    handle!.restore();
    answering({ body: "77u/aGk=", bodyType: "base64" });
    expect(await (await fetch("/x")).text()).toBe("hi");
    await expect((await fetch("/x")).json()).rejects.toThrow(SyntaxError);
  });

  // RES-1: what is no status is a network error.
  test.each([0, 101, 103, 199, 600, Number.NaN, undefined, "200 OK"])(
    "the status %s is none",
    async (status) => {
      answering({ status });
      const error = await rejection(fetch("/x"));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.cause.code).toBe("protocol");
    },
  );

  // RES-2, RES-3.
  test.each([
    [204, "GET"],
    [205, "GET"],
    [304, "GET"],
    [200, "HEAD"],
  ])("%s to %s has no body", async (status, method) => {
    answering({ status, body: "dropped", headers: { "x-a": "1" } });
    const response = await fetch("/x", { method });
    expect([
      response.status,
      response.body,
      response.headers.get("x-a"),
    ]).toEqual([status, null, "1"]);
  });

  // RES-4, RES-5.
  test("words and headers that cannot be are left out", async () => {
    answering({
      statusText: "a\r\nb",
      headers: {
        "x-a": "1",
        "b c": "2",
        d: "e\nf",
        g: "\u20ac",
        h: "caf\u00e9",
      },
    });
    const response = await fetch("/x");
    expect(response.statusText).toBe("");
    expect([...response.headers]).toEqual([
      ["h", "caf\u00e9"],
      ["x-a", "1"],
    ]);
  });

  // RES-10.
  test("a redirect that is not followed is opaque", async () => {
    answering({
      status: 0,
      type: "opaqueredirect",
      headers: { location: "/secret" },
      url: "/secret",
    });
    const response = await fetch("/x", { redirect: "manual" });
    expect([
      response.type,
      response.status,
      response.ok,
      response.body,
      response.url,
    ]).toEqual(["opaqueredirect", 0, false, null, "https://app.invalid/x"]);
    expect([...response.headers]).toEqual([]);
    expect(response.clone().type).toBe("opaqueredirect");
  });

  test("RES-14 a server that knows only text is understood", async () => {
    const text = JSON.stringify({
      status: 201,
      headers: {},
      bodyType: "text",
      body: "hi",
    });
    install(fakeApp(() => ({ content: [{ type: "text", text }] })));
    expect(await (await fetch("/x")).text()).toBe("hi");
  });

  test("REQ-5 integrity is verified", async () => {
    answering({ body: "hi" });
    const right = "sha256-j0NDRmSPa5bfid2pAcUXaxCm2Dlh3TwayItZstwyeqQ=";
    expect((await fetch("/x", { integrity: right })).status).toBe(200);
    const error = await rejection(
      fetch("/x", { integrity: `${right.slice(0, -2)}A=` }),
    );
    expect([error.name, error.cause.code]).toEqual(["TypeError", "network"]);
  });
});

describe("errors", () => {
  // ERR-1.
  test.each([400, 404, 429, 500, 599])("%s resolves", async (status) => {
    answering({ status });
    expect((await fetch("/x")).status).toBe(status);
  });

  // ERR-2, ERR-10, DEF-9.
  test.each<[string, () => unknown, Answer]>([
    [
      "a code of the server",
      () => failing({ code: "blocked", message: "no route" }),
      { code: "blocked", message: "no route" },
    ],
    [
      "no code at all",
      () => ({ isError: true, content: [{ type: "text", text: "odd" }] }),
      { code: "protocol", message: "odd" },
    ],
    ["no result", () => ({ content: [] }), { code: "protocol" }],
    [
      "a host that says no",
      () =>
        Promise.reject(Object.assign(new Error("denied"), { code: -32000 })),
      { code: "blocked", message: "denied" },
    ],
    [
      "a host that is gone",
      () =>
        Promise.reject(Object.assign(new Error("Closed"), { code: "Closed" })),
      { code: "host_unavailable" },
    ],
    [
      "silence",
      () =>
        Promise.reject(
          Object.assign(new Error("Timeout"), { code: "Timeout" }),
        ),
      { code: "timeout" },
    ],
  ])("%s is a TypeError with its cause", async (_, answer, cause) => {
    install(fakeApp(answer));
    const error = await rejection(fetch("/x"));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe("Failed to fetch");
    expect(error.cause).toMatchObject({ ...cause, tool: "http_request" });
  });

  // ERR-4, DEF-9, DEF-17: exactly the reason, and no call.
  test.each<[string, AbortSignal, unknown]>([
    [
      "its default",
      AbortSignal.abort(),
      expect.objectContaining({ name: "AbortError" }),
    ],
    ["a reason of its own", AbortSignal.abort("because"), "because"],
  ])(
    "a request that is given up before it is made rejects with %s",
    async (_, signal, reason) => {
      const { asked } = install();
      expect(await rejection(fetch("/x", { signal }))).toEqual(reason);
      expect(
        await rejection(
          fetch(new Request("https://app.invalid/x", { signal })),
        ),
      ).toEqual(reason);
      expect(asked).toEqual([]);
    },
  );

  // ERR-5, ERR-7.
  test.each(["init", "Request"])(
    "a request that is given up by its %s tells the App",
    async (where) => {
      const controller = new AbortController();
      const told = vi.fn();
      const app = install(
        fakeApp(
          (_, signal) =>
            new Promise((_, reject) =>
              signal.addEventListener("abort", () => {
                told(signal.reason);
                reject(new Error("cancelled"));
              }),
            ),
        ),
      );
      const { signal } = controller;
      const sent =
        where === "init"
          ? fetch("/x", { signal })
          : fetch(new Request("https://app.invalid/x", { signal }));
      await vi.waitFor(() => expect(app.asked).toHaveLength(1));
      const reason = new Error("enough");
      controller.abort(reason);
      expect(await rejection(sent)).toBe(reason);
      expect(told).toHaveBeenCalledWith(reason);
    },
  );

  test("ERR-4 a timeout is a TimeoutError", async () => {
    install(
      fakeApp(
        (_, signal) =>
          new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason)),
          ),
      ),
    );
    expect(
      (await rejection(fetch("/x", { signal: AbortSignal.timeout(5) }))).name,
    ).toBe("TimeoutError");
  });

  test("ERR-7 many calls on one signal leave nothing behind", async () => {
    install();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    for (let at = 0; at < 10_000; at++) await fetch("/x", { signal });
    expect(added.mock.calls.length).toBe(removed.mock.calls.length);
  }, 60_000);

  // ERR-8.
  test("the call waits longer than the backend may take", async () => {
    const app = fakeApp();
    const call = vi.spyOn(app, "callServerTool");
    install(app, { timeout: 75_000 });
    await fetch("/x");
    expect(call.mock.calls[0]![1]).toMatchObject({
      timeout: 85_000,
      resetTimeoutOnProgress: true,
    });
    expect(app.asked[0]).toMatchObject({ timeoutMs: 75_000 });
  });
});

describe("installing", () => {
  // INS-4, INS-5, DEF-2, ATK-42: what is ours, by whole segments and by origin.
  test.each<[string, FetchOptions, boolean]>([
    ["/api", { paths: ["/api"] }, true],
    ["/api/x", { paths: ["/api"] }, true],
    ["/api?x", { paths: ["/api"] }, true],
    ["/api/", { paths: ["/api/"] }, true],
    ["/apikeys", { paths: ["/api"] }, false],
    ["/other", { paths: ["/api"] }, false],
    ["/api/../other", { paths: ["/api"] }, false],
    ["https://app.invalid/api", { paths: ["/api"] }, true],
    ["https://other.test/api", {}, false],
    ["//other.test/api", {}, false],
    ["/\\other.test/api", {}, false],
    ["https://other.test/api", { origins: ["https://other.test"] }, true],
    ["https://api.example.com/v1", { base: "https://api.example.com/" }, true],
    ["data:text/plain,x", {}, false],
    ["blob:https://app.invalid/1", {}, false],
    ["https://", {}, false],
  ])("%s with %j: %s", async (url, options, carried) => {
    const { asked } = install(fakeApp(), options);
    const inner = globalThis.fetch;
    expect(inner).toBe(handle!.fetch);
    await fetch(url);
    expect(asked.length).toBe(carried ? 1 : 0);
  });

  test("INS-2 DEF-8 what is not ours reaches the browser untouched", async () => {
    const browsers = globalThis.fetch;
    install(fakeApp(), { paths: ["/api"] });
    const request = new Request("https://other.test/x", {
      method: "POST",
      body: "whole",
    });
    const init = { headers: { a: "b" } };
    await fetch(request, init);
    expect(browsers).toHaveBeenCalledWith(request, init);
    expect(request.bodyUsed).toBe(false);
  });

  // INS-6, INS-7, INS-10.
  test("a request waits for the handshake, and then goes", async () => {
    const app = fakeApp();
    app.capabilities = undefined;
    install(app, { patience: 5_000 });
    const sent = fetch("/x");
    setTimeout(() => (app.capabilities = { serverTools: {} }), 30);
    expect((await sent).status).toBe(200);
    expect(app.asked).toHaveLength(1);
  });

  test.each<[string, object | undefined]>([
    ["nobody is connected", undefined],
    ["the host carries no tools", {}],
  ])(
    "INS-10 where %s, the browser gets it, and it is said once",
    async (_, capabilities) => {
      const app = fakeApp();
      app.capabilities = capabilities;
      const log = vi.fn();
      install(app, { log, patience: 10 });
      for (const _ of [1, 2])
        expect(await (await fetch("/x")).text()).toBe("native");
      expect(log).toHaveBeenCalledTimes(1);
      handle!.restore();
      install(app, { patience: 10, fallback: "reject" });
      expect((await rejection(fetch("/x"))).cause.code).toBe(
        "host_unavailable",
      );
    },
  );

  test("INS-1 it can be stopped, started and taken away", async () => {
    const browsers = globalThis.fetch;
    const { asked } = install();
    expect(handle!.isActive()).toBe(true);
    handle!.stop();
    expect(await (await fetch("/x")).text()).toBe("native");
    handle!.start();
    await fetch("/x");
    expect(asked).toHaveLength(1);
    handle!.restore();
    handle!.start();
    expect([handle!.isActive(), globalThis.fetch]).toEqual([false, browsers]);
  });

  // INS-8.
  test("it is put in place once, and gives back only what is its own", async () => {
    const app = install();
    expect(initMcpFetch(app)).toBe(handle);
    expect(() => initMcpFetch(fakeApp())).toThrow("another App");
    const theirs = vi.fn((...given: Parameters<typeof fetch>) =>
      handle!.fetch(...given),
    );
    globalThis.fetch = theirs;
    await fetch("/x");
    expect(app.asked).toHaveLength(1);
    handle!.restore();
    expect(globalThis.fetch).toBe(theirs);
  });

  test("INS-9 it looks like the browser's", async () => {
    vi.unstubAllGlobals();
    const before = Object.getOwnPropertyDescriptor(globalThis, "fetch")!;
    install();
    const after = Object.getOwnPropertyDescriptor(globalThis, "fetch")!;
    expect([after.enumerable, after.configurable, after.writable]).toEqual([
      before.enumerable,
      before.configurable,
      before.writable,
    ]);
    expect([fetch.name, fetch.length]).toEqual(["fetch", 1]);
    expect((await fetch.call(undefined, "/x")).status).toBe(200);
    handle!.restore();
    expect(Object.getOwnPropertyDescriptor(globalThis, "fetch")).toEqual(
      before,
    );
    expect(globalThis.fetch).toBe(native);
  });

  // INS-3, DEF-14: where a document has no address of its own.
  test.each([
    ["about:srcdoc", "https://app.invalid/x"],
    ["data:text/html,x", "https://app.invalid/x"],
    ["blob:null/1", "https://app.invalid/x"],
    ["https://guest.test/a/b", "https://guest.test/x"],
  ])("a document at %s has a base", async (baseURI, url) => {
    vi.stubGlobal("document", { baseURI });
    const { asked } = install();
    expect((await fetch("/x")).url).toBe(url);
    expect(asked[0]!.url).toBe("/x");
  });

  test("in a tab of its own the requests are the page's own", async () => {
    const page = {};
    vi.stubGlobal("self", page);
    vi.stubGlobal("parent", page);
    const { asked } = install();
    expect(await (await fetch("/x")).text()).toBe("native");
    expect(asked).toEqual([]);
  });
});
