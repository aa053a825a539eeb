/** What a browser has and the test environment lacks, in the form that the tests can steer. */
import { afterAll, afterEach, beforeEach, vi } from "vitest";
import { FakeChannel, FakePort } from "./stage.js";

// Frames are never loaded here, and the environment says so every time.
const write = process.stderr.write.bind(process.stderr);
process.stderr.write = ((text: string, ...rest: never[]) =>
  `${text}`.includes("Iframe page loading is disabled") ||
  write(text, ...rest)) as typeof process.stderr.write;

beforeEach(() => {
  vi.stubGlobal("MessagePort", FakePort);
  vi.stubGlobal("MessageChannel", FakeChannel);
  vi.stubGlobal("reportError", vi.fn());
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

// What looks after something for as long as its page lives. Here a page ends with its file of tests.
const begun: ReturnType<typeof setInterval>[] = [];
const setReal = globalThis.setInterval;
globalThis.setInterval = ((...how: Parameters<typeof setReal>) => {
  const timer = setReal(...how);
  begun.push(timer);
  return timer;
}) as typeof setReal;
afterAll(() => begun.forEach((timer) => clearInterval(timer)));

// Every browser has it, the simulated one has not.
globalThis.origin ??= "https://view.test";
