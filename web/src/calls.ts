/** Requests awaiting their answer. No DOM; every promise settles: answer, timeout, abort or close. */
import { TransomError, type LocalCode } from "./error.js";
import type { Json, Message, Progress, Unsigned } from "./wire.js";

/** How long and how patiently to wait for one answer. */
export type RequestOptions = {
  /** Milliseconds without an answer, 60,000 unless told. */
  timeout?: number;
  /** Gives the call up when it aborts. */
  signal?: AbortSignal;
  /** Hears how far the call has come. */
  onprogress?: (progress: Progress) => void;
  /** Whether progress starts the timeout anew, as it does unless told otherwise. */
  resetTimeoutOnProgress?: boolean;
  /** Milliseconds without an answer, whatever progress there is. No limit unless told. */
  maxTotalTimeout?: number;
};

/** Hears about a request: why nothing came of it, or what did, how far it is, or what time it is. */
type Hear = (
  error?: { code: LocalCode | number; message: string; data?: unknown } | null,
  result?: Json | null,
  progress?: Progress | null,
  now?: number,
) => void;

type Send = (message: Unsigned<Message>) => Promise<void>;

/** Who hears about each request, by its id. */
type Pending = Map<number, Hear>;

/** The requests that one side has made and the other has not answered yet. */
export type Calls = ReturnType<typeof openCalls>;

/** Starts with no request made. `send` rejects what it cannot send. */
export function openCalls(send: Send) {
  const pending: Pending = new Map();
  let next = 0;
  let timer: ReturnType<typeof setTimeout>;
  let wake = Infinity;

  const tellAll: Hear = (...news) => {
    wake = Infinity;
    clearTimeout(timer);
    pending.forEach((hear) => hear(...news));
  };
  /** One timer for all, at the first deadline: one for each call would cost as much as sending it. */
  const wakeAt = (due: number) => {
    if (!(due < wake)) return;
    wake = due;
    // A timer that fires too early finds nothing due: one set before for later, and one that stands for
    // more than 2^31, which would fire at once.
    timer = setTimeout(
      () => tellAll(null, null, null, performance.now()),
      (due - performance.now()) % 2e9,
    );
  };

  return {
    /** Sends a request and waits for its answer. */
    call: (
      method: string,
      params?: Json,
      options?: RequestOptions,
    ): Promise<Json> =>
      ask(send, pending, wakeAt, next++, method, params, options),

    /**
     * Hands news to the call that it is about, also if the id came back as text (W-3). What was
     * not asked for is dropped.
     */
    tell: (id: unknown, ...news: Parameters<Hear>) =>
      pending.get(Number(id))?.(...news),

    /** Fails everything that still waits. */
    end: () => tellAll({ code: "Closed", message: "Closed" }),
  };
}

/** One request, from its sending to its answer, or until it is given up. */
const ask = (
  send: Send,
  pending: Pending,
  wakeAt: (due: number) => void,
  id: number,
  method: string,
  params?: Json,
  {
    signal,
    timeout = PATIENCE,
    maxTotalTimeout = Infinity,
    resetTimeoutOnProgress = true,
    onprogress,
  }: RequestOptions = {},
): Promise<Json> =>
  new Promise((resolve, reject) => {
    const last = performance.now() + maxTotalTimeout;
    let due: number;

    const hear: Hear = (error, result, progress, now) => {
      if (now) {
        if (now < due) wakeAt(due);
        else giveUp("Timeout");
      } else if (progress) {
        if (resetTimeoutOnProgress) wait();
        onprogress?.(progress);
      } else {
        signal?.removeEventListener("abort", abort);
        pending.delete(id);
        if (error)
          reject(new TransomError(error.code, error.message, error.data));
        else resolve(result!);
      }
    };
    const fail = (code: LocalCode) =>
      hear({ code, message: code, data: signal?.reason });
    const giveUp = (code: LocalCode) => {
      fail(code);
      send({
        method: "notifications/cancelled",
        params: { reason: code, requestId: id },
      }).catch(() => {});
    };
    const abort = () => giveUp("Aborted");
    const wait = () =>
      wakeAt((due = Math.min(performance.now() + timeout, last)));

    if (signal?.aborted) return fail("Aborted");
    signal?.addEventListener("abort", abort);
    pending.set(id, hear);
    wait();
    if (onprogress)
      params = {
        ...params,
        _meta: { ...(params?._meta as Json), progressToken: id },
      };
    // What cannot be cloned fails here.
    send({ id, method, ...(params && { params }) }).catch(hear);
  });

/** What MCP Apps hosts and views use when nothing else is said. */
const PATIENCE = 60_000;
