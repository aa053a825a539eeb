import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  asMessage,
  InPageChannel,
  type Said,
  type Told,
  type TransomView,
} from "transom/host";
import { arrive, FakePort, FakeWindow, mockFrames, settle } from "./stage.js";

const ORIGIN = "https://sandbox.test";
let element: TransomView;
let view: FakeWindow;
let said: Said[];
let tell: (told: Told) => void;
let events: [string, unknown][];

beforeEach(() => {
  view = new FakeWindow();
  mockFrames(view);
  said = [];
  events = [];
  element = document.createElement("transom-view") as TransomView;
  for (const name of ["open", "ask", "resize", "mode", "lane", "close"])
    element.addEventListener(`transom-${name}`, (event) =>
      events.push([name, (event as CustomEvent).detail]),
    );
  element.setAttribute("view", "v1");
  element.channel = new InPageChannel((_, hear) => {
    tell = hear;
    return (one) => said.push(one);
  });
});
afterEach(() => element.remove());

const open = (more: object = {}) => {
  document.body.append(element);
  tell({ open: { src: `${ORIGIN}/`, title: "Weather", ...more } });
};
const box = () => element.shadowRoot!.querySelector("div")!;
const frame = () => element.shadowRoot!.querySelector("iframe");
const fromView = (message: object, arrival = {}) =>
  arrive(
    { jsonrpc: "2.0", ...message },
    { source: view, origin: ORIGIN, ...arrival },
  );
const messages = () =>
  said.flatMap((one) => ("message" in one ? [one.message] : []));

describe("mounting", () => {
  test("it says open when it is in the document, has a channel and a view", () => {
    expect(said).toEqual([]);
    document.body.append(element);
    expect(said).toEqual([
      {
        open: {
          lanes: ["port"],
          modes: ["inline", "fullscreen", "pip"],
          container: {
            width: expect.any(Number) as number,
            maxHeight: Math.trunc(innerHeight * 0.8),
          },
          context: {},
          spare: false,
        },
      },
    ]);
    expect(frame()).toBeNull();
  });

  test("a tool to call goes with it", () => {
    element.tool = { server: "demo", name: "show", arguments: {} };
    document.body.append(element);
    expect(said[0]).toMatchObject({
      open: { tool: { server: "demo", name: "show" } },
    });
  });

  test("H-40, H-43, H-46, P-02 the frame is sandboxed, labelled, and listened to when the task ends that made it", () => {
    const listen = vi.spyOn(window, "addEventListener");
    open({ allow: "camera" });
    expect(listen).toHaveBeenCalledWith("message", expect.anything());
    listen.mockRestore();
    expect(frame()?.getAttribute("sandbox")).toBe(
      "allow-scripts allow-same-origin allow-forms",
    );
    expect(frame()?.title).toBe("Weather");
    expect(frame()?.allow).toBe("camera");
    expect(frame()?.src).toBe(`${ORIGIN}/`);
    expect(events[0]?.[0]).toBe("open");
  });

  test.each([
    [true, true],
    [false, false],
    [undefined, false],
  ])("H-50 border %s", (border, shown) => {
    open(border === undefined ? {} : { border });
    expect(element.hasAttribute("border")).toBe(shown);
  });

  test("removal says gone, stops listening and leaves no frame", () => {
    open();
    element.remove();
    expect(said.at(-1)).toEqual({ close: { reason: "gone" } });
    expect(frame()).toBeNull();
    const before = said.length;
    fromView({ method: "ping", id: 1 });
    expect(said.length).toBe(before);
    expect(events.at(-1)).toEqual(["close", { reason: "gone" }]);
  });

  test("close() asks, and the answer ends it", () => {
    open();
    element.close();
    expect(said.at(-1)).toEqual({ close: { reason: "user" } });
    expect(frame()).not.toBeNull();
    tell({ close: { reason: "teardown" } });
    expect(frame()).toBeNull();
    expect(events.at(-1)).toEqual(["close", { reason: "teardown" }]);
  });

  test("another view takes the place of the first", () => {
    open();
    element.setAttribute("view", "v2");
    expect(said.slice(-2)).toMatchObject([
      { close: { reason: "gone" } },
      { open: {} },
    ]);
    expect(frame()).toBeNull();
  });
});

