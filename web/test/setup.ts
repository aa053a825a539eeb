/** What a browser has and the test environment lacks, in the form that the tests can steer. */
import { afterEach, beforeEach, vi } from "vitest";
import { FakeChannel, FakePort } from "./stage.js";

beforeEach(() => {
  vi.stubGlobal("MessagePort", FakePort);
  vi.stubGlobal("MessageChannel", FakeChannel);
  vi.stubGlobal("reportError", vi.fn());
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
