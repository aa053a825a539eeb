import { beforeEach, describe, expect, test, vi } from "vitest";
import { FakeChannel, FakeWindow, standUnder } from "./stage.js";

const HOME = window.origin;
let sandbox: FakeWindow;

/** The guest's window, with a realm of its own as far as events go. */
class Guest extends FakeWindow {
  MessageEvent = class {
    constructor(readonly told: { source: unknown; origin: string }) {}
    get source() {
      return this.told.source;
    }
    get origin() {
      return this.told.origin;
    }
  };
}
let guest: Guest;
const heard: EventListener[] = [];

beforeEach(() => run());

async function run(settings: Record<string, string> = {}) {
  document.body.replaceChildren();
  sandbox = standUnder(new FakeWindow());
  guest = new Guest();
  Object.defineProperty(window, 0, { configurable: true, value: guest });
  for (const listener of heard.splice(0))
    window.removeEventListener("message", listener);
  const really = window.addEventListener.bind(window);
  const add = vi
    .spyOn(window, "addEventListener")
    .mockImplementation((type: string, listener: unknown) => {
      heard.push(listener as EventListener);
      really(type, listener as EventListener);
    });
  const script = document.createElement("script");
  Object.assign(script.dataset, { guest: "/v", ...settings });
  Object.defineProperty(document, "currentScript", {
    configurable: true,
    value: script,
  });
  document.title = "a server";
  vi.resetModules();
  await import("transom/porch");
  add.mockRestore();
}

const post = (...words: unknown[]) =>
  (window.postMessage as (...words: unknown[]) => void)(...words);
const arrive = (data: unknown, source: unknown, origin = HOME) => {
  const event = new Event("message");
  const members = { data, source, origin, ports: [] };
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(event, name, { value });
  window.dispatchEvent(event);
};

test("it shows the guest, under the name of its server", () => {
  const frame = document.querySelector("iframe");
  expect(frame?.getAttribute("src")).toBe("/v");
  expect(frame?.title).toBe("a server");
});

describe("a spare", () => {
  beforeEach(async () => {
    await run({ spare: "yes" });
    Object.defineProperty(window, 0, { configurable: true, value: undefined });
  });
  const frames = () => document.querySelectorAll("iframe").length;

  test("shows nothing and tells the sandbox that it is there, until that says something", () => {
    expect(frames()).toBe(0);
    expect(sandbox.messages).toEqual(["spare"]);
    arrive({}, sandbox);
    expect(frames()).toBe(1);
    expect(document.querySelector("iframe")?.getAttribute("src")).toBe("/v");
    // Once: a guest that takes itself away does not come back.
    arrive({}, sandbox);
    expect(frames()).toBe(1);
  });

  test("shows nothing for anybody else", () => {
    for (const source of [null, new FakeWindow(), window]) arrive({}, source);
    expect(frames()).toBe(0);
    expect(sandbox.messages).toEqual(["spare"]);
  });
});

describe("what a guest says to its parent", () => {
  test.each([
    ["to anyone", ["*"]],
    ["to this origin", ["/"]],
    ["to this origin by name", [HOME]],
    ["to nobody in particular", []],
    ["with options", [{ targetOrigin: "*" }]],
    ["with options that name nobody", [{}]],
  ])("%s goes to the sandbox", (_, words) => {
    post({ n: 1 }, ...words);
    expect(sandbox.posted).toEqual([
      { data: { n: 1 }, target: "*", ports: [] },
    ]);
  });

  test.each([
    ["by name", ["https://other.test"]],
    ["by a name that begins like ours", [`${HOME}.evil.test`]],
    ["with options", [{ targetOrigin: "https://other.test" }]],
  ])("to another origin %s goes nowhere", (_, words) => {
    post({ n: 1 }, ...words);
    expect(sandbox.posted).toEqual([]);
  });

  test("takes its ports along, either way of saying so", () => {
    const { port1, port2 } = new FakeChannel();
    post({}, "*", [port1]);
    post({}, { targetOrigin: "*", transfer: [port2] });
    expect(sandbox.posted.map(({ ports }) => ports)).toEqual([
      [port1],
      [port2],
    ]);
  });

  test("with a window's own function goes on too, and nobody else's does", () => {
    arrive({ n: 1 }, guest);
    arrive({ n: 2 }, new FakeWindow());
    arrive({ n: 3 }, null);
    arrive({ n: 4 }, guest, "https://elsewhere.test");
    expect(sandbox.messages).toEqual([{ n: 1 }]);
  });
});

describe("what the guest hears", () => {
  test("of the sandbox comes from its parent, and of others from them", () => {
    post({});
    const stranger = new FakeWindow();
    const seen = (source: unknown, origin: string) => {
      const event = new guest.MessageEvent({ source, origin });
      return [event.source, event.origin];
    };
    expect(seen(sandbox, "https://sandbox.test")).toEqual([window, HOME]);
    expect(seen(stranger, "https://s.test")).toEqual([
      stranger,
      "https://s.test",
    ]);
    // Told again, it is told the same.
    post({});
    expect(seen(sandbox, "https://sandbox.test")).toEqual([window, HOME]);
  });

  test("after it was loaded anew is no different", () => {
    post({});
    guest.MessageEvent = new Guest().MessageEvent;
    post({});
    const event = new guest.MessageEvent({ source: sandbox, origin: "x" });
    expect(event.source).toBe(window);
  });

  test("before it has said anything comes through here", () => {
    arrive({ n: 1 }, sandbox);
    expect(guest.posted).toEqual([{ data: { n: 1 }, target: "/", ports: [] }]);
    expect(sandbox.posted).toEqual([]);
  });
});