describe("a spare", () => {
  const spare = () => {
    element.spare = true;
    document.body.append(element);
    tell({ spare: { src: `${ORIGIN}/` } });
    fromView({ method: READY, params: { guest: "https://guest.test" } });
  };
  const warm = () => {
    spare();
    arrive("spare", { source: view, origin: ORIGIN });
  };
  const READY = "ui/notifications/sandbox-proxy-ready";
  const opens = () => said.filter((one) => "open" in one);

  test("asks for a frame and not for a view, and tells nobody of it", () => {
    warm();
    expect(said).toEqual([{ spare: {} }]);
    expect(frame()?.src).toBe(`${ORIGIN}/`);
    expect(events).toEqual([]);
    expect(element.ignored).toBe(0);
  });

  test("that is loaded is the frame of the view, which gets the title and the tool of that moment", () => {
    warm();
    const before = frame();
    element.tool = { server: "demo", name: "show", arguments: {} };
    element.open();
    expect(opens()).toMatchObject([
      { open: { spare: true, tool: { name: "show" } } },
    ]);
    tell({ open: { src: `${ORIGIN}/`, title: "Weather", border: true } });
    expect(frame()).toBe(before);
    expect(frame()?.title).toBe("Weather");
    expect(element.hasAttribute("border")).toBe(true);
    // The word at which the porch shows its guest.
    expect(view.posted.map(({ data, target }) => [data, target])).toEqual([
      [{}, ORIGIN],
    ]);
    expect(events).toEqual([["open", expect.anything()]]);
    fromView({ id: 1, method: "tools/call", params: { name: "t" } });
    expect(messages()).toHaveLength(1);
  });

  test("is no frame for a view that may use something: that is settled when a frame loads", () => {
    warm();
    const before = frame();
    element.open();
    tell({ open: { src: `${ORIGIN}/`, allow: "camera" } });
    expect(frame()).not.toBe(before);
    expect(frame()?.allow).toBe("camera");
    expect(events).toEqual([["open", expect.anything()]]);
  });

  test("says nothing that counts, whatever it says", () => {
    warm();
    for (const method of ["ui/initialize", "tools/call", "ui/open-link"])
      fromView({ id: 1, method, params: {} });
    arrive("spare", { source: view, origin: "https://evil.test" });
    arrive("spare", { source: new FakeWindow(), origin: ORIGIN });
    expect(said).toEqual([{ spare: {} }]);
    expect(view.posted).toEqual([]);
  });

  test.each([
    ["that has not come", () => {}],
    ["whose porch did not load", spare],
  ])("%s is given up: the view opens as any other", (_, begin) => {
    begin();
    element.spare = true;
    document.body.append(element);
    element.open();
    expect(frame()).toBeNull();
    expect(opens()).toMatchObject([{ open: { spare: false } }]);
    // What was on its way is not taken for the view.
    tell({ spare: { src: `${ORIGIN}/late` } });
    expect(frame()).toBeNull();
    tell({ open: { src: `${ORIGIN}/other` } });
    expect(frame()?.src).toBe(`${ORIGIN}/other`);
  });

  test("of another address than the view's is given up", () => {
    warm();
    const before = frame();
    element.open();
    tell({ open: { src: "https://own.test/" } });
    expect(frame()?.src).toBe("https://own.test/");
    expect(frame()).not.toBe(before);
    expect(view.posted).toEqual([]);
  });

  test("whose process has ended is loaded again, under the same address", () => {
    warm();
    const before = frame();
    element.open();
    view.length = 0;
    tell({ open: { src: `${ORIGIN}/`, title: "Weather" } });
    expect(frame()).not.toBe(before);
    expect(frame()?.src).toBe(`${ORIGIN}/`);
    expect(frame()?.title).toBe("Weather");
  });

  test("is not loaded again because its view is busy", async () => {
    vi.useFakeTimers();
    warm();
    element.open();
    tell({ open: { src: `${ORIGIN}/` } });
    const before = frame();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(frame()).toBe(before);
    vi.useRealTimers();
  });

  test("is used once: a view that is told to open again is loaded anew", () => {
    warm();
    element.open();
    tell({ open: { src: `${ORIGIN}/` } });
    const before = frame();
    tell({ open: { src: `${ORIGIN}/` } });
    expect(frame()).not.toBe(before);
    expect(view.messages.filter((one) => !one.method)).toEqual([{}]);
  });

  test("that is removed says that it is gone", () => {
    warm();
    element.remove();
    expect(said.at(-1)).toEqual({ close: { reason: "gone" } });
    expect(frame()).toBeNull();
  });
});

