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
  /** Accepted for ext-apps' sake; progress always starts the timeout anew. */
  resetTimeoutOnProgress?: boolean;
};

/** What is heard about a request: how far it is, what came of it, or why nothing did. */
type News = {
  progress?: Progress;
  result?: Json;
  error?: { code: LocalCode | number; message: string; data?: unknown };
};

/** The requests that one side has made and that nobody has answered yet. */
export type Calls = ReturnType<typeof openCalls>;

/** Starts with no request made. `send` rejects what it cannot send. */
export function openCalls(send: (message: Unsigned<Message>) => Promise<void>) {
  const pending = new Map<number, (news: News) => void>();
  let next = 0;

  return {
    /** Sends a request and waits for its answer. */
    call: (
      method: string,
      params?: Json,
      { signal, timeout = PATIENCE, onprogress }: RequestOptions = {},
    ): Promise<Json> =>
      new Promise((resolve, reject) => {
        const id = next++;
        let timer: ReturnType<typeof setTimeout>;

        const hear = ({ progress, result, error }: News) => {
          clearTimeout(timer);
          if (progress) {
            wait();
            onprogress?.(progress);
            return;
          }
          signal?.removeEventListener("abort", abort);
          pending.delete(id);
          if (error)
            reject(
              new TransomError(
                error.code,
                `${method}: ${error.message}`,
                error.data,
              ),
            );
          else resolve(result!);
        };
        const fail = (code: LocalCode) =>
          hear({ error: { code, message: code, data: signal?.reason } });
        const giveUp = (code: LocalCode) => {
          fail(code);
          const params = { requestId: id, reason: code };
          send({ method: "notifications/cancelled", params }).catch(() => {});
        };
        const abort = () => giveUp("Aborted");
        const wait = () => {
          timer = setTimeout(giveUp, timeout, "Timeout");
        };

        if (signal?.aborted) return fail("Aborted");
        signal?.addEventListener("abort", abort);
        pending.set(id, hear);
        wait();
        const token = onprogress && {
          _meta: { ...(params?._meta as Json), progressToken: id },
        };
        // What cannot be cloned fails here.
        send({
          id,
          method,
          ...((params ?? token) && { params: { ...params, ...token } }),
        }).catch((error: TransomError) => hear({ error }));
      }),

    /**
     * Hands news to the call that it is about, also if the id came back as text (W-3). What nobody
     * asked for is dropped.
     */
    tell: (id: unknown, news: News) => pending.get(Number(id))?.(news),

    /** Fails everything that still waits. */
    end() {
      pending.forEach((hear) =>
        hear({ error: { code: "Closed", message: "Closed" } }),
      );
    },
  };
}

/** What MCP Apps hosts and views use when nothing else is said. */
const PATIENCE = 60_000;
