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

type Handler = (params: never) => void;

/** The handlers of one event. */
type Slot = {
  /** The one set through an `on…` property. */
  on?: Handler | undefined;
  all: Set<Handler>;
  /** What a late handler is given. */
  last?: Json | undefined;
  /** The last value that the `on…` property had, under whichever handler. */
  had?: Json | undefined;
};

/** Handlers by event, and the last of each one-shot value. */
export class Events {
  readonly #slots = new Map<string, Slot>();
  readonly #failed: (error: unknown) => void;
  #late: [name: string, handler: Handler][] = [];
  #partial: Json | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #restUntil = 0;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Tells everyone who listens, in the order in which the Host spoke. */
  emit(name: string, params: Json): void {
    if (name === PARTIAL) {
      this.#partial = params;
      const rest = this.#restUntil - performance.now();
      if (rest <= 0) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), rest);
      return;
    }
    this.#flush();
    // A new input makes the remains of an older call stale.
    if (name === INPUT)
      for (const stale of LATCHED) this.#slot(stale).last = undefined;
    this.#deliver(name, params);
  }

  /** Sets the one handler behind an `on…` property. */
  set(name: string, handler: Handler | undefined): void {
    const slot = this.#slot(name);
    slot.on = handler;
    // The property, not the function, is the listener: a component that sets it anew on every
    // render has had the value already.
    if (handler && slot.had !== slot.last) this.#replay(name, handler);
  }

  get<K extends keyof AppEventMap>(
    name: K,
  ): ((params: AppEventMap[K]) => void) | undefined {
    return this.#slot(name).on as ((params: AppEventMap[K]) => void) | undefined;
  }

  add(name: string, handler: Handler): void {
    const { all } = this.#slot(name);
    if (!all.has(handler)) this.#replay(name, handler);
    all.add(handler);
  }

  remove(name: string, handler: Handler): void {
    this.#slot(name).all.delete(handler);
  }

  #slot(name: string): Slot {
    let slot = this.#slots.get(name);
    if (!slot) this.#slots.set(name, (slot = { all: new Set() }));
    return slot;
  }

  #deliver(name: string, params: Json): void {
    const slot = this.#slot(name);
    if (LATCHED.includes(name)) slot.last = params;
    if (slot.on) slot.had = params;
    for (const handler of [slot.on, ...slot.all]) this.#run(handler, params);
  }

  #run(handler: Handler | undefined, params: Json): void {
    try {
      handler?.(params as never);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Hands over the newest partial, then rests for as long as its handlers took. */
  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const params = this.#partial;
    if (!params) return;
    this.#partial = undefined;
    const start = performance.now();
    this.#deliver(PARTIAL, params);
    const now = performance.now();
    this.#restUntil = now + (now - start);
  }

  /** Replays in the Host's order, whatever the order in which the handlers came. */
  #replay(name: string, handler: Handler): void {
    if (!this.#slot(name).last) return;
    if (this.#late.push([name, handler]) > 1) return;
    queueMicrotask(() => {
      const late = this.#late;
      this.#late = [];
      for (const event of LATCHED)
        for (const [name, handler] of late) {
          const slot = this.#slot(name);
          if (name !== event || !slot.last) continue;
          if (slot.on === handler) slot.had = slot.last;
          else if (!slot.all.has(handler)) continue;
          this.#run(handler, slot.last);
        }
    });
  }
}

const PARTIAL = "toolinputpartial";
const INPUT = "toolinput";

/** Events that a View must not miss, in the order in which a Host sends them. */
const LATCHED = [PARTIAL, INPUT, "toolresult", "toolcancelled"];
