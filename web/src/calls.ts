/** Requests awaiting their answer. No DOM; every promise settles: answer, timeout, abort or close. */
import { TransomError, type LocalCode } from "./error.js";
import type { Json, Message, Progress, Response, Unsigned } from "./wire.js";

/** How long and how patiently to wait for one answer. */
export type RequestOptions = {
  /** Milliseconds without an answer, 60,000 unless told. */
  timeout?: number;
  /** Gives the call up when it aborts. */
  signal?: AbortSignal;
  /** Hears how far the call has come. */
  onprogress?: (progress: Progress) => void;
  /** Accepted for ext-apps' sake; progress always starts the timeout anew. */
  resetTimeoutOnProgress?: boolean;
};

/** What became of a request: the Host's answer, or our own failure. */
type Outcome =
  | { result: Json; error?: never }
  | { result?: never; error: { code: LocalCode | number; message: string; data?: unknown } };

type Pending = { settle(outcome: Outcome): void; progress(progress: Progress): void };

/** The requests that one side has made and that nobody has answered yet. */
export type Calls = ReturnType<typeof openCalls>;

/** Starts with no request made. `send` rejects what it cannot send. */
export function openCalls(send: (message: Unsigned<Message>) => Promise<void>) {
  const pending = new Map<string, Pending>();
  let next = 0;

  return {
    /** Sends a request and waits for its answer. */
    call: (method: string, params?: Json, options: RequestOptions = {}): Promise<Json> =>
      new Promise((resolve, reject) => {
        const { signal, timeout = PATIENCE, onprogress } = options;
        const id = next++;
        let timer: ReturnType<typeof setTimeout>;

        const settle = ({ result, error }: Outcome) => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", abort);
          pending.delete(`${id}`);
          if (result) resolve(result);
          else reject(new TransomError(error.code, `${method}: ${error.message}`, error.data));
        };
        const giveUp = (code: LocalCode, data?: unknown) => {
          settle(lost(code, data));
          const params = { requestId: id, reason: code };
          send({ method: "notifications/cancelled", params }).catch(() => {});
        };
        const abort = () => giveUp("Aborted", signal?.reason);
        const wait = () => {
          clearTimeout(timer);
          // Beyond 31 bits a browser's timer fires at once.
          timer = setTimeout(giveUp, Math.min(timeout, 2 ** 31 - 1), "Timeout");
        };

        if (signal?.aborted) return settle(lost("Aborted", signal.reason));
        const token = onprogress && { _meta: { ...(params?._meta as Json), progressToken: id } };
        signal?.addEventListener("abort", abort);
        wait();
        pending.set(`${id}`, {
          settle,
          progress(progress) {
            wait();
            onprogress?.(progress);
          },
        });
        // What cannot be cloned fails here.
        send({
          id,
          method,
          ...((params ?? token) && { params: { ...params, ...token } }),
        }).catch((error: TransomError) => settle({ error }));
      }),

    /** Hands an answer to its question; one that nobody asked for is dropped. */
    settle: (response: Response) => pending.get(`${response.id}`)?.settle(response),

    /** Hands progress to the call that it is about. */
    progress: (params: Json) => pending.get(`${params.progressToken}`)?.progress(params as Progress),

    /** Fails everything that still waits. */
    end() {
      for (const { settle } of pending.values()) settle(lost("Closed"));
    },
  };
}

/** A failure of our own, in the shape of the Host's. */
function lost(code: LocalCode, data?: unknown): Outcome {
  return { error: { code, message: code, data } };
}

/** What MCP Apps hosts and views use when nothing else is said. */
const PATIENCE = 60_000;
