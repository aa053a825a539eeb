/** What both sides of the transport have in common: handlers, limits, deadlines, and the check of what is sent. */
import type { RequestId } from "../wire.js";
import type { FrameError } from "./error.js";
import { SIZE_LIMIT, type Message, type Parsed } from "./messages.js";
import { readPayload, type Payload } from "./payload.js";

/** How much one peer may send. A peer that goes beyond is cut off, except that a single message is only refused. */
export type Limits = {
  /** Bytes of one message as JSON text; 4 MiB unless told. */
  message?: number;
  /** Messages per second, over ten seconds; 2,000 unless told. */
  rate?: number;
  /** Bytes per second, over ten seconds; 16 MiB unless told. */
  bytes?: number;
  /** Requests of the peer's that wait for our answer; 1,000 unless told. */
  pending?: number;
};

/** What both sides may be told. */
export type FrameOptions = {
  limits?: Limits;
  /** Hears what may interest whoever looks for a mistake. Never payloads, never session ids. */
  log?: (text: string) => void;
};

/** The part of the MCP SDK's `Transport` that both sides share. There is no `sessionId`: to the SDK it means a resumed session. */
export abstract class FrameTransport {
  declare onmessage?: (message: Payload) => void;
  declare onclose?: () => void;
  declare onerror?: (error: Error) => void;
  /** Why the connection ended; nothing while it has not, or when `close` was called. */
  declare reason?: FrameError;

  readonly #alarm = openAlarm(() => this.rang());
  readonly #complaints = new Set<string>();
  readonly #asked = new Set<RequestId>();
  readonly #limits: Required<Limits>;
  readonly #within: (size: number) => boolean;
  protected readonly log: (text: string) => void;

  protected constructor({ limits, log = () => {} }: FrameOptions) {
    this.#limits = {
      message: SIZE_LIMIT,
      rate: 2_000,
      bytes: 16 * 1024 * 1024,
      pending: 1_000,
      ...limits,
    };
    this.#within = openMeter(this.#limits);
    this.log = log;
  }

  /** A deadline has passed. */
  protected abstract rang(): void;

  protected get limit(): number {
    return this.#limits.message;
  }

  /** Sets the one deadline, or none. */
  protected wait(ms: number | undefined): void {
    this.#alarm(ms);
  }

  /** Counts what arrived, tells of what is wrong with it, and hands on what was understood. */
  protected understand(
    parsed: Parsed,
    flooded: () => void,
  ): Message | undefined {
    const message = parsed && "message" in parsed ? parsed.message : undefined;
    const size = message && "size" in message ? message.size : 0;
    if (!this.#within(size) || this.#asked.size > this.#limits.pending)
      return void flooded();
    if (parsed && "bad" in parsed) this.complain(parsed.bad);
    else if (parsed?.warning) this.note(parsed.warning);
    return message;
  }

  /** Hands a message to the endpoint. */
  protected deliver(payload: Payload): void {
    const { id, method, params } = payload;
    if (method !== undefined && id !== undefined) this.#asked.add(id);
    else if (method === "notifications/cancelled")
      this.#asked.delete(
        (params as { requestId: RequestId } | undefined)
          ?.requestId as RequestId,
      );
    this.invoke(() => this.onmessage?.(payload));
  }

  /** Calls a handler. What it throws is reported, and stops nothing. */
  protected invoke(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  /** The wire form of a message; throws at what may not travel. */
  protected wrap(message: Payload): object {
    const { payload } = readPayload(message, this.#limits.message);
    if (payload.method === undefined && payload.id !== undefined)
      this.#asked.delete(payload.id);
    return { type: "MCP_MESSAGE", payload };
  }

  /** Tells of a mistake of the peer's, each kind once: the peer must not be able to fill a log. */
  protected complain(error: FrameError): void {
    if (this.#isNew(error.message)) this.onerror?.(error);
  }

  /** Logs a remark about the peer, likewise once. */
  protected note(text: string): void {
    if (this.#isNew(text)) this.log(text);
  }

  #isNew(text: string): boolean {
    if (this.#complaints.has(text) || this.#complaints.size > 31) return false;
    this.#complaints.add(text);
    return true;
  }

  /** Tells the endpoint that this is the end. A handler that throws stops no other. */
  protected ended(error: FrameError | undefined, wasOpen: boolean): void {
    this.wait(undefined);
    if (error) this.reason = error;
    try {
      if (error && wasOpen) this.onerror?.(error);
    } finally {
      this.onclose?.();
    }
  }
}

/** One deadline at a time, judged by the clock: a timer that fires early, or late after the machine slept, looks again. */
function openAlarm(ring: () => void): (ms: number | undefined) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = 0;
  const look = () => {
    const left = due - performance.now();
    timer = left > 0 ? setTimeout(look, Math.min(left, 2e9)) : undefined;
    if (left <= 0) ring();
  };
  return (ms) => {
    clearTimeout(timer);
    timer = undefined;
    if (ms === undefined || ms === Infinity) return;
    due = performance.now() + ms;
    timer = setTimeout(look, Math.min(ms, 2e9));
  };
}

/** Two buckets that hold ten seconds' worth: a burst fits, a flood does not. */
function openMeter({ rate, bytes }: Required<Limits>) {
  let messages = rate * 10;
  let volume = bytes * 10;
  let last = performance.now();
  return (size: number) => {
    const now = performance.now();
    const passed = (now - last) / 1000;
    last = now;
    messages = Math.min(messages + passed * rate, rate * 10) - 1;
    volume = Math.min(volume + passed * bytes, bytes * 10) - size;
    return messages >= 0 && volume >= 0;
  };
}