describe("carrying", () => {
  test("H-47 messages go both ways as they are", () => {
    open();
    fromView({ id: 1, method: "tools/call", params: { name: "t" } });
    expect(messages()).toEqual([
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t" } },
    ]);
    tell({ message: '{"jsonrpc":"2.0","id":1,"result":{}}' });
    tell({ message: { jsonrpc: "2.0", method: "x" } });
    expect(view.posted).toEqual([
      {
        data: { jsonrpc: "2.0", id: 1, result: {} },
        target: ORIGIN,
        ports: [],
      },
      { data: { jsonrpc: "2.0", method: "x" }, target: ORIGIN, ports: [] },
    ]);
  });

  test.each([
    ["another window", { source: new FakeWindow() }],
    ["another origin", { origin: "https://evil.test" }],
    ["a synthetic event", { isTrusted: false }],
    ["no source", { source: null }],
  ])("%s is not carried", (_, arrival) => {
    open();
    fromView({ id: 1, method: "ping" }, arrival);
    expect(messages()).toEqual([]);
  });

  test("what is not a message is counted", () => {
    open();
    for (const data of ["text", null, [], { jsonrpc: "1.0" }])
      arrive(data, { source: view, origin: ORIGIN });
    expect(element.ignored).toBe(4);
    expect(messages()).toEqual([]);
  });

  test.each([
    [{}],
    [{ id: null, method: "x" }],
    [{ id: 1.5, method: "x" }],
    [{ id: 1, method: 7 }],
    [{ method: "x", params: [] }],
    [{ id: 1 }],
    [{ id: 1, result: {}, error: {} }],
  ])("%j is carried as it is: the host process judges it", (data) => {
    open();
    fromView(data);
    expect(messages()).toEqual([{ jsonrpc: "2.0", ...data }]);
    expect(element.ignored).toBe(0);
  });

  test("what JSON cannot hold is counted, and the view lives on", () => {
    element.channel = new InPageChannel((_, hear) => {
      tell = hear;
      return (one) => void JSON.stringify(one);
    });
    open();
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    fromView({ method: "x", params: cyclic });
    fromView({ method: "x", params: { n: 1n } });
    expect(element.ignored).toBe(2);
    expect(frame()).not.toBeNull();
  });

  test.each(["javascript:alert(1)", "data:text/html,x", "blob:https://x/1"])(
    "%s is not a page to mount",
    (src) => {
      open({ src });
      expect(frame()).toBeNull();
      expect(element.ignored).toBe(1);
    },
  );

  test("reserved names stay between the sandbox and the element", () => {
    open();
    fromView({ method: "ui/notifications/sandbox-proxy-ready", params: {} });
    expect(messages()).toEqual([]);
    expect(view.posted).toEqual([]);
  });

  test("H-44 a sandbox in raw mode gets its resource when it is ready", () => {
    const resource = { html: "<p>", csp: {} };
    open({ resource });
    expect(view.posted).toEqual([]);
    fromView({ method: "ui/notifications/sandbox-proxy-ready", params: {} });
    expect(view.messages).toEqual([
      {
        jsonrpc: "2.0",
        method: "ui/notifications/sandbox-resource-ready",
        params: resource,
      },
    ]);
  });

  test("text that is not JSON does not reach the view, and the channel lives on", () => {
    open();
    tell({ message: "{" });
    tell({ message: '{"jsonrpc":"2.0","method":"x"}' });
    tell({ message: '{"type":"ui-message-received"}' });
    expect(view.messages).toEqual([
      { jsonrpc: "2.0", method: "x" },
      { type: "ui-message-received" },
    ]);
    expect(element.ignored).toBe(1);
  });

  test("what a view of mcp-ui says goes to whoever judges, like every other message", () => {
    open();
    const call = { type: "tool", payload: { toolName: "x" } };
    for (const data of [call, { kind: "of others" }])
      arrive(data, { source: view, origin: ORIGIN });
    expect(messages()).toEqual([call]);
    expect(element.ignored).toBe(1);
  });

  test("asMessage reads either form", () => {
    expect(asMessage('{"jsonrpc":"2.0","method":"x"}')).toEqual({
      jsonrpc: "2.0",
      method: "x",
    });
    // In whatever form: what a view may be sent is for the gate to judge.
    expect(asMessage('{"type":"x"}')).toEqual({ type: "x" });
    expect(() => asMessage("{")).toThrow(SyntaxError);
  });

  describe("once a port was offered", () => {
    let port: FakePort;
    beforeEach(() => {
      open();
      const experimental = { "transom/port": {} };
      fromView({
        id: 0,
        method: "ui/initialize",
        params: { appCapabilities: { experimental } },
      });
      tell({
        message: {
          jsonrpc: "2.0",
          id: 0,
          result: { hostCapabilities: { experimental } },
        },
      });
      port = view.posted[0]!.ports[0]!;
    });

    test.each([[{}], [undefined], [new String("x")], [7]])(
      "%j on the port ends the view",
      async (thing) => {
        port.postMessage(thing);
        await settle();
        expect(said.at(-1)).toEqual({ close: { reason: "not-text" } });
        expect(frame()).toBeNull();
        expect(port.closed).toBe(true);
      },
    );

    test.each([
      "",
      "{",
      '{},"close":{"reason":"user"}',
      "[]",
      '{"method":"x"}',
      '{"jsonrpc":"2.0","id":null,"method":"x"}',
      '{"jsonrpc":"2.0","method":"ui/notifications/sandbox-proxy-ready"}',
    ])("%j on the port is carried as it is", async (text) => {
      const ready = '{"jsonrpc":"2.0","method":"ui/notifications/initialized"}';
      port.postMessage(ready);
      port.postMessage(text);
      await settle();
      expect(said.slice(-2)).toEqual([{ message: ready }, { message: text }]);
      expect(element.ignored).toBe(0);
    });

    test("what is held until the view chooses has an end, by number", async () => {
      const answer = (id: number) =>
        tell({ message: { jsonrpc: "2.0", id, result: {} } });
      for (let id = 1; id <= 1000; id++) answer(id);
      expect(frame()).not.toBeNull();
      for (let id = 1; id <= 100; id++) answer(id);
      expect(said.at(-1)).toEqual({ close: { reason: "flood" } });
      expect(frame()).toBeNull();
    });

    test("what is held until the view chooses has an end, by size", async () => {
      const text = `{"jsonrpc":"2.0","id":1,"result":{"x":"${"x".repeat(2 ** 23)}"}}`;
      for (let n = 0; n < 3; n++) tell({ message: text });
      expect(frame()).not.toBeNull();
      tell({ message: text });
      expect(said.at(-1)).toEqual({ close: { reason: "flood" } });
    });
  });

  describe("a view that writes to the page past its sandbox", () => {
    /** A frame inside the view's sandbox, so many levels below it. */
    const inside = (levels: number) => {
      let window: object = view;
      while (levels-- > 0) window = { parent: window };
      return window;
    };
    /** The data is a trap: nobody may look at it. */
    const trap = new Proxy(
      {},
      {
        get() {
          throw new Error("read");
        },
      },
    );
    const closes = () => said.filter((one) => "close" in one);

    test.each([1, 2, 5])(
      "is ended after a few, found %i levels up",
      (levels) => {
        open();
        const source = inside(levels);
        for (let n = 0; n < 5; n++) arrive(trap, { source, origin: "null" });
        expect(frame()).not.toBeNull();
        expect(element.ignored).toBe(5);
        arrive(trap, { source, origin: "null" });
        expect(closes()).toEqual([{ close: { reason: "past-sandbox" } }]);
        expect(frame()).toBeNull();
      },
    );

    test("is found by its origin when its frame is gone already", () => {
      open();
      const guest = "https://guest.test";
      const ready = "ui/notifications/sandbox-proxy-ready";
      fromView({ method: ready, params: { guest } });
      for (const origin of ["null", "https://other.test", ""])
        for (let n = 0; n < 9; n++) arrive(trap, { source: null, origin });
      expect(frame()).not.toBeNull();
      for (let n = 0; n < 6; n++) arrive(trap, { source: null, origin: guest });
      expect(closes()).toEqual([{ close: { reason: "past-sandbox" } }]);
    });

    test("is not charged alone for what came from an origin that another view has too", () => {
      open();
      const other = document.createElement("transom-view") as TransomView;
      other.setAttribute("view", "v2");
      const mine = tell;
      other.channel = element.channel!;
      document.body.append(other);
      tell({ open: { src: `${ORIGIN}/` } });
      tell = mine;
      const guest = "https://guest.test";
      fromView({
        method: "ui/notifications/sandbox-proxy-ready",
        params: { guest },
      });
      const stray = () => arrive(trap, { source: null, origin: guest });
      for (let n = 0; n < 90; n++) stray();
      expect(closes()).toEqual([]);
      expect([element.ignored, other.ignored]).toEqual([90, 90]);
      for (let n = 0; n < 20; n++) stray();
      const past = { close: { reason: "past-sandbox" } };
      expect(closes()).toEqual([past, past]);
      other.remove();
    });

    test("is not ended for what others wrote", () => {
      open();
      const stranger: { parent?: object } = {};
      stranger.parent = stranger;
      for (const source of [
        stranger,
        { parent: stranger },
        { parent: null },
        {},
        null,
      ])
        for (let n = 0; n < 9; n++) arrive(trap, { source });
      for (let n = 0; n < 9; n++)
        arrive(trap, { source: inside(1), isTrusted: false });
      expect(frame()).not.toBeNull();
      expect(element.ignored).toBe(0);
    });

    test("is forgiven one a minute", () => {
      vi.useFakeTimers({ toFake: ["performance"] });
      open();
      for (let n = 0; n < 30; n++) {
        arrive(trap, { source: inside(1) });
        vi.advanceTimersByTime(60_000);
      }
      expect(frame()).not.toBeNull();
    });
  });

  test("data of the frame counts only from its origin, and is not read otherwise", () => {
    open();
    let read = 0;
    const data = {
      get jsonrpc() {
        return ++read && "2.0";
      },
    };
    arrive(data, { source: view, origin: "https://evil.test" });
    expect(read).toBe(0);
  });
});

