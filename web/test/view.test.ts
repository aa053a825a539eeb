import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  App,
  dataOf,
  McpApp,
  PostMessageTransport,
  TransomError,
} from "transom";
import * as z from "zod";
import {
  FakeChannel,
  FakeHost,
  FakeWindow,
  settle,
  standUnder,
  WELCOME,
} from "./stage.js";

const INFO = { name: "v", version: "1" };
let host: FakeHost;
let app: App;

beforeEach(() => {
  host = standUnder(new FakeHost()) as FakeHost;
  app = new App(INFO, {}, { autoResize: false });
});
afterEach(() => app.close());

async function connected(more: object = {}) {
  const ready = app.connect();
  await settle();
  host.welcome(more);
  return ready;
}

/** The code of the error that a promise fails with. */
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error: TransomError) => error.code,
  );

describe("handshake", () => {
  test("V-01, V-02 ui/initialize goes first, into *, with all three params", async () => {
    const ready = app.connect();
    await settle();
    expect(host.posted).toEqual([
      {
        data: {
          jsonrpc: "2.0",
          id: 0,
          method: "ui/initialize",
          params: {
            appInfo: INFO,
            appCapabilities: { experimental: { "transom/port": {} } },
            protocolVersion: "2026-01-26",
          },
        },
        target: "*",
        ports: [],
      },
    ]);
    host.welcome();
    await ready;
  });

  test("V-03 initialized goes next, without params, to the pinned origin", async () => {
    await connected();
    expect(host.posted[1]).toEqual({
      data: { jsonrpc: "2.0", method: "ui/notifications/initialized" },
      target: "https://host.test",
      ports: [],
    });
    expect(app.getHostContext()).toEqual({ theme: "dark" });
    expect(app.getHostCapabilities()).toEqual({ serverTools: {} });
    expect(app.getHostVersion()).toEqual({ name: "host", version: "1" });
  });

  test("V-04 a call made too early waits for initialized", async () => {
    const ready = app.connect();
    const call = app.callServerTool({ name: "t" });
    await settle();
    expect(host.messages.map((m) => m.method)).toEqual(["ui/initialize"]);
    host.welcome();
    await ready;
    await settle();
    expect(host.messages.map((m) => m.method)).toEqual([
      "ui/initialize",
      "ui/notifications/initialized",
      "tools/call",
    ]);
    host.answer("tools/call", { content: [] });
    await call;
  });

  test("V-05 a Host that says everything in the same breath is heard, in order", async () => {
    const heard: string[] = [];
    app.ontoolinputpartial = () => heard.push("partial");
    app.ontoolinput = () => heard.push("input");
    app.ontoolresult = () => heard.push("result");
    app.ontoolcancelled = () => heard.push("cancelled");
    const ready = app.connect();
    await settle();
    host.welcome();
    for (const name of ["input-partial", "input", "result", "cancelled"])
      host.say({ method: `ui/notifications/tool-${name}`, params: {} });
    await ready;
    expect(heard).toEqual(["partial", "input", "result", "cancelled"]);
  });

  test("V-12 what was granted is what the Host says, and nothing when it says nothing", async () => {
    await connected({
      hostCapabilities: { sandbox: { permissions: { camera: {} } } },
    });
    expect(app.getHostCapabilities()?.sandbox?.permissions).toEqual({
      camera: {},
    });
    await app.close();
    await connected();
    expect(app.getHostCapabilities()?.sandbox?.permissions).toBeUndefined();
  });

  test("connect is one promise, however often it is called", async () => {
    expect(app.connect()).toBe(app.connect());
    await settle();
    expect(host.messages).toHaveLength(1);
    host.welcome();
    await app.connect();
  });

  test("StrictMode: closed and connected again at once, the second handshake stands alone", async () => {
    const first = codeOf(app.connect());
    void app.close();
    const second = app.connect();
    expect(await first).toBe("Closed");
    await settle();
    const hellos = host.messages.filter((m) => m.method === "ui/initialize");
    host.welcome();
    await second;
    expect(hellos.length).toBeLessThanOrEqual(2);
    const sent = host.messages.filter(
      (m) => m.method === "ui/notifications/initialized",
    );
    expect(sent).toHaveLength(1);
  });

  test("NoHost at once when the page is its own parent", async () => {
    vi.stubGlobal("parent", window);
    expect(await codeOf(app.connect())).toBe("NoHost");
  });

  test("a refused handshake closes, and can be tried again", async () => {
    const closed = vi.fn();
    app.onclose = closed;
    const refused = codeOf(app.connect());
    await settle();
    host.refuse("ui/initialize", -32602, "no");
    expect(await refused).toBe(-32602);
    await settle();
    expect(closed).toHaveBeenCalledTimes(1);
    await connected();
  });

  test("silence ends in Timeout", async () => {
    vi.useFakeTimers();
    const failed = codeOf(app.connect());
    await vi.advanceTimersByTimeAsync(60_001);
    expect(await failed).toBe("Timeout");
  });

  test.each([
    ["V-28 any version", { protocolVersion: "1999" }],
    ["V-27 an unknown theme", { hostContext: { theme: "auto", new: 1 } }],
    ["V-27 flags that are true", { hostCapabilities: { openLinks: true } }],
    ["null parts", { hostCapabilities: null, hostContext: null }],
    ["null experimental", { hostCapabilities: { experimental: null } }],
  ])("%s is tolerated", async (_, more) => {
    await connected(more);
    expect(host.last("ui/notifications/initialized")).toBeTruthy();
  });

  test("an answer with nothing in it gets empty parts", async () => {
    const ready = app.connect();
    await settle();
    host.answer("ui/initialize", {});
    expect(await ready).toMatchObject({
      hostCapabilities: {},
      hostContext: {},
    });
  });

  test("PostMessageTransport and any other transport are taken", async () => {
    const parent = host as unknown as Window;
    const ready = app.connect(new PostMessageTransport(parent, parent));
    await settle();
    host.welcome();
    await ready;

    const sent: unknown[] = [];
    const custom = {
      start: async () => {},
      send: async (message: unknown) => void sent.push(message),
      close: async () => {},
      onmessage: undefined as unknown as (message: unknown) => void,
    };
    const other = new App(INFO, {}, { autoResize: false });
    const answered = other.connect(custom);
    await settle();
    expect(sent).toMatchObject([
      {
        method: "ui/initialize",
        params: { appCapabilities: { experimental: {} } },
      },
    ]);
    custom.onmessage({ jsonrpc: "2.0", id: 0, result: WELCOME } as never);
    expect(await answered).toMatchObject(WELCOME);
    await other.close();
  });
});

