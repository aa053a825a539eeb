/** `EventSource` over the stream of a carried `fetch`. */
import { openLines } from "./lines.js";

type Fetch = typeof fetch;
type Handler = ((event: Event) => unknown) | null;

/** Makes the class, for requests that are carried by this `fetch`. */
export function eventSourceOver(carried: Fetch, base: () => string) {
  class EventSource extends Carried {
    static override carried = carried;
    static override base = base;
  }
  return EventSource as unknown as typeof globalThis.EventSource;
}

class Carried extends EventTarget {
  /** Those of the class that is made of this one. */
  static carried: Fetch;
  static base: () => string;
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 2;
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSED = 2;
  readonly url: string;
  readonly withCredentials: boolean;
  readyState: 0 | 1 | 2 = 0;
  declare onopen: Handler;
  declare onmessage: Handler;
  declare onerror: Handler;
  #closed = new AbortController();

  constructor(url: string | URL, init: { withCredentials?: boolean } = {}) {
    super();
    this.url = resolve(url, this.#class.base());
    this.withCredentials = Boolean(init.withCredentials);
    void this.#run();
  }

  get #class() {
    return this.constructor as typeof Carried;
  }

  close() {
    this.readyState = 2;
    this.#closed.abort();
  }

  async #run() {
    const { signal } = this.#closed;
    let wait = RETRY;
    let failures = 0;
    let lastEventId = "";
    while (this.readyState !== 2) {
      const lines = openLines(lastEventId);
      try {
        const response = await this.#class.carried(this.url, {
          headers: {
            accept: "text/event-stream",
            ...(lastEventId && { "last-event-id": utf8(lastEventId) }),
          },
          cache: "no-store",
          signal,
        });
        if (!isEvents(response)) return this.#fail();
        this.#enter(1, "open");
        failures = 0;
        const reader = response.body!.getReader();
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          for (const event of lines.push(value)) this.#tell(event, response);
          lastEventId = lines.lastEventId();
          wait = lines.retry ?? wait;
        }
      } catch {
        // The connection is gone; what is next is the same as at its end.
        failures++;
      }
      if (signal.aborted) return;
      this.#enter(0, "error");
      await pause(
        Math.min(wait * 2 ** Math.max(failures - 1, 0), CEILING),
        signal,
      );
    }
  }

  #tell(
    { type, ...init }: { type: string; data: string; lastEventId: string },
    { url }: Response,
  ) {
    if (this.readyState === 2) return;
    const { origin } = new URL(url);
    this.dispatchEvent(new MessageEvent(type, { ...init, origin }));
  }

  /** For good: what answers is no source of events (SSE-4). */
  #fail() {
    if (this.readyState !== 2) this.#enter(2, "error");
    this.#closed.abort();
  }

  #enter(state: 0 | 1 | 2, event: string) {
    if (this.readyState === 2) return;
    this.readyState = state;
    this.dispatchEvent(new Event(event));
  }
}
/** Properties that hold one handler each, called in the order in which they were first set. */
export function handlers(prototype: EventTarget, names: string[]): void {
  for (const name of names) {
    const kept = new WeakMap<object, { handler: Handler }>();
    Object.defineProperty(prototype, `on${name}`, {
      configurable: true,
      enumerable: true,
      get(this: EventTarget): Handler {
        return kept.get(this)?.handler ?? null;
      },
      set(this: EventTarget, given: unknown) {
        const handler = typeof given === "function" ? (given as Handler) : null;
        const slot = kept.get(this);
        if (slot) slot.handler = handler;
        else if (handler) {
          const slot: { handler: Handler } = { handler };
          kept.set(this, slot);
          this.addEventListener(name, (event) =>
            slot.handler?.call(this, event),
          );
        }
      },
    });
  }
}

function resolve(url: string | URL, base: string): string {
  try {
    return new URL(url, base).href;
  } catch {
    throw new DOMException(`"${url}" is no address`, "SyntaxError");
  }
}

function isEvents({ status, headers, body }: Response): boolean {
  const type = headers.get("content-type") ?? "";
  return (
    status === 200 && body !== null && /^text\/event-stream\s*(;|$)/i.test(type)
  );
}

/** A header's text is bytes, each of them a letter. */
function utf8(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms * (0.9 + Math.random() / 5));
    signal.addEventListener("abort", end);
  });
}

/** What browsers wait unless the server says otherwise. */
const RETRY = 3_000;
const CEILING = 60_000;

handlers(Carried.prototype, ["open", "message", "error"]);
