/** Who has the keyboard, as far as no browser is needed to tell: what becomes of a sandbox's answer. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A view that has the keyboard, and whose sandbox is asked why; what it answers comes so many milliseconds later. */
async function taken(active: unknown, later: number, from?: string) {
  const { guard } = await import("../src/keyboard.js");
  if (from) {
    const before = document.body.appendChild(document.createElement(from));
    before.dispatchEvent(new FocusEvent("focusin", { bubbles: true }));
    // Whoever wrote there stopped a while ago.
    await vi.advanceTimersByTimeAsync(6_000);
  }
  const [frame, view] = [
    document.createElement("div"),
    document.createElement("div"),
  ];
  const [blur, end, ask] = [vi.spyOn(frame, "blur"), vi.fn(), vi.fn()];
  const it = guard(frame, view, end);
  it.ask = () => {
    ask();
    return new Promise((done) => setTimeout(() => done(active), later));
  };
  vi.spyOn(document, "activeElement", "get").mockReturnValue(frame);
  await vi.advanceTimersByTimeAsync(100);
  expect(ask).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(later);
  return { blur, end };
}

test.each([
  ["a yes in time lets the view have it", true, 190, 0],
  ["so does a late one: the view is busy with the click", true, 600, 0],
  ["and after a button had it", true, 600, 0, "button"],
  [
    "what was written into may be what a late yes tells of",
    true,
    210,
    1,
    "input",
  ],
  ["so may a text of several lines", true, 210, 1, "textarea"],
  ["in time it cannot be", true, 190, 0, "input"],
  ["a no takes it back, in time", false, 190, 1],
  ["and late", false, 1_500, 1],
  ["no answer takes it back", undefined, 2_000, 1],
])("%s", async (_, active, later, times, from?: string) => {
  const { blur, end } = await taken(active, later, from);
  expect(blur).toHaveBeenCalledTimes(times);
  expect(end).not.toHaveBeenCalled();
});
