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
async function taken(active: unknown, later: number) {
  const { guard } = await import("../src/keyboard.js");
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
  ["a yes that comes late counts as no answer", true, 210, 1],
  ["a no takes it back, in time", false, 190, 1],
  ["and late", false, 1_500, 1],
  ["no answer takes it back", undefined, 2_000, 1],
])("%s", async (_, active, later, times) => {
  const { blur, end } = await taken(active, later);
  expect(blur).toHaveBeenCalledTimes(times);
  expect(end).not.toHaveBeenCalled();
});
