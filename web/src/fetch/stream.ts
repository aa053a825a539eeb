/** A response's body that is pulled by tool calls, as fast as it is read. */
import { isObject, type CallToolResult, type Json } from "../wire.js";
import { failure, type FetchCode } from "./failure.js";
import { fromBase64 } from "./response.js";

/** Calls one of the tools of a stream. */
export type CallStream = (
  name: string,
  args: Json,
  signal: AbortSignal | null,
) => Promise<CallToolResult>;

/**
 * Opens the stream of a handle. At most one read is under way, and none before the reader wants its bytes: the reader's
 * pace is the backend's.
 */
export function openStream(
  streamId: string,
  call: CallStream,
  signal: AbortSignal | null,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const gone = new AbortController();
  let offset = 0;

  /** Ends it at the server too, whoever ended it here. */
  const leave = (reason: unknown) => {
    signal?.removeEventListener("abort", abort);
    gone.abort(reason);
    void call("http_stream_cancel", { streamId }, null).catch(() => {});
  };
  let abort = () => {};

  return new ReadableStream(
    {
      type: "bytes",
      start(controller) {
        abort = () => {
          controller.error(signal!.reason);
          leave(signal!.reason);
        };
        signal?.addEventListener("abort", abort);
      },
      async pull(controller) {
        for (;;) {
          const answer = await call(
            "http_stream_read",
            { streamId, offset },
            gone.signal,
          );
          const { data, nextOffset, done, error } = toRead(answer, offset);
          offset = nextOffset;
          // Asked now: what is handed over has no length any more.
          const some = data.length > 0;
          if (some) controller.enqueue(data);
          if (error) throw error;
          if (done) {
            signal?.removeEventListener("abort", abort);
            controller.close();
            controller.byobRequest?.respond(0);
          }
          if (done || some) return;
        }
      },
      cancel: leave,
    },
    // One chunk ahead.
    { highWaterMark: 1 },
  );
}

/** Reads an answer, which must go on exactly where the last one ended. */
function toRead({ structuredContent, isError }: CallToolResult, from: number) {
  const answer = Object(structuredContent) as Json;
  const error = isObject(answer.error)
    ? failure(answer.error.code as FetchCode, `${answer.error.message}`)
    : undefined;
  if (isError) throw error ?? failure("protocol", "a stream could not be read");
  const data = fromBase64(`${answer.data ?? ""}`);
  const { offset, nextOffset, done } = answer;
  if (offset !== from || nextOffset !== from + data.length)
    throw failure("protocol", "a stream did not go on where it was");
  return { data, nextOffset: nextOffset as number, done: done === true, error };
}