describe("asking", () => {
  test.each([
    ["readServerResource", { uri: "ui://x" }, "resources/read"],
    ["listServerResources", { cursor: "c" }, "resources/list"],
    [
      "createSamplingMessage",
      { messages: [], maxTokens: 1 },
      "sampling/createMessage",
    ],
    ["sendMessage", { role: "user", content: [] }, "ui/message"],
    ["updateModelContext", { content: [] }, "ui/update-model-context"], // V-15
    ["openLink", { url: "https://x.test" }, "ui/open-link"],
    ["sendOpenLink", { url: "https://x.test" }, "ui/open-link"],
    ["downloadFile", { contents: [] }, "ui/download-file"],
    ["requestDisplayMode", { mode: "pip" }, "ui/request-display-mode"],
  ] as const)("%s", async (name, params, method) => {
    await connected();
    const call = (app[name] as (params: object) => Promise<unknown>)(params);
    await settle();
    expect(host.last(method)).toEqual({
      jsonrpc: "2.0",
      id: 1,
      method,
      params,
    });
    host.answer(method, { mode: "pip", ok: 1 });
    expect(await call).toEqual({ mode: "pip", ok: 1 });
  });

  test.each([
    ["sendLog", { level: "info", data: 1 }, "notifications/message"],
    [
      "sendSizeChanged",
      { width: 1, height: 2 },
      "ui/notifications/size-changed",
    ],
    ["requestTeardown", undefined, "ui/notifications/request-teardown"],
    ["sendToolListChanged", undefined, "notifications/tools/list_changed"],
  ] as const)("%s", async (name, params, method) => {
    await connected();
    await (app[name] as (params?: object) => Promise<void>)(params);
    expect(host.last(method)).toEqual({
      jsonrpc: "2.0",
      method,
      params: params ?? {},
    });
  });

  test("callServerTool always has a progress token, and an answer without content is empty", async () => {
    await connected();
    const call = app.callServerTool({ name: "t", arguments: { a: 1 } });
    await settle();
    expect(host.last("tools/call").params).toEqual({
      name: "t",
      arguments: { a: 1 },
      _meta: { progressToken: 1 },
    });
    host.answer("tools/call", { structuredContent: { x: 1 } });
    expect(await call).toEqual({ content: [], structuredContent: { x: 1 } });
  });

  test("an error keeps its code and data, whatever it lacks", async () => {
    await connected();
    const refused = app.openLink({ url: "x" });
    await settle();
    host.say({
      id: 1,
      error: { code: -32000, message: "denied", data: { why: 1 } },
    });
    await expect(refused).rejects.toMatchObject({
      code: -32000,
      message: "denied",
      data: { why: 1 },
    });
    const odd = app.openLink({ url: "x" });
    await settle();
    host.say({ id: 2, error: {} });
    await expect(odd).rejects.toBeInstanceOf(TransomError);
  });

  test("the class's name stands before the message, and nothing else does", async () => {
    expect(`${new TransomError("Closed")}`).toBe("TransomError: Closed");
    expect(`${new TransomError(-32000, "denied")}`).toBe(
      "TransomError: denied",
    );
  });

  test.each([
    ["callServerTool", "callServerTool({ name, arguments })"],
    ["openLink", "openLink({ url })"],
    ["readServerResource", "readServerResource({ uri })"],
    ["requestDisplayMode", "requestDisplayMode({ mode })"],
    ["sendMessage", "sendMessage({ role, content })"],
    ["updateModelContext", "updateModelContext({ content })"],
    ["sendLog", "sendLog({ … })"],
  ] as const)("%s says what to write for a string", async (method, words) => {
    await connected();
    const before = host.messages.length;
    const call = app[method] as (params: unknown) => Promise<unknown>;
    const error: TransomError = await call("text").then(
      () => expect.unreachable(),
      (error) => error,
    );
    expect(error).toBeInstanceOf(TransomError);
    expect(error.message).toContain(words);
    expect(host.messages.length).toBe(before);
  });

  test("an answer is checked by the schema that came with the request", async () => {
    await connected();
    const schema = z.object({ n: z.number() });
    const answers = [];
    for (const n of [1, "one"]) {
      const call = app.request({ method: "x/y" }, schema, { timeout: 500 });
      await settle();
      host.answer("x/y", { n, more: true });
      answers.push(await call.catch(({ code }) => code));
    }
    expect(answers).toEqual([{ n: 1 }, -32602]);
  });

  test("W-3 an id that comes back as text settles its call; an unknown one, a second and both at once do not", async () => {
    await connected();
    const call = app.openLink({ url: "x" });
    await settle();
    for (const stray of [
      { id: 99, result: {} },
      { id: "__proto__", result: {} },
      { id: 1, result: {}, error: { code: 1, message: "" } },
      { id: 1.5, result: {} },
      { id: null, result: {} },
    ])
      host.say(stray);
    host.say({ id: "1", result: { ok: 1 } });
    host.say({ id: 1, result: { ok: 2 } });
    expect(await call).toEqual({ ok: 1 });
  });

  test("V-33 a timeout tells the Host, and progress starts it anew", async () => {
    vi.useFakeTimers();
    await connected();
    const seen = vi.fn();
    const failed = codeOf(
      app.callServerTool({ name: "t" }, { timeout: 100, onprogress: seen }),
    );
    await vi.advanceTimersByTimeAsync(90);
    host.say({
      method: "notifications/progress",
      params: { progressToken: 1, progress: 1 },
    });
    await vi.advanceTimersByTimeAsync(90);
    expect(seen).toHaveBeenCalledWith({ progressToken: 1, progress: 1 });
    await vi.advanceTimersByTimeAsync(20);
    expect(await failed).toBe("Timeout");
    expect(host.last("notifications/cancelled").params).toMatchObject({
      requestId: 1,
    });
  });

  test("each call has its own deadline, however near, far or endless the others' are", async () => {
    await connected();
    vi.useFakeTimers();
    const ended: string[] = [];
    const start = (name: string, timeout: number) =>
      void codeOf(app.request({ method: name }, { timeout })).then((code) =>
        ended.push(`${name} ${code}`),
      );
    start("far", 3_000);
    start("endless", Infinity);
    // More than a browser's timer holds.
    start("years", 2 ** 40);
    start("near", 1_000);
    start("nearer", 500);
    await vi.advanceTimersByTimeAsync(499);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    expect(ended).toEqual(["nearer Timeout"]);
    await vi.advanceTimersByTimeAsync(500);
    expect(ended).toEqual(["nearer Timeout", "near Timeout"]);
    host.answer("far", {});
    start("later", 1_000);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(ended.slice(2)).toEqual(["far no error", "later Timeout"]);
    // Nothing fires again and again for the two that are left.
    expect(vi.getTimerCount()).toBeLessThan(2);
    await app.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(ended.slice(4)).toEqual(["endless Closed", "years Closed"]);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  test("an answer with members that it need not have is an answer", async () => {
    await connected();
    const call = app.request({ method: "x" });
    await settle();
    host.say({
      id: host.last("x").id,
      result: { a: 1 },
      progress: { progress: 1 },
      now: 1e9,
    });
    expect(await call).toEqual({ a: 1 });
  });

  test("an abort tells the Host; one that came before sends nothing", async () => {
    await connected();
    const abort = new AbortController();
    const failed = codeOf(app.openLink({ url: "x" }, { signal: abort.signal }));
    await settle();
    abort.abort();
    expect(await failed).toBe("Aborted");
    expect(host.last("notifications/cancelled").params).toMatchObject({
      requestId: 1,
    });
    const before = host.posted.length;
    expect(
      await codeOf(app.openLink({ url: "x" }, { signal: abort.signal })),
    ).toBe("Aborted");
    expect(host.posted.length).toBe(before);
  });

  test.each([
    [
      "maxTotalTimeout ends what progress keeps alive",
      { maxTotalTimeout: 150 },
    ],
    [
      "progress changes nothing when it is told not to",
      { resetTimeoutOnProgress: false },
    ],
  ])("%s", async (_, more) => {
    vi.useFakeTimers();
    await connected();
    let code: unknown = "waiting";
    void codeOf(
      app.callServerTool(
        { name: "t" },
        { timeout: 100, onprogress() {}, ...more },
      ),
    ).then((ended) => (code = ended));
    await vi.advanceTimersByTimeAsync(90);
    host.say({
      method: "notifications/progress",
      params: { progressToken: 1, progress: 1 },
    });
    await vi.advanceTimersByTimeAsync(5);
    expect(code).toBe("waiting");
    await vi.advanceTimersByTimeAsync(60);
    expect(code).toBe("Timeout");
    expect(host.last("notifications/cancelled").params).toMatchObject({
      requestId: 1,
    });
  });

  test("close settles every promise, and what comes after is NotConnected", async () => {
    await connected();
    const waiting = [
      app.openLink({ url: "x" }),
      app.callServerTool({ name: "t" }),
    ].map(codeOf);
    await settle();
    await app.close();
    expect(await Promise.all(waiting)).toEqual(["Closed", "Closed"]);
    expect(await codeOf(app.openLink({ url: "x" }))).toBe("NotConnected");
    expect(await codeOf(app.sendLog({ level: "info", data: 1 }))).toBe(
      "NotConnected",
    );
  });

  test("what cannot be cloned fails at the caller", async () => {
    await connected();
    await expect(
      app.sendLog({ level: "info", data: () => {} }),
    ).rejects.toThrow();
    await expect(
      app.callServerTool({ name: "t", arguments: { f: () => {} } }),
    ).rejects.toBeInstanceOf(TransomError);
  });

  test("a gateway's prefix is learnt from the Host's list, once", async () => {
    await connected();
    const call = app.callServerTool({ name: "refresh" });
    await settle();
    host.refuse("tools/call", -32602, "Unknown tool: refresh");
    await settle();
    host.answer("tools/list", {
      tools: [{ name: "gw__refresh" }, { name: "gw__save" }],
    });
    await settle();
    expect(host.last("tools/call").params).toMatchObject({
      name: "gw__refresh",
    });
    host.answer("tools/call", { content: [] });
    await call;
    void app.callServerTool({ name: "save" }).catch(() => {});
    await settle();
    expect(host.last("tools/call").params).toMatchObject({ name: "gw__save" });
  });

  test("an unknown tool stays unknown when the list is refused or names two", async () => {
    await connected();
    for (const reply of [
      () => host.refuse("tools/list", -32601, "no"),
      () =>
        host.answer("tools/list", {
          tools: [{ name: "a_x" }, { name: "b_x" }],
        }),
    ]) {
      const failed = codeOf(app.callServerTool({ name: "x" }));
      await settle();
      host.refuse("tools/call", -32602, "Tool x not found");
      await settle();
      reply();
      expect(await failed).toBe(-32602);
    }
  });
});

describe("hearing", () => {
  const tell = (method: string, params?: object) =>
    host.say({
      method: `ui/notifications/${method}`,
      ...(params && { params }),
    });

  test("setters and listeners hear each event", async () => {
    const heard: unknown[] = [];
    const listener = (params: unknown) => heard.push(["listener", params]);
    app.ontoolinput = (params) => heard.push(["on", params]);
    app.addEventListener("toolinput", listener);
    await connected();
    tell("tool-input", { arguments: { q: 1 } });
    app.removeEventListener("toolinput", listener);
    tell("tool-input", { arguments: { q: 2 } });
    expect(heard).toEqual([
      ["on", { arguments: { q: 1 } }],
      ["listener", { arguments: { q: 1 } }],
      ["on", { arguments: { q: 2 } }],
    ]);
  });

  test("setNotificationHandler hears beside the property and the listeners, until it is removed", async () => {
    await connected();
    const [mine, theirs, failed] = [vi.fn(), vi.fn(), vi.fn()];
    app.ontoolinput = mine;
    app.onerror = failed;
    app.setNotificationHandler("ui/notifications/tool-input", theirs);
    const params = z.object({ n: z.number() });
    app.setNotificationHandler("x/checked", { params }, ({ n }, { method }) =>
      theirs(n, method),
    );
    app.setNotificationHandler("x/throws", () => {
      throw new Error("mine");
    });
    const tell = async (method: string, params: object) => {
      host.say({ method, params });
      await settle();
    };
    await tell("ui/notifications/tool-input", { arguments: { a: 1 } });
    expect(mine).toHaveBeenCalledWith({ arguments: { a: 1 } });
    expect(theirs.mock.lastCall?.[0]).toEqual({
      method: "ui/notifications/tool-input",
      params: { arguments: { a: 1 } },
    });
    await tell("x/checked", { n: 1 });
    expect(theirs.mock.lastCall).toEqual([1, "x/checked"]);
    await tell("x/checked", { n: "1" });
    await tell("x/throws", {});
    expect(
      failed.mock.calls.map(([error]) => error.code ?? error.message),
    ).toEqual([-32602, "mine"]);

    app.removeNotificationHandler("ui/notifications/tool-input");
    theirs.mockClear();
    await tell("ui/notifications/tool-input", { arguments: { a: 2 } });
    expect(mine).toHaveBeenCalledTimes(2);
    expect(theirs).not.toHaveBeenCalled();
  });

  test("late handlers get the last input, result and cancellation", async () => {
    await connected();
    tell("tool-input", { arguments: { q: 1 } });
    tell("tool-result", { structuredContent: { a: 1 } });
    tell("tool-cancelled", { reason: "r" });
    const heard: unknown[] = [];
    app.ontoolinput = (params) => heard.push(params);
    app.ontoolresult = (params) => heard.push(params);
    app.addEventListener("toolcancelled", (params) => heard.push(params));
    expect(heard).toEqual([]);
    await settle();
    expect(heard).toEqual([
      { arguments: { q: 1 } },
      { content: [], structuredContent: { a: 1 } },
      { reason: "r" },
    ]);
  });

  test("a property set anew has had the value already", async () => {
    const heard = vi.fn();
    app.ontoolresult = () => heard("first");
    await connected();
    tell("tool-result", {});
    app.ontoolresult = undefined;
    app.ontoolresult = () => heard("second");
    await settle();
    expect(heard.mock.calls).toEqual([["first"]]);
  });

  test("partials coalesce, the newest arrives, and before the input", async () => {
    vi.useFakeTimers();
    const heard: unknown[] = [];
    app.ontoolinputpartial = ({ arguments: args }) => heard.push(args?.n);
    app.ontoolinput = () => heard.push("input");
    await connected();
    for (let n = 0; n < 100; n++)
      tell("tool-input-partial", { arguments: { n } });
    expect(heard).toEqual([0]);
    await vi.advanceTimersByTimeAsync(10);
    expect(heard).toEqual([0, 99]);
    await vi.advanceTimersByTimeAsync(10);
    tell("tool-input-partial", { arguments: { n: 100 } });
    tell("tool-input-partial", { arguments: { n: 101 } });
    tell("tool-input", { arguments: {} });
    await vi.advanceTimersByTimeAsync(10);
    expect(heard).toEqual([0, 99, 100, 101, "input"]);
  });

  test.each([
    ["ui/tool-cancelled", "toolcancelled"],
    ["ui/host-context-change", "hostcontextchanged"],
    ["ui/notifications/host-context-change", "hostcontextchanged"],
  ] as const)("%s of earlier drafts is heard", async (method, event) => {
    const heard = vi.fn();
    app.addEventListener(event, heard);
    await connected();
    host.say({ method, params: { locale: "de" } });
    expect(heard).toHaveBeenCalledWith({ locale: "de" });
  });

  test("V-11 the context is merged before its change is told", async () => {
    await connected();
    const seen: unknown[] = [];
    app.onhostcontextchanged = () => seen.push(app.getHostContext());
    tell("host-context-changed", { locale: "de" });
    expect(seen).toEqual([{ theme: "dark", locale: "de" }]);
  });

  test("list_changed is heard by its method", async () => {
    const heard = vi.fn();
    app.addEventListener("notifications/tools/list_changed", heard);
    await connected();
    host.say({ method: "notifications/tools/list_changed" });
    expect(heard).toHaveBeenCalledTimes(1);
  });

  test("a handler that throws is reported and the channel lives on", async () => {
    await connected();
    app.ontoolresult = () => {
      throw new Error("mine");
    };
    const after = vi.fn();
    app.addEventListener("toolresult", after);
    tell("tool-result", {});
    expect(reportError).toHaveBeenCalledTimes(1);
    expect(after).toHaveBeenCalledTimes(1);
    app.onerror = vi.fn();
    tell("tool-result", {});
    expect(app.onerror).toHaveBeenCalledTimes(1);
  });
});

describe("answering", () => {
  const ask = async (method: string, params?: object) => {
    host.say({ id: 7, method, ...(params && { params }) });
    await settle();
    return host.messages.filter((m) => m.id === 7 && !m.method).at(-1);
  };

  test("V-24 ping", async () => {
    await connected();
    expect(await ask("ping")).toEqual({ jsonrpc: "2.0", id: 7, result: {} });
  });

  test("W-9 what nobody handles is -32601, by any name", async () => {
    await connected();
    for (const method of [
      "x",
      "__proto__",
      "constructor",
      "then",
      "tools/list",
      "ui/resource-teardown",
    ])
      expect((await ask(method))?.error?.code).toBe(-32601);
  });

  test("V-23 a teardown handler that returns nothing answers with an object", async () => {
    await connected();
    app.onteardown = () => {};
    expect(await ask("ui/resource-teardown", { reason: "r" })).toMatchObject({
      result: {},
    });
  });

  test("a handler that throws answers -32603, or its own code", async () => {
    await connected();
    app.onteardown = () => {
      throw new Error("boom");
    };
    expect(await ask("ui/resource-teardown")).toMatchObject({
      error: { code: -32603, message: "boom" },
    });
    app.onteardown = () =>
      Promise.reject(Object.assign(new Error("busy"), { code: -32000 }));
    expect(await ask("ui/resource-teardown")).toMatchObject({
      error: { code: -32000 },
    });
    app.onteardown = () => {
      throw "text";
    };
    expect(await ask("ui/resource-teardown")).toMatchObject({
      error: { message: "text" },
    });
    app.onteardown = () => Promise.reject(undefined);
    expect(await ask("ui/resource-teardown")).toMatchObject({
      error: { code: -32603, message: "undefined" },
    });
  });

  test("H-75 a cancelled request is aborted and not answered", async () => {
    await connected();
    let signal: AbortSignal | undefined;
    app.oncalltool = (_, extra) => {
      ({ signal } = extra);
      return new Promise((resolve) =>
        extra.signal.addEventListener("abort", () => resolve({ content: [] })),
      );
    };
    host.say({ id: 7, method: "tools/call", params: { name: "t" } });
    host.say({ method: "notifications/cancelled", params: { requestId: 7 } });
    await settle();
    expect(signal?.aborted).toBe(true);
    expect(host.messages.some((m) => m.id === 7)).toBe(false);
  });

  test("V-17 tools that are declared and never registered are an empty list", async () => {
    app = new App({ name: "view", version: "1" }, { tools: {} });
    await connected();
    expect((await ask("tools/list"))!.result).toEqual({ tools: [] });
    expect((await ask("tools/call", { name: "none" }))?.error?.code).toBe(
      -32602,
    );
  });

  test("V-17 registered tools are declared, listed, checked and called", async () => {
    const tool = app.registerTool(
      "add",
      {
        description: "adds",
        inputSchema: z.object({ a: z.number(), b: z.number().default(2) }),
      },
      ({ a, b }) => ({
        content: [{ type: "text", text: `${(a as number) + (b as number)}` }],
      }),
    );
    app.registerTool("plain", {}, () => ({ content: [] }));
    await connected();
    expect(host.last("ui/initialize").params).toMatchObject({
      appCapabilities: { tools: { listChanged: true } },
    });
    const { result } = (await ask("tools/list"))!;
    expect(result).toMatchObject({
      tools: [
        {
          name: "add",
          description: "adds",
          inputSchema: {
            type: "object",
            properties: { a: { type: "number" } },
          },
        },
        { name: "plain", inputSchema: { type: "object" } },
      ],
    });
    expect(
      Object.keys((result as { tools: object[] }).tools[1]!).sort(),
    ).toEqual(["inputSchema", "name"]);
    expect(
      await ask("tools/call", { name: "add", arguments: { a: 1 } }),
    ).toMatchObject({
      result: { content: [{ type: "text", text: "3" }] },
    });
    expect((await ask("tools/call", { name: "none" }))?.error?.code).toBe(
      -32602,
    );

    tool.disable();
    await settle();
    expect(host.last("notifications/tools/list_changed")).toBeTruthy();
    expect(
      (await ask("tools/call", { name: "add", arguments: { a: 1 } }))?.error
        ?.code,
    ).toBe(-32602);
    tool.enable();
    tool.remove();
    await settle();
    expect((await ask("tools/list"))?.result).toMatchObject({
      tools: [{ name: "plain" }],
    });
  });

  test("V-18, V-19 wrong arguments and a tool that fails are results that say so", async () => {
    const run = vi.fn(() => {
      throw new TypeError("out of tea");
    });
    app.registerTool(
      "brew",
      { inputSchema: z.object({ cups: z.number() }) },
      run,
    );
    app.registerTool("bare", {}, () => Promise.reject("no kettle"));
    await connected();
    const call = async (name: string, args: object) =>
      (await ask("tools/call", { name, arguments: args }))?.result as {
        isError?: boolean;
        content: { text: string }[];
      };

    const wrong = await call("brew", { cups: "two" });
    expect(wrong.isError).toBe(true);
    expect(wrong.content[0]?.text).toContain("cups");
    expect(run).not.toHaveBeenCalled();
    expect(await call("brew", { cups: 2 })).toEqual({
      isError: true,
      content: [{ type: "text", text: "TypeError: out of tea" }],
    });
    expect(await call("bare", {})).toEqual({
      isError: true,
      content: [{ type: "text", text: "no kettle" }],
    });
  });

  test("setRequestHandler answers a method by its name, with the whole request", async () => {
    const seen = vi.fn();
    app.setRequestHandler("x/y", (request, { signal }) => {
      seen(request, signal.aborted);
      return { ok: true };
    });
    app.setRequestHandler("ui/resource-teardown", () => ({ saved: 1 }));
    await connected();
    expect((await ask("x/y", { a: 1 }))?.result).toEqual({ ok: true });
    expect(seen).toHaveBeenCalledWith(
      { method: "x/y", params: { a: 1 } },
      false,
    );
    expect((await ask("ui/resource-teardown"))?.result).toEqual({ saved: 1 });
  });

  test("setRequestHandler takes a schema in the place of the method, or checks of its own", async () => {
    const params = z.object({ n: z.number() });
    app.setRequestHandler(
      z.object({ method: z.literal("x/old"), params }),
      (request, extra) => [request, extra.requestId, extra._meta],
    );
    app.setRequestHandler("x/new", { params }, ({ n }, { mcpReq }) => [
      n + 1,
      mcpReq.method,
      mcpReq.id,
    ]);
    await connected();
    const _meta = { k: 1 };
    const old = await ask("x/old", { n: 1, _meta });
    expect(old?.result).toEqual([
      { method: "x/old", params: { n: 1 } },
      old?.id,
      _meta,
    ]);
    const fresh = await ask("x/new", { n: 1 });
    expect(fresh?.result).toEqual([2, "x/new", fresh?.id]);
    for (const method of ["x/old", "x/new"])
      expect((await ask(method, { n: "1" }))?.error?.code).toBe(-32602);
    app.removeRequestHandler("x/new");
    expect((await ask("x/new", { n: 1 }))?.error?.code).toBe(-32601);
  });

  test("a handler of a request can ask and tell the Host", async () => {
    app.setRequestHandler("x/y", async (_request, extra) => {
      await extra.sendNotification({ method: "x/told", params: { a: 1 } });
      await extra.mcpReq.notify({ method: "x/told", params: { a: 2 } });
      return extra.mcpReq.send === extra.sendRequest ? { one: true } : {};
    });
    await connected();
    expect((await ask("x/y"))?.result).toEqual({ one: true });
    expect(
      host.messages.filter((m) => m.method === "x/told").map((m) => m.params),
    ).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test("V-20 no list_changed when it was not declared", async () => {
    app = new App(INFO, { tools: {} }, { autoResize: false });
    await connected();
    app.registerTool("t", { inputSchema: { type: "object" } }, () => ({
      content: [],
    }));
    await settle();
    expect(
      host.messages.some(
        (m) => m.method === "notifications/tools/list_changed",
      ),
    ).toBe(false);
  });
});

describe("strangers", () => {
  const result = {
    method: "ui/notifications/tool-result",
    params: { content: [] },
  };

  test.each([
    ["ATK-1 another window", { source: new FakeWindow() }],
    ["ATK-10 a synthetic event", { isTrusted: false }],
    ["ATK-14 no source at all", { source: null }],
    [
      "ATK-3 the right window, another origin after the pin",
      { origin: "https://evil.test" },
    ],
  ])("%s is not heard", async (_, arrival) => {
    const heard = vi.fn();
    app.ontoolresult = heard;
    await connected();
    host.say(result, arrival);
    host.say(result);
    expect(heard).toHaveBeenCalledTimes(1);
  });

  test("a Host on the View's own origin is posted to as such", async () => {
    vi.stubGlobal("origin", "https://host.test");
    await connected();
    expect(host.posted[1]?.target).toBe("/");
  });

  test("V-26 the origin is pinned by the first message, not by noise before it", async () => {
    const ready = app.connect();
    await settle();
    host.say({ jsonrpc: "1.0", result: {} }, { origin: "https://noise.test" });
    host.welcome();
    await ready;
    expect(host.posted[1]?.target).toBe("https://host.test");
  });

  test("ATK-29 a port that nobody asked for is closed, and the message heard", async () => {
    const heard = vi.fn();
    app.ontoolresult = heard;
    await connected();
    const { port2 } = new FakeChannel();
    host.say(result, { ports: [port2] });
    expect(port2.closed).toBe(true);
    expect(heard).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["null", null],
    ["text", '{"jsonrpc":"2.0","method":"ping","id":1}'],
    ["an array", [{ jsonrpc: "2.0", method: "ping", id: 1 }]],
    ["another version", { jsonrpc: "1.0", method: "ping", id: 1 }],
    ["a method that is a number", { jsonrpc: "2.0", method: 1, id: 1 }],
    [
      "params that are an array",
      { jsonrpc: "2.0", method: "ping", id: 1, params: [] },
    ],
    ["a null id", { jsonrpc: "2.0", method: "ping", id: null }],
    ["an older envelope", { type: "MCP_MESSAGE", payload: {} }],
  ])("ATK-28 %s is ignored and counted", async (_, data) => {
    const transport = new PostMessageTransport();
    const ready = app.connect(transport);
    await settle();
    host.welcome();
    await ready;
    const before = host.posted.length;
    const { arrive } = await import("./stage.js");
    arrive(data, { source: host });
    await settle();
    expect(host.posted.length).toBe(before);
    expect(transport.ignored).toBe(1);
  });

  test("V-30, ATK-26 own __proto__ members reach no prototype", async () => {
    await connected();
    const evil = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    ) as object;
    host.say({ method: "ui/notifications/host-context-changed", params: evil });
    host.say({
      method: "ui/notifications/tool-input",
      params: { arguments: evil },
    });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("ATK-35 500 connections leave no listener behind", async () => {
    const add = vi.spyOn(window, "addEventListener");
    const remove = vi.spyOn(window, "removeEventListener");
    for (let i = 0; i < 500; i++) {
      const one = new App(INFO, {}, { autoResize: false });
      void one.connect().catch(() => {});
      await settle();
      await one.close();
    }
    expect(add.mock.calls.filter(([type]) => type === "message")).toHaveLength(
      500,
    );
    expect(
      remove.mock.calls.filter(([type]) => type === "message"),
    ).toHaveLength(500);
  });
});

describe("McpApp", () => {
  test("takes names and arguments, and sends what the spec says", async () => {
    const mcp = new McpApp({ autoResize: false });
    const ready = mcp.connect();
    await settle();
    host.welcome();
    const { hostContext } = await ready;
    expect(hostContext.theme).toBe("dark");
    const calls = [
      mcp.callServerTool("t", { a: 1 }),
      mcp.sendMessage("assistant", { type: "text", text: "hi" }),
      mcp.updateModelContext([{ type: "text", text: "x" }], { a: 1 }),
      mcp.openLink("https://x.test"),
      mcp.requestDisplayMode("fullscreen"),
    ];
    await settle();
    expect(host.last("tools/call").params).toMatchObject({
      name: "t",
      arguments: { a: 1 },
    });
    expect(host.last("ui/message").params).toEqual({
      role: "user",
      content: [{ type: "text", text: "hi" }],
    });
    expect(host.last("ui/update-model-context").params).toEqual({
      content: [{ type: "text", text: "x" }],
      structuredContent: { a: 1 },
    });
    expect(host.last("ui/open-link").params).toEqual({ url: "https://x.test" });
    expect(host.last("ui/request-display-mode").params).toEqual({
      mode: "fullscreen",
    });
    for (const { id } of host.messages.slice(2))
      host.say({ id, result: { mode: "fullscreen" } });
    await Promise.all(calls);
    await mcp.close();
  });

  test("its handlers get what is inside the params", async () => {
    const mcp = new McpApp({ autoResize: false });
    const heard: unknown[] = [];
    mcp.ontoolinput = (args) => heard.push(args);
    mcp.ontoolinputpartial = (args) => heard.push(args);
    mcp.ontoolresult = (result) => heard.push(result);
    mcp.ontoolcancelled = (reason) => heard.push(reason);
    mcp.onhostcontextchanged = (context) => heard.push(context);
    mcp.onteardown = (reason) => void heard.push(reason);
    const ready = mcp.connect();
    await settle();
    host.welcome();
    await ready;
    const tell = (method: string, params: object) =>
      host.say({ method: `ui/notifications/${method}`, params });
    tell("tool-input-partial", { arguments: { p: 1 } });
    tell("tool-input", { arguments: { q: 1 } });
    tell("tool-result", { content: [] });
    tell("tool-cancelled", { reason: "r" });
    tell("host-context-changed", { locale: "de" });
    host.say({
      id: 7,
      method: "ui/resource-teardown",
      params: { reason: "bye" },
    });
    await settle();
    expect(heard).toEqual([
      { p: 1 },
      { q: 1 },
      { content: [] },
      "r",
      { locale: "de" },
      "bye",
    ]);
    await mcp.close();
  });
});

test.each([
  [{ content: [], structuredContent: { a: 1 } }, { a: 1 }],
  [
    {
      content: [
        { type: "text", text: "hello" },
        { type: "text", text: '{"a":1}' },
      ],
    },
    { a: 1 },
  ],
  [
    { content: [{ type: "image", data: "", mimeType: "image/png" }] },
    undefined,
  ],
] as const)("dataOf %j", (result, data) => {
  expect(dataOf(result as never)).toEqual(data);
});
