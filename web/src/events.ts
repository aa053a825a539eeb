/**
 * What the Host tells the View, and who wants to hear it. Late handlers get what they missed. Partial
 * inputs that come faster than they can be shown coalesce: the first of a burst goes through at once,
 * then the newest each time that the timer's turn comes, which is after the messages that waited.
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

type Handler = (...args: never[]) => unknown;

/** One listener. Behind an `on…` property it stays the same one when the function is replaced. */
type Listener = { run?: Handler | undefined; had?: Json };

export type Events = ReturnType<typeof openEvents>;

/** Handlers by name, and the last of each value that a View must not miss. */
export function openEvents(failed: (error: unknown) => void) {
  const listeners = new Map<string, Map<unknown, Listener>>();
  const kept = new Map<string, Json>();
  let partial: Json | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Hands a value to one listener, unless it has had it. */
  const give = (listener: Listener, params: Json | undefined) => {
    try {
      if (params && listener.had !== params)
        listener.run?.((listener.had = params) as never);
    } catch (error) {
      failed(error);
    }
  };
  const deliver = (name: string, params: Json | undefined) =>
    listeners.get(name)?.forEach((listener) => give(listener, params));
  /** Hands over the newest partial, then lets the browser catch up before the next. */
  const flush = () => {
    clearTimeout(timer);
    timer = partial && setTimeout(flush);
    deliver(PARTIAL, partial);
    partial = undefined;
  };

  return {
    /** Tells everyone who listens, in the order in which the Host spoke. */
    emit(name: string, params: Json) {
      if (name === PARTIAL) {
        partial = params;
        if (!timer) flush();
      } else {
        if (partial) flush();
        if (/^tool/.test(name)) kept.set(name, params);
        deliver(name, params);
      }
    },

    /** The handler behind an `on…` property: the listener without a key. */
    get: (name: string) => listeners.get(eventOf(name))?.get(undefined)?.run,

    /** Listens under a key, and hears what it missed once the current code has run. */
    set(method: string, run: Handler | undefined, key?: unknown) {
      const name = eventOf(method);
      const slot = listeners.get(name) ?? new Map<unknown, Listener>();
      const listener = slot.get(key) ?? {};
      listeners.set(name, slot.set(key, listener));
      listener.run = run;
      queueMicrotask(() => give(listener, kept.get(name)));
    },

    drop: (name: string, key?: unknown) =>
      listeners.get(eventOf(name))?.delete(key),
  };
}

/**
 * The event that a method is for. Earlier drafts lacked "notifications/", or the "d" of "changed"
 * (docs/reference/mcp-apps.md §4.2).
 */
export function eventOf(method: string): string {
  return method
    .replace(/^ui\/(notifications\/)?|-/g, "")
    .replace(/change$/, "changed");
}

const PARTIAL = "toolinputpartial";
