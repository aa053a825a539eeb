/** The outer side: the page that opens another one, in a frame or a popup, and connects to it. */
import {
  openLane,
  openWindowLane,
  type Lane,
  type WindowLane,
} from "../port.js";
import { FrameError, type FrameCode } from "./error.js";
import {
  fromInner,
  isSessionId,
  LEAVING,
  parse,
  reply,
  type Message,
  type PermissionRequest,
  type SetupRequired,
} from "./messages.js";
import { readServerUrl } from "./origins.js";
import {
  ended,
  LOOK,
  RELOADS,
  type Adopted,
  type OuterOptions,
  type Setup,
  type Waiting,
} from "./outer-options.js";
import type { Payload } from "./payload.js";
import {
  stepOuter,
  type OuterFacts,
  type OuterInput,
  type OuterOutput,
  type OuterState,
} from "./outer-steps.js";
import { FrameTransport } from "./transport.js";
import { grantable, type WindowControl } from "./window.js";

/**
 * Connects to a page in a window that this page controls; an MCP client or an MCP server may stand on it.
 *
 * `setup` comes first, once for each server; `start` connects. A page that reloads ends the connection, and `onreload` is
 * handed the transport of the next one, which lives in the same window under the same session.
 */
export class OuterFrameTransport extends FrameTransport {
  /** The inner page asks for its setup to run again. */
  declare onsetuprequired?: (required: SetupRequired) => void;
  /** The inner page has reloaded. Without a handler, its window is closed. */
  declare onreload?: (next: OuterFrameTransport) => void;
  /** The name of this connection, to be kept for the next one, as a secret. */
  readonly session: string;
  /** The address without its fragment, and its origin. */
  readonly url: string;
  readonly origin: string;
  /** How many documents have been connected to in this window, this one counted. */
  readonly generation: number;

  readonly #options: OuterOptions;
  readonly #control: WindowControl;
  readonly #facts: OuterFacts;
  readonly #adopted: Adopted | undefined;
  readonly #reloads: number[];
  #state: OuterState = { at: "idle" };
  #peer: Window | undefined;
  #lane: WindowLane | undefined;
  #port: Lane | undefined;
  #hello: Message | undefined;
  #watch: ReturnType<typeof setInterval> | undefined;
  /** How many loads the pages account for that have announced themselves. */
  #documents: number;
  #repliedAt = 0;
  #granted: string[];
  /** What a person has answered in this setup, by feature: no person is asked twice. */
  #answers = new Map<string, boolean>();
  #setupTimeout: number | undefined;
  #setup: Waiting<Setup> | undefined;
  #start: Waiting<void> | undefined;

