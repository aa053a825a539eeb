/** Two pages in one test: an outer and an inner window that post to each other, and a control that the test steers. */
import { vi } from "vitest";
import type { WindowControl } from "transom/frames";
import { arrive, settle, type FakePort } from "./stage.js";

export const OUTER = "https://client.test";
export const INNER = "https://server.test";
export const URL_OF_INNER = `${INNER}/mcp`;
export const SESSION = "11111111-2222-4333-8444-555555555555";

export type Posted = { data: Record<string, unknown>; target: string };

/** A window as the other page sees it: what is posted to it arrives, as a message from `from`, if the origin fits. */
export class LinkedWindow {
  readonly posted: Posted[] = [];
  closed = false;
  from: LinkedWindow | undefined;
  constructor(public origin: string) {}

  postMessage(data: unknown, target: string, ports: FakePort[] = []) {
    const copy = structuredClone(data) as Posted["data"];
    this.posted.push({ data: copy, target });
    const from = this.from;
    if (!from) return;
    const fits = target === "*" || target === "/" || target === this.origin;
    if (fits)
      queueMicrotask(() =>
        arrive(copy, { source: from, origin: from.origin, ports }),
      );
  }
  close() {
    this.closed = true;
  }
  types(): unknown[] {
    return this.posted.map(({ data }) => data.type);
  }
}

/** A control without a document; `windows` are those it has opened. */
export class FakeControl implements WindowControl {
  kind: "iframe" | "popup" = "iframe";
  opaque = false;
  loads: number | undefined = 0;
  gone = false;
  readonly calls: string[] = [];
  readonly urls: string[] = [];
  permissions: readonly string[] = [];
  /** What happens when an address is loaded. */
  onnavigate: (url: string) => void = () => {};
  constructor(readonly page: LinkedWindow) {}

  open(_: string, permissions: readonly string[]) {
    this.calls.push("open");
    this.permissions = permissions;
    this.gone = false;
    if (this.loads !== undefined) this.loads = 0;
    return this.page as unknown as Window;
  }
  navigate(url: string) {
    this.calls.push("navigate");
    this.urls.push(url);
    this.onnavigate(url);
  }
  show() {
    this.calls.push("show");
  }
  hide() {
    this.calls.push("hide");
  }
  destroy() {
    this.calls.push("destroy");
  }
}

/** Both windows, wired to each other; the page under test is both at once, told apart by who speaks. */
export function openWorld() {
  const outer = new LinkedWindow(OUTER);
  const inner = new LinkedWindow(INNER);
  outer.from = inner;
  inner.from = outer;
  Object.defineProperty(window, "parent", {
    value: outer,
    configurable: true,
  });
  vi.stubGlobal("parent", outer);
  location.hash = "";
  const control = new FakeControl(inner);
  return {
    outer,
    inner,
    control,
    /** Says something as the inner page. */
    fromInner: (data: unknown, origin = inner.origin) =>
      arrive(data, { source: inner, origin }),
    /** Says something as the outer page. */
    fromOuter: (data: unknown, origin = outer.origin) =>
      arrive(data, { source: outer, origin }),
  };
}

export const SETUP_HELLO = {
  type: "MCP_SETUP_HANDSHAKE",
  protocolVersion: "1.0",
  requiresVisibleSetup: false,
};
export const HELLO = {
  type: "MCP_TRANSPORT_HANDSHAKE",
  protocolVersion: "1.0",
};
export const COMPLETE = {
  type: "MCP_SETUP_COMPLETE",
  status: "success",
  serverTitle: "Pi",
  transportVisibility: { requirement: "hidden" },
};
export const ACCEPTED = { type: "MCP_TRANSPORT_ACCEPTED", sessionId: SESSION };
export const SETUP_REPLY = {
  type: "MCP_SETUP_HANDSHAKE_REPLY",
  protocolVersion: "1.0",
  sessionId: SESSION,
};
export const REPLY = {
  type: "MCP_TRANSPORT_HANDSHAKE_REPLY",
  protocolVersion: "1.0",
  sessionId: SESSION,
};
export const SETUP_REQUIRED = {
  type: "MCP_SETUP_REQUIRED",
  reason: "AUTH_EXPIRED",
  message: "sign in again",
  canContinue: true,
};
export const PING = {
  type: "MCP_MESSAGE",
  payload: { jsonrpc: "2.0", id: 1, method: "ping" },
};

/** Every message of the protocol, well formed. */
export const EIGHT = [
  SETUP_HELLO,
  SETUP_REPLY,
  COMPLETE,
  HELLO,
  REPLY,
  ACCEPTED,
  SETUP_REQUIRED,
  PING,
];

/** Lets timers and messages run for a while of virtual time. */
export async function pass(ms: number) {
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}

/** How a promise ended: its value, or the code of what it was rejected with, or "pending". */
export async function fate(promise: Promise<unknown>): Promise<unknown> {
  let ended: unknown = "pending";
  promise.then(
    (value) => (ended = value ?? "resolved"),
    // A FrameError is named by its code.
    (error: Error) => (ended = error.name),
  );
  await settle();
  return ended;
}

/** The same transport, whose promises may be rejected without anybody waiting for them. */
export function unwatched<T extends object>(transport: T): T {
  for (const name of ["start", "setup"] as const) {
    const begin = (
      transport as Record<string, (...args: unknown[]) => Promise<unknown>>
    )[name]!;
    Object.assign(transport, {
      [name]: (...args: unknown[]) => {
        const promise = begin.apply(transport, args);
        promise.catch(() => {});
        return promise;
      },
    });
  }
  return transport;
}
