/** Requests awaiting their answer. No DOM; every promise settles: answer, timeout, abort or close. */
import { TransomError } from "./error.js";
import type { Json, Message, Progress, Response } from "./wire.js";

/** How long and how patiently to wait for one answer. */
export type RequestOptions = {
  /** Milliseconds without an answer, 60,000 unless told. */
  timeout?: number;
  /** Gives the call up when it aborts. */
  signal?: AbortSignal;
  /** Hears how far the call has come. */
  onprogress?: (progress: Progress) => void;
  /** Starts the timeout anew on every progress. */
  resetTimeoutOnProgress?: boolean;
  /** Milliseconds after which no progress helps any more. */
  maxTotalTimeout?: number;
};

type Pending = {
  settle(response: Response): void;
  fail(error: TransomError): void;
  progress(progress: Progress): void;
};

/** The requests of one peer, by id. */
export class Calls {
  readonly #send: (message: Message) => void;
  readonly #pending = new Map<string, Pending>();
  #next = 0;

  constructor(send: (message: Message) => void) {
    this.#send = send;
  }

  /** Sends a request and waits for its answer. */
  call(method: string, params?: Json, options: RequestOptions = {}): Promise<Json> {
    const { signal, timeout = PATIENCE, onprogress } = options;
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const end = performance.now() + (options.maxTotalTimeout ?? Infinity);
      let timer: ReturnType<typeof setTimeout>;

      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.#pending.delete(`${id}`);
      };
      const fail = (error: TransomError) => {
        done();
        reject(error);
      };
      const giveUp = (code: "Timeout" | "Aborted", reason: string) => {
        fail(new TransomError(code, `${method}: ${reason}`, signal?.reason));
        this.#tell("notifications/cancelled", { requestId: id, reason });
      };
      const abort = () => giveUp("Aborted", `${signal?.reason}`);
      const wait = () => {
        clearTimeout(timer);
        // Beyond 31 bits a browser's timer fires at once.
        const delay = Math.min(timeout, end - performance.now(), 2 ** 31 - 1);
        timer = setTimeout(giveUp, delay, "Timeout", "no answer in time");
      };

      if (signal?.aborted) {
        reject(new TransomError("Aborted", `${method}: aborted`, signal.reason));
        return;
      }
      signal?.addEventListener("abort", abort);
      this.#pending.set(`${id}`, {
        settle(response) {
          done();
          if ("result" in response && response.result) resolve(response.result);
          else reject(wireError(response));
        },
        fail,
        progress(progress) {
          if (options.resetTimeoutOnProgress) wait();
          onprogress?.(progress);
        },
      });
      wait();
      const token = onprogress && {
        _meta: { ...(params?._meta as Json), progressToken: id },
      };
      try {
        this.#send({
          jsonrpc: "2.0",
          id,
          method,
          ...((params || token) && { params: { ...params, ...token } }),
        });
      } catch (error) {
        // What cannot be cloned was never sent; there is nothing to cancel.
        fail(new TransomError("NotConnected", `${method}: ${error}`, error));
      }
    });
  }

  /** Hands an answer to its question; false when nobody asked. */
  settle(response: Response): boolean {
    const pending = this.#pending.get(`${response.id}`);
    pending?.settle(response);
    return pending !== undefined;
  }

  /** Hands progress to the call that it is about. */
  progress(params: Json): void {
    this.#pending.get(`${params.progressToken}`)?.progress(params as Progress);
  }

  /** Fails everything that still waits. */
  close(): void {
    for (const { fail } of [...this.#pending.values()])
      fail(new TransomError("Closed", "the channel closed before an answer came"));
  }

  #tell(method: string, params: Json): void {
    try {
      this.#send({ jsonrpc: "2.0", method, params });
    } catch {
      // The peer is gone, and so is the work that we wanted to stop.
    }
  }
}

function wireError(response: Response): TransomError {
  const { code, message, data } = ("error" in response && response.error) || {};
  return new TransomError(
    Number.isInteger(code) ? (code as number) : -32603,
    `${message}`,
    data,
  );
}

/** What MCP Apps hosts and views use when nothing else is said. */
const PATIENCE = 60_000;