describe("obeying", () => {
  test("H-85 sizes", () => {
    open();
    tell({ resize: { width: 300, height: 210 } });
    expect(box().style.getPropertyValue("--height")).toBe("210px");
    expect(box().style.getPropertyValue("--width")).toBe("300px");
    expect(events.at(-1)).toEqual(["resize", { width: 300, height: 210 }]);
  });

  test("an unanswered question is denied, a taken one waits for its answer", () => {
    open();
    const ask = {
      id: "a1",
      kind: "tools",
      text: "?",
      choices: ["allow", "deny"],
    };
    tell({ ask });
    expect(said.at(-1)).toEqual({ answer: { id: "a1", choice: "deny" } });
    let answer!: (choice: string) => void;
    element.addEventListener("transom-ask", (event) => {
      event.preventDefault();
      ({ answer } = (event as CustomEvent<{ answer: typeof answer }>).detail);
    });
    const before = said.length;
    tell({ ask });
    expect(said.length).toBe(before);
    answer("allow");
    expect(said.at(-1)).toEqual({ answer: { id: "a1", choice: "allow" } });
  });

  test("a sandbox that had to stop its guest is taken away, and the host process is told", () => {
    open();
    fromView({ method: "ui/notifications/sandbox-stopped", params: {} });
    expect(said.at(-1)).toEqual({ close: { reason: "flood" } });
    expect(frame()).toBeNull();
    tell({ text: { why: "The view was stopped.", text: "12 °C" } });
    tell({ close: { reason: "flood" } });
    expect(events.at(-1)).toEqual(["close", { reason: "flood" }]);
  });

  test.each([
    ["not-text", "not-text"],
    ["flood", "flood"],
    ["anything", "flood"],
    [7, "flood"],
  ])("the reason %j of a sandbox is told as %s", (reason, told) => {
    open();
    const method = "ui/notifications/sandbox-stopped";
    fromView({ method, params: { reason } });
    expect(said.at(-1)).toEqual({ close: { reason: told } });
  });

  test("a guest's list of one word is none of the sandbox's words: the host process judges it", () => {
    open();
    for (const word of ["stopped", "dropped", "proxy-ready", "active"]) {
      const message = { method: [`ui/notifications/sandbox-${word}`] };
      fromView({ ...message, params: { reason: "flood", guest: ORIGIN } });
      expect(messages().at(-1)).toMatchObject(message);
    }
    expect(frame()).not.toBeNull();
  });

  test("what the sandbox dropped is told to the host process, and the view goes on", () => {
    open();
    for (const params of [{}, { id: 7, method: "tools/call" }]) {
      fromView({ method: "ui/notifications/sandbox-dropped", params });
      expect(said.at(-1)).toEqual({ dropped: params });
    }
    expect(frame()).not.toBeNull();
  });

  test("what is for the page to show or to do is told to it, and its report goes back", () => {
    open();
    const deed = { id: "d1", kind: "link", url: "https://example.com/" };
    const heard: unknown[] = [];
    for (const name of ["transom-do", "transom-withdraw"])
      element.addEventListener(name, (event) =>
        heard.push((event as CustomEvent).detail),
      );
    tell({ do: deed });
    tell({ withdraw: { id: "a1" } });
    expect(heard).toEqual([deed, { id: "a1" }]);
    element.say({ did: { id: "d1", done: true } });
    expect(said.at(-1)).toEqual({ did: { id: "d1", done: true } });
  });

  describe("display modes", () => {
    let popover: boolean;
    beforeEach(() => {
      popover = false;
      Object.assign(HTMLElement.prototype, {
        showPopover: () => (popover = true),
        requestFullscreen: () => Promise.reject(new Error("no activation")),
      });
      // As in a browser: what is no popover any more is hidden.
      Object.defineProperty(HTMLElement.prototype, "popover", {
        configurable: true,
        set: (kind: string | null) => (popover &&= kind !== null),
      });
    });

    test.each(["pip", "fullscreen"] as const)(
      "%s is in the top layer, and the frame stays where it is",
      async (mode) => {
        open();
        const before = frame();
        const parent = before?.parentNode;
        tell({ mode: { mode } });
        await settle();
        expect(popover).toBe(true);
        expect(box().className).toBe(mode);
        expect(said.at(-1)).toEqual({ mode: { mode } });
        expect(frame()).toBe(before);
        expect(frame()?.parentNode).toBe(parent);

        const button = element.shadowRoot!.querySelector("button")!;
        expect(button.ariaLabel).toBe("Close");
        button.click();
        await settle();
        expect(popover).toBe(false);
        expect(element.mode).toBe("inline");
        expect(said.at(-1)).toEqual({ mode: { mode: "inline" } });
      },
    );

    test("H-84 in fullscreen the view is told that it has all of the window", async () => {
      open();
      tell({ mode: { mode: "fullscreen" } });
      await settle();
      expect(said.slice(-2)).toEqual([
        { resize: { width: box().clientWidth, height: box().clientHeight } },
        { mode: { mode: "fullscreen" } },
      ]);
    });

    test("a view that ends in the top layer leaves nothing there", async () => {
      open();
      tell({ mode: { mode: "pip" } });
      await settle();
      tell({ close: { reason: "teardown" } });
      await settle();
      expect(popover).toBe(false);
      expect(element.mode).toBe("inline");
    });

    test("Escape leaves it when the page has the focus", async () => {
      open();
      tell({ mode: { mode: "pip" } });
      await settle();
      box().dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
      await settle();
      expect(element.mode).toBe("inline");
    });

    test("H-82 a mode that the page does not offer leaves the one in force", async () => {
      element.modes = ["inline"];
      open();
      tell({ mode: { mode: "pip" } });
      await settle();
      expect(said.at(-1)).toEqual({ mode: { mode: "inline" } });
      expect(popover).toBe(false);
    });
  });
});
