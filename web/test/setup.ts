/** What a browser has and the test environment lacks, in the form that the tests can steer. */
import { afterEach, beforeEach, vi } from "vitest";
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

// Every browser has it, the simulated one has not.
globalThis.origin ??= "https://view.test";
