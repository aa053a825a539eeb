import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "transom";
import { FakeHost, settle, standUnder } from "./stage.js";

let host: FakeHost;
let app: App;
let observers: (() => void)[];
/** The document's natural height for a given viewport. */
let layout: (viewport: number) => number;

beforeEach(async () => {
  vi.useFakeTimers();
  observers = [];
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(changed: () => void) {
        observers.push(changed);
      }
      observe() {}
      disconnect() {
        observers = [];
      }
    },
  );
  vi.stubGlobal("innerWidth", 400);
  vi.stubGlobal("innerHeight", 100);
  vi.spyOn(
    document.documentElement,
    "getBoundingClientRect",
  ).mockImplementation(() => ({ height: layout(innerHeight) }) as DOMRect);
  layout = () => 210;
  host = standUnder(new FakeHost()) as FakeHost;
  app = new App({ name: "v", version: "1" });
  const ready = app.connect();
  await settle();
  host.welcome();
  await ready;
  return () => app.close();
});
afterEach(() => vi.restoreAllMocks());

const sizes = () =>
  host.messages
    .filter((m) => m.method === "ui/notifications/size-changed")
    .map((m) => m.params);

/** One frame: the layout changed, the document is measured, the Host obeys. */
async function frame(obey = true) {
  observers.forEach((changed) => changed());
  await settle();
  const last = sizes().at(-1);
  if (obey && last) vi.stubGlobal("innerHeight", last.height);
}

test("V-10 the size is reported after the handshake, once per change", async () => {
  await frame();
  await frame();
  expect(sizes()).toEqual([{ width: 400, height: 210 }]);
  layout = () => 300.2;
  await frame();
  expect(sizes().at(-1)).toEqual({ width: 400, height: 301 });
});

test("H-86 a layout that grows with the viewport does not loop", async () => {
  layout = (viewport) => viewport + 16;
  for (let n = 0; n < 200; n++) {
    await frame();
    await vi.advanceTimersByTimeAsync(20);
  }
  expect(sizes().length).toBeLessThan(14);
});

test("a layout that grows in proportion to the viewport does not loop either", async () => {
  layout = (viewport) => viewport * 1.1;
  for (let n = 0; n < 200; n++) {
    await frame();
    await vi.advanceTimersByTimeAsync(1100);
  }
  expect(sizes().length).toBeLessThan(14);
});

test("content that grows line by line is followed to its end", async () => {
  let lines = 1;
  layout = () => lines * 20;
  for (; lines < 100; lines++) await frame();
  await frame();
  await vi.advanceTimersByTimeAsync(1100);
  expect(sizes().at(-1)?.height).toBe(2000);
});

test("after a loop the content's own growth is reported again", async () => {
  let extra = 0;
  layout = (viewport) => viewport + 16 + extra;
  for (let n = 0; n < 50; n++) await frame();
  await vi.advanceTimersByTimeAsync(1100);
  await frame();
  await frame();
  const before = sizes().length;
  extra = 100;
  await frame();
  expect(sizes().length).toBe(before + 1);
});

test("one element's size is reported when it is asked for", async () => {
  await app.close();
  const quiet = new App({ name: "v", version: "1" }, {}, { autoResize: false });
  const ready = quiet.connect();
  await settle();
  host.welcome();
  await ready;
  const element = document.createElement("main");
  vi.spyOn(element, "getBoundingClientRect").mockImplementation(
    () => ({ height: 77 }) as DOMRect,
  );
  const stop = quiet.setupSizeChangedNotifications(element);
  await frame(false);
  expect(sizes().at(-1)).toEqual({ width: 400, height: 77 });
  stop();
  expect(observers).toEqual([]);
  await quiet.close();
});

test("nothing is watched after close", async () => {
  await app.close();
  expect(observers).toEqual([]);
});

test("autoResize: false reports nothing", async () => {
  const quiet = new App({ name: "v", version: "1" }, {}, { autoResize: false });
  observers = [];
  const ready = quiet.connect();
  await settle();
  host.welcome();
  await ready;
  expect(observers).toEqual([]);
  await quiet.close();
});
