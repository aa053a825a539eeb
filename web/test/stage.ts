/** Windows and ports that tests can hold in their hands: every message is delivered when they say so. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";

export type Wire = Record<string, unknown> & {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
};

/** One end of a port; what is posted arrives at the other end in a microtask. */
export class FakePort {
  other: FakePort | undefined;
  closed = false;
  started = false;
  readonly #listeners = new Set<(event: unknown) => void>();

  addEventListener(_: "message", listener: (event: unknown) => void) {
    this.#listeners.add(listener);
  }
  removeEventListener(_: "message", listener: (event: unknown) => void) {
    this.#listeners.delete(listener);
  }
  start() {
    this.started = true;
  }
  close() {
    this.closed = true;
    if (this.other) this.other.closed = true;
  }
  postMessage(data: unknown) {
    if (this.closed) return;
    queueMicrotask(() => this.other?.hear(data));
  }
  hear(data: unknown) {
    if (this.closed) return;
    const event = {
      isTrusted: true,
      source: null,
      origin: "",
      data,
      ports: [] as FakePort[],
    };
    for (const listener of this.#listeners) listener(event);
  }
}

export class FakeChannel {
  readonly port1 = new FakePort();
  readonly port2 = new FakePort();
  constructor() {
    this.port1.other = this.port2;
    this.port2.other = this.port1;
  }
}

/** Another window: remembers what was posted to it. */
export class FakeWindow {
  /** How many frames are in it. */
  length = 1;
  readonly posted: { data: Wire; target: string; ports: FakePort[] }[] = [];
  postMessage(data: unknown, target: string, ports: FakePort[] = []) {
    this.posted.push({
      data: structuredClone(data) as Wire,
      target,
      ports: [...ports],
    });
  }
  get messages(): Wire[] {
    return this.posted.map(({ data }) => data);
  }
}

export type Arrival = {
  source?: unknown;
  origin?: string;
  ports?: FakePort[];
  isTrusted?: boolean;
};

/** Delivers a message event to this window. */
export function arrive(
  data: unknown,
  { source, origin = HOST, ports = [], isTrusted = true }: Arrival,
) {
  const event = new Event("message");
  const members = { data, source, origin, ports, isTrusted };
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(event, name, { value });
  window.dispatchEvent(event);
}

export const HOST = "https://host.test";

/** Makes a fake window the parent of the page under test. */
export function standUnder(parent: FakeWindow) {
  vi.stubGlobal("parent", parent);
  Object.defineProperty(window, "parent", {
    value: parent,
    configurable: true,
  });
  return parent;
}

/** A Host in the parent window, for the View's tests. */
export class FakeHost extends FakeWindow {
  /** Says something to the View. */
  say(message: object, arrival: Arrival = {}) {
    arrive({ jsonrpc: "2.0", ...message }, { source: this, ...arrival });
  }
  last(method: string): Wire {
    const found = this.messages.filter((m) => m.method === method).at(-1);
    if (!found)
      throw new Error(`no ${method} among ${JSON.stringify(this.messages)}`);
    return found;
  }
  answer(method: string, result: object, arrival: Arrival = {}) {
    this.say({ id: this.last(method).id, result }, arrival);
  }
  refuse(method: string, code: number, message: string) {
    this.say({ id: this.last(method).id, error: { code, message } });
  }
  welcome(more: object = {}, arrival: Arrival = {}) {
    this.answer("ui/initialize", { ...WELCOME, ...more }, arrival);
  }
}

export const WELCOME = {
  protocolVersion: "2026-01-26",
  hostInfo: { name: "host", version: "1" },
  hostCapabilities: { serverTools: {} },
  hostContext: { theme: "dark" },
};

/** Every frame that is mounted from here on is this window. */
export function mockFrames(view: FakeWindow) {
  Object.defineProperty(HTMLIFrameElement.prototype, "contentWindow", {
    configurable: true,
    get: () => view,
  });
}

/** Lets everything that is ready to happen happen. */
export async function settle() {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

// Paths and not URLs: the test environment has a URL class of its own.
const fixtures = join(process.cwd(), "../fixtures");

/** Files of the shared fixtures; none when the folder is not there. */
export function fixtureFiles(folder: string, ending: string): string[] {
  try {
    return readdirSync(join(fixtures, folder))
      .filter((name) => name.endsWith(ending))
      .sort();
  } catch {
    return [];
  }
}

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(fixtures, path), "utf8")) as T;
}

export function readLines<T>(path: string): T[] {
  return readFileSync(join(fixtures, path), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}
