/**
 * What the Host tells the View, and who wants to hear it. Late handlers get what they missed;
 * partial inputs coalesce when the handler cannot keep up.
 */
import type {
  CallToolResult,
  HostContext,
  Json,
  ToolCancelledParams,
  ToolInputParams,
} from "./wire.js";

/** What each event carries. */
export type AppEventMap = {
  toolinputpartial: ToolInputParams;
  toolinput: ToolInputParams;
  toolresult: CallToolResult;
  toolcancelled: ToolCancelledParams;
  hostcontextchanged: HostContext;
};

type Handler = (params: never, extra: never) => unknown;

/** One listener. Behind an `on…` property it stays the same one when the function is replaced. */
type Entry = { name: string; key: unknown; run: Handler | undefined; had?: Json };

/** Handlers by name, and the last of each value that a View must not miss. */
export function openEvents(failed: (error: unknown) => void) {
  let entries: Entry[] = [];
  const kept = new Map<string, Json>();
  let partial: Json | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let restUntil = 0;

  /** Hands a value to whoever listens and has not had it. */
  const deliver = (name: string, params = kept.get(name)) => {
    for (const entry of params ? entries.filter((entry) => entry.name === name) : []) {
      if (entry.had === params) continue;
      entry.had = params!;
      try {
        entry.run?.(params as never, undefined as never);
      } catch (error) {
        failed(error);
      }
    }
  };
  /** Hands over the newest partial, then rests for as long as its handlers took. */
  const flush = () => {
    const start = performance.now();
    const params = partial;
    clearTimeout(timer);
    partial = timer = undefined;
    deliver(PARTIAL, params);
    const now = performance.now();
    restUntil = now + now - start;
  };
  const find = (name: string, key: unknown) =>
    entries.find((entry) => entry.name === name && entry.key === key);

  return {
    /** Tells everyone who listens, in the order in which the Host spoke. */
    emit(name: string, params: Json) {
      if (name === PARTIAL) {
        partial = params;
        timer ??= setTimeout(flush, restUntil - performance.now());
        if (restUntil <= performance.now()) flush();
        return;
      }
      if (partial) flush();
      if (KEPT.includes(name)) kept.set(name, params);
      deliver(name, params);
    },

    get: (name: string, key: unknown) => find(name, key)?.run,

    /** Listens, and hears what it missed, in the Host's order, once the current code has run. */
    set(name: string, key: unknown, run: Handler | undefined) {
      const entry = find(name, key);
      if (entry) entry.run = run;
      else entries.push({ name, key, run });
      queueMicrotask(() => KEPT.forEach((name) => deliver(name)));
    },

    drop(name: string, key: unknown) {
      const gone = find(name, key);
      entries = entries.filter((entry) => entry !== gone);
    },
  };
}

const PARTIAL = "toolinputpartial";

/** What late handlers get, in the order in which a Host sends it. */
const KEPT = ["toolinput", "toolresult", "toolcancelled"];