  constructor(options: OuterOptions, adopted?: Adopted) {
    super(options);
    const { url, origin, fragment } = readServerUrl(options.url);
    const { control, sessionId = crypto.randomUUID() } = options;
    if (!isSessionId(sessionId))
      throw new FrameError(
        "SESSION_MISMATCH",
        "sessionId is not 1 to 128 of A-Za-z0-9._~-",
      );
    if (fragment)
      this.log(
        `${fragment} was taken off the address: the setup uses that place`,
      );
    this.#options = { ...options, sessionId };
    this.#control = control;
    this.#adopted = adopted;
    this.#granted = [...(options.permissions ?? [])].filter(grantable);
    this.#reloads = adopted?.reloads ?? [];
    this.#documents = adopted?.documents ?? 1;
    this.generation = adopted?.generation ?? 1;
    this.session = sessionId;
    this.url = url;
    this.origin = origin;
    this.#facts = {
      sessionId,
      origin,
      kind: control.kind,
      opaque: control.opaque,
    };
  }

  /**
   * Opens the page for its setup and waits until it is set up.
   *
   * There is no deadline unless one is given, because a person may be typing; `signal` is for the button that cancels.
   */
  async setup({
    signal,
    timeout,
  }: { signal?: AbortSignal; timeout?: number } = {}): Promise<Setup> {
    this.#mayBegin();
    const cancel = () =>
      this.#block("USER_CANCELLED", "the setup was cancelled");
    signal?.addEventListener("abort", cancel);
    try {
      return await new Promise<Setup>((resolve, reject) => {
        this.#setup = { resolve, reject };
        this.#setupTimeout = timeout;
        this.#answers.clear();
        this.#drive({ on: "setup" });
        if (signal?.aborted) cancel();
      });
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Opens the page and waits until it has accepted the connection. */
  async start(): Promise<void> {
    this.#mayBegin();
    return new Promise<void>((resolve, reject) => {
      this.#start = { resolve, reject };
      this.#drive({ on: "start" });
    });
  }

  /** Sends one message; rejects what JSON cannot hold, what is too large, and anything before or after the connection. */
  async send(message: Payload, _options?: unknown): Promise<void> {
    const state = this.#state;
    if (state.at !== "open")
      throw state.at === "closed"
        ? ended()
        : new FrameError(
            "NOT_OPEN",
            "the page has not accepted the connection yet",
          );
    if (
      state.blocked &&
      message.method !== undefined &&
      message.id !== undefined
    )
      throw new FrameError(
        "SETUP_REQUIRED",
        "the page must be set up again before it can answer requests",
      );
    this.#post(this.wrap(message));
  }

  /** Ends the connection and closes the window. Whatever still waits is rejected. */
  async close(): Promise<void> {
    if (this.#state.at === "closed") return;
    if (this.#state.at === "open") this.#sayClosed("closed");
    this.#drive({ on: "close" });
    this.#end(new FrameError("CLOSED", "closed by this page"), true);
  }

  /** A fresh transport for the same page under the same session, for after a setup or for another try. */
  again(): OuterFrameTransport {
    return new OuterFrameTransport({
      ...this.#options,
      permissions: this.#granted,
    });
  }

  protected rang(): void {
    this.#drive({ on: "deadline", loads: this.#control.loads });
  }

  #drive(input: OuterInput): void {
    const [state, outputs] = stepOuter(this.#state, input, this.#facts);
    this.#state = state;
    for (const output of outputs) this.#do(output);
  }

  #do(output: OuterOutput): void {
    switch (output.do) {
      case "load":
        return this.#load(output.phase);
      case "wait":
        return this.wait(this.#patience(output.for));
      case "ask":
        return void this.#ask(output.permissions);
      case "show":
        return this.#control.show();
      case "reply":
        this.#repliedAt = this.#control.loads ?? 0;
        return this.#reply(output.phase);
      case "deliver":
        return this.deliver(output.payload);
      case "opened":
        this.#start?.resolve();
        return void (this.#start = undefined);
      case "surface":
        return this.invoke(() => this.onsetuprequired?.(output.required));
      case "finish": {
        const { outcome } = output;
        this.#closeWindow();
        const setup = this.#setup;
        this.#setup = undefined;
        if (outcome.status === "error")
          return setup?.reject(new FrameError(outcome.code, outcome.message));
        const { status: _, ...result } = outcome;
        return setup?.resolve({
          ...result,
          origin: this.origin,
          permissions: [...this.#granted],
        });
      }
      case "reloaded":
        return this.#reloaded();
      case "fail":
        return this.#end(output.error, this.#state.at === "closed");
    }
  }

  /** The listener first, then the page: an announcement may be the first thing the page does. */
  #load(phase: "setup" | "transport"): void {
    this.#closeLanes();
    try {
      const adopted = phase === "transport" ? this.#adopted : undefined;
      if (!adopted) this.#control.destroy();
      const peer = (this.#peer =
        adopted?.peer ?? this.#control.open(this.origin, this.#granted));
      this.#lane = openWindowLane(peer, (data, origin) =>
        this.#hear(data, origin),
      );
      this.#watch = setInterval(() => this.#look(), LOOK);
      self.addEventListener("pagehide", this.#onpagehide);
      if (phase === "transport" && this.#options.visible) this.#control.show();
      else if (!adopted) this.#control.hide();
      if (adopted) this.#take(adopted.hello);
      else
        this.#control.navigate(this.url + (phase === "setup" ? "#setup" : ""));
    } catch (error) {
      this.#drive({
        on: "blocked",
        error: error as FrameError,
      });
    }
  }

  #hear(data: unknown, origin: string): void {
    const message = this.#read(data);
    const announces = !!message && "versions" in message;
    if (origin !== (this.#facts.opaque ? "null" : this.origin))
      this.#drive({ on: "foreign", origin, announces });
    // In opaque mode any page may have moved into the window: only the port is the page that we spoke to.
    else if (announces || !this.#facts.opaque) this.#take(message);
  }

  /** Counts what came from our window, and reads it. */
  #read(data: unknown): Message | undefined {
    return this.understand(parse(data, fromInner, this.limit), () =>
      this.#block("FLOODED", "the page sent more than it may"),
    );
  }

  #take(message: Message | undefined): void {
    if (!message) return;
    const { loads } = this.#control;
    if ("versions" in message && message !== this.#adopted?.hello) {
      this.#hello = message;
      // A page announces itself before its own load event, as a rule.
      this.#documents = (loads ?? 0) + 1;
    }
    const reloaded =
      loads === undefined || (loads > 1 && loads > this.#repliedAt);
    this.#drive({ on: "message", message, reloaded, now: performance.now() });
  }

  #reply(phase: "setup" | "transport"): void {
    if (this.#facts.opaque && !this.#port) {
      // The one message to `*` from this side. It holds a port and no secret; whoever got the port keeps it, and
      // whoever moves into the window later does not.
      const { port1, port2 } = new MessageChannel();
      this.#port = openLane(port1, (text) =>
        this.#take(this.#read(JSON.parse(text as string))),
      );
      this.#lane?.send({ type: "MCPX_PORT" }, "*", [port2]);
    }
    this.#post(reply(phase, this.session));
  }

  #post(message: object): void {
    if (this.#port) this.#port.send(JSON.stringify(message));
    else this.#lane?.send(message, this.origin);
  }

  #sayClosed(reason: string): void {
    this.#post({ type: "MCPX_CLOSE", sessionId: this.session, reason });
  }

  /** A frame lives and sleeps with this page. A popup outlives it, and is told. */
  readonly #onpagehide = () => {
    if (this.#state.at !== "open" || this.#facts.kind === "iframe") return;
    this.#sayClosed(LEAVING);
    this.#drive({ on: "close" });
    this.#end(new FrameError("CLOSED", "this page was left"), true, true);
  };

  async #ask(wanted: PermissionRequest[]): Promise<void> {
    // A person is not asked about what browsers have no such feature for.
    const known = wanted.filter(({ name }) => grantable(name));
    const open = known.filter(({ name }) => !this.#answers.has(name));
    try {
      const granted = open.length
        ? ((await this.#options.onpermissions?.(open, this.origin)) ?? [])
        : [];
      for (const { name } of open)
        this.#answers.set(name, granted.includes(name));
    } catch (error) {
      this.log(`nothing was granted: ${error}`);
    }
    const allowed = known
      .map(({ name }) => name)
      .filter((name) => this.#answers.get(name));
    const missing = wanted
      .filter(({ name, required }) => required && !allowed.includes(name))
      .map(({ name }) => name);
    // The browser reads what a frame may use when it begins to load.
    const again = wanted.some(
      ({ name, phase }) =>
        phase.includes("setup") &&
        allowed.includes(name) &&
        !this.#granted.includes(name),
    );
    this.#granted = [...new Set(allowed)];
    this.#drive({ on: "granted", missing, again });
  }

  /** What the browser does not tell: a window that was closed or removed, a frame that shows another page. */
  #look(): void {
    const { gone, loads = 0 } = this.#control;
    if (gone) this.#drive({ on: "gone" });
    else if (loads > this.#documents) {
      this.#documents = loads;
      this.#drive({ on: "left" });
    }
  }

  #reloaded(): void {
    const now = performance.now();
    const reloads = this.#reloads.filter((at) => now - at < RELOADS.within);
    const often = reloads.length >= RELOADS.times;
    const wanted = this.onreload !== undefined && !often;
    const next =
      wanted && this.#peer && this.#hello
        ? new OuterFrameTransport(
            { ...this.#options, permissions: this.#granted },
            {
              peer: this.#peer,
              hello: this.#hello,
              documents: this.#documents,
              generation: this.generation + 1,
              reloads: [...reloads, now],
            },
          )
        : undefined;
    const error = new FrameError(
      "PEER_RELOADED",
      often
        ? `the page reloaded more than ${RELOADS.times} times in a minute`
        : "the page reloaded; what it was asked before is lost",
    );
    this.#end(error, true, next !== undefined);
    if (next) this.invoke(() => this.onreload?.(next));
  }

  /** Ends a setup, which may be tried again, or the connection, which may not. */
  #end(error: FrameError, connection: boolean, keepWindow = false): void {
    const wasOpen = connection && this.#start === undefined;
    if (keepWindow) this.#closeLanes();
    else this.#closeWindow();
    this.wait(undefined);
    this.#setup?.reject(error);
    this.#setup = undefined;
    if (!connection) return;
    this.#start?.reject(error);
    this.ended(error.code === "CLOSED" ? undefined : error, wasOpen);
  }

  #closeWindow(): void {
    this.#closeLanes();
    this.#control.destroy();
  }

  #closeLanes(): void {
    clearInterval(this.#watch);
    self.removeEventListener("pagehide", this.#onpagehide);
    this.#lane?.close();
    this.#port?.close();
    this.#watch = this.#lane = this.#port = this.#peer = undefined;
  }

  #patience(
    what: Extract<OuterOutput, { do: "wait" }>["for"],
  ): number | undefined {
    const { loadTimeout = 30_000, acceptTimeout = 10_000 } = this.#options;
    if (what === "load" || what === "return") return loadTimeout;
    if (what === "accept") return acceptTimeout;
    return what === "setup" ? this.#setupTimeout : undefined;
  }

  #mayBegin(): void {
    const { at } = this.#state;
    if (at === "closed") throw ended();
    if (at !== "idle" && at !== "done")
      throw new FrameError(
        "ALREADY_STARTED",
        "this transport is already at work",
      );
  }

  /** Ends what is going on, if anything is. */
  #block(code: FrameCode, text: string): void {
    this.#drive({ on: "blocked", error: new FrameError(code, text) });
  }
}
