/** The inner side: the page in a frame or a popup, which announces itself and lets allowed pages connect. */
import {
  openLane,
  openWindowLane,
  type Lane,
  type WindowLane,
} from "../port.js";
import { FrameError } from "./error.js";
import {
  announcement,
  completion,
  fromOuter,
  LEAVING,
  parse,
  type Message,
  type PermissionRequest,
  type SetupOutcome,
  type SetupRequired,
} from "./messages.js";
import { readAllowList } from "./origins.js";
import type { Payload } from "./payload.js";
import {
  stepInner,
  type InnerInput,
  type InnerOutput,
  type InnerState,
} from "./inner-steps.js";
import { FrameTransport, type FrameOptions } from "./transport.js";

/** What the inner side needs to know. */
export type InnerOptions = FrameOptions & {
  /** The pages that may connect, by their whole origins. */
  allowedOrigins: readonly string[];
  /** Lets every website connect when the list holds `*`. For demonstrations on one machine. */
  dangerouslyAllowAnyOrigin?: boolean;
  /** Whether a person must see this page during its setup. */
  requiresVisibleSetup?: boolean;
  /** Browser features that the outer page is asked to grant. */
  permissions?: PermissionRequest[];
  /** Expects to run without an origin, and to be reached through a port. */
  opaque?: boolean;
  /** Milliseconds to wait for an answer; 30,000 unless told, `Infinity` to wait for ever. */
  replyTimeout?: number;
};

/** Who connected. The session's name is a secret: not for addresses, logs or the screen. */
export type InnerSession = {
  readonly sessionId: string;
  /** The outer page's origin, as the browser told it. */
  readonly origin: string;
  /** The key under which to keep something for this page and this session only. */
  storageKey(name: string): string;
};

/**
 * Announces this page to the window that opened it; an MCP server or an MCP client may stand on it.
 *
 * `phase` tells what the page was opened for. For its setup: `setup`, then `complete`. To connect: `start`, which the MCP
 * SDK's `connect` calls. A page whose scripts are slow to load may call `announce` before.
 */
export class InnerFrameTransport extends FrameTransport {
  readonly phase: "setup" | "transport";
  readonly #options: InnerOptions;
  readonly #allowed: (origin: string) => boolean;
  readonly #peer: Window | undefined;
  #state: InnerState = { at: "boot" };
  #lane: WindowLane | undefined;
  #port: Lane | undefined;
  /** Whose port it is, until its reply pins it. */
  #portOrigin: string | undefined;
  /** The origin of the message that is being heard. */
  #from: string | undefined;
  #pinned: string | undefined;
  #session: InnerSession | undefined;
  #attached = false;
  #repeat: ReturnType<typeof setTimeout> | undefined;
  #watch: ReturnType<typeof setInterval> | undefined;
  #waiting:
    | { resolve(session: InnerSession): void; reject(error: FrameError): void }
    | undefined;

  constructor(options: InnerOptions) {
    super(options);
    this.#allowed = readAllowList(
      options.allowedOrigins,
      options.dangerouslyAllowAnyOrigin === true,
    );
    if (options.allowedOrigins.includes("*"))
      this.log("every website may connect: allowedOrigins holds *");
    this.#options = { ...options };
    this.phase = phaseNow();
    // Decided once. In a popup `parent` is the popup itself.
    this.#peer =
      parent !== self ? parent : ((opener as Window | null) ?? undefined);
  }

  /** Which page connected, once one has. */
  get session(): InnerSession | undefined {
    return this.#session;
  }

  /** Says that this page is here, and again until a page answers. `setup` and `start` do it unless it was done. */
  announce(): void {
    if (this.#state.at !== "boot" || !this.#peer) return;
    this.#lane = openWindowLane(
      this.#peer,
      (data, origin, ports) => this.#hear(data, origin, ports),
      (origin, event) => this.#bid(origin, event),
    );
    for (const name of EVENTS) self.addEventListener(name, this.#onpage);
    // A popup outlives the page that opened it; a frame does not.
    if (parent === self)
      this.#watch = setInterval(() => {
        if (this.#peer?.closed) this.#drive({ on: "gone" });
      }, LOOK);
    this.#drive({ on: "announce" });
  }

  /** Begins the setup: waits until an allowed page has answered. */
  async setup(): Promise<InnerSession> {
    this.#refuse("setup");
    // What a setup stores may be secret, and others can read along here.
    if (self.isSecureContext === false)
      throw new FrameError("INSECURE", "a setup needs https, or this machine");
    return this.#connected();
  }

  /** Ends the setup and tells the outer page, which then closes this window. */
  async complete(outcome: SetupOutcome): Promise<void> {
    if (this.phase !== "setup" || this.#state.at !== "pinned")
      throw this.#notOpen();
    this.#post(completion(outcome));
    this.#drive({ on: "complete" });
  }

  /** Waits until an allowed page has connected. The endpoint must be attached by now, as the SDK's `connect` does. */
  async start(): Promise<void> {
    this.#refuse("transport");
    this.#attached = true;
    await this.#connected();
  }

  /** Sends one message; rejects what JSON cannot hold, what is too large, and anything before or after the connection. */
  async send(message: Payload, _options?: unknown): Promise<void> {
    if (this.#state.at !== "open") throw this.#notOpen();
    this.#post(this.wrap(message));
  }

  /** Asks for the setup to be run again. */
  async requireSetup(required: SetupRequired): Promise<void> {
    if (this.#state.at !== "open") throw this.#notOpen();
    const { reason, message, canContinue } = required;
    this.#post({ type: "MCP_SETUP_REQUIRED", reason, message, canContinue });
  }

  /** Ends the connection. Whatever still waits is rejected. */
  async close(): Promise<void> {
    if (this.#state.at === "closed") return;
    this.#sayClosed("closed");
    this.#drive({ on: "close" });
    this.#end(new FrameError("CLOSED", "closed by this page"));
  }

  protected rang(): void {
    this.#drive({ on: "deadline" });
  }

  #refuse(phase: "setup" | "transport"): void {
    if (this.#state.at === "closed")
      throw new FrameError("CLOSED", "the connection is closed");
    if (this.phase !== phase)
      throw new FrameError(
        "WRONG_PHASE",
        this.phase === "setup"
          ? "this page was opened for its setup"
          : "this page was opened to connect",
      );
    if (!this.#peer)
      throw new FrameError("NO_PEER", "open this page from an MCP client");
    if (this.#waiting)
      throw new FrameError(
        "ALREADY_STARTED",
        "this transport is already at work",
      );
  }

  /** Resolves when a page has replied, which may have been before. */
  #connected(): Promise<InnerSession> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.announce();
      if (this.phase === "transport") this.#drive({ on: "attach" });
      else if (this.#session && this.#state.at === "pinned")
        resolve(this.#session);
    });
  }

  #drive(input: InnerInput): void {
    const [state, outputs] = stepInner(this.#state, input, {
      phase: this.phase,
      attached: this.#attached,
    });
    this.#state = state;
    for (const output of outputs) this.#do(output);
  }

  #do(output: InnerOutput): void {
    switch (output.do) {
      case "announce":
        return this.#announce(FIRST_REPEAT);
      case "wait": {
        if (output.for === "nothing") {
          clearTimeout(this.#repeat);
          return this.wait(undefined);
        }
        return this.wait(this.#options.replyTimeout ?? 30_000);
      }
      case "pin":
        return this.#pin(output.sessionId);
      case "accept":
        return this.#post({
          type: "MCP_TRANSPORT_ACCEPTED",
          sessionId: output.sessionId,
        });
      case "opened":
        return this.#waiting?.resolve(this.#session!);
      case "deliver":
        return this.deliver(output.payload);
      case "log":
        return this.note(output.text);
      case "complain":
        return this.complain(output.error);
      case "fail":
        return this.#end(output.error);
    }
  }

  /** To `*`, because it is not known yet who listens: the two announcements, and nothing else. */
  #announce(next: number): void {
    const { requiresVisibleSetup = false, permissions = [] } = this.#options;
    this.#lane?.send(
      announcement(this.phase, requiresVisibleSetup, permissions),
      "*",
    );
    this.#repeat = setTimeout(
      () => this.#announce(Math.min(next * 2, LAST_REPEAT)),
      next,
    );
  }

  /** From the window that opened us. True when a port was taken. */
  #hear(data: unknown, origin: string, ports: readonly MessagePort[]): boolean {
    if (this.#pinned ? origin !== this.#pinned : !this.#allowed(origin)) {
      this.note(`messages from ${JSON.stringify(origin)} are ignored`);
      return false;
    }
    const message = this.#read(data);
    if (message?.type === "MCPX_PORT") return this.#takePort(origin, ports[0]);
    // Once there is a port, the window has nothing more to say.
    if (message && !this.#port) this.#take(message, origin);
    return false;
  }

  /**
   * From a page that is gone. The window that opened a popup says goodbye while it unloads (WIN-7); the step believes it,
   * because it names the session, which no other page knows. What another origin said is not even read.
   */
  #bid(origin: string, event: { readonly data: unknown }): void {
    if (origin !== this.#pinned) return;
    const { message } = (parse(event.data, fromOuter, 0) ?? {}) as {
      message?: Message;
    };
    if (message?.type === "MCPX_CLOSE") this.#take(message, origin);
  }

  #takePort(origin: string, port: MessagePort | undefined): boolean {
    const expected =
      this.#options.opaque && this.#state.at === "announced" && !this.#port;
    if (!expected || !port) return false;
    this.#portOrigin = origin;
    this.#port = openLane(port, (text) => {
      const message = this.#read(JSON.parse(text as string));
      if (message) this.#take(message, this.#portOrigin!);
    });
    return true;
  }

  #read(data: unknown): Message | undefined {
    return this.understand(parse(data, fromOuter, this.limit), () =>
      this.#drive({ on: "flooded" }),
    );
  }

  #take(message: Message, origin: string): void {
    this.#from = origin;
    this.#drive({ on: "message", message });
  }

  /** On the valid reply and on nothing else, before anything is sent to it. */
  #pin(sessionId: string): void {
    const origin = (this.#pinned = this.#from!);
    this.#session = Object.freeze({
      sessionId,
      origin,
      storageKey: (name: string) => `mcp ${origin} ${sessionId} ${name}`,
    });
    if (this.phase === "setup") this.#waiting?.resolve(this.#session);
  }

  #post(message: object): void {
    if (this.#port) this.#port.send(JSON.stringify(message));
    else if (this.#pinned) this.#lane?.send(message, this.#pinned);
  }

  #sayClosed(reason: string): void {
    const { sessionId } = this.#session ?? {};
    if (sessionId && (this.#state.at === "open" || this.#state.at === "pinned"))
      this.#post({ type: "MCPX_CLOSE", sessionId, reason });
  }

  readonly #onpage = (event: Event) => {
    const persisted = (event as PageTransitionEvent).persisted;
    if (event.type === "pagehide" && !persisted) this.#sayClosed(LEAVING);
    else if (event.type === "pageshow" && persisted)
      this.#drive({ on: "restore" });
    // The browser does not load anew when only the fragment changes, and the two phases share nothing.
    else if (event.type === "hashchange" && phaseNow() !== this.phase)
      location.reload();
  };

  #end(error: FrameError): void {
    const wasOpen = this.#attached && this.#session !== undefined;
    clearTimeout(this.#repeat);
    clearInterval(this.#watch);
    for (const name of EVENTS) self.removeEventListener(name, this.#onpage);
    this.#lane?.close();
    this.#port?.close();
    this.#lane = this.#port = undefined;
    // Settled already, when it was open.
    this.#waiting?.reject(error);
    this.ended(error.code === "CLOSED" ? undefined : error, wasOpen);
  }

  #notOpen(): FrameError {
    return this.#state.at === "closed"
      ? new FrameError("CLOSED", "the connection is closed")
      : new FrameError("NOT_OPEN", "no page has connected to this one yet");
  }
}

function phaseNow(): "setup" | "transport" {
  return location.hash === "#setup" ? "setup" : "transport";
}

const EVENTS = ["pagehide", "pageshow", "hashchange"];

/** Milliseconds until the announcement is repeated, first and at last. No handshake depends on it. */
const FIRST_REPEAT = 250;
const LAST_REPEAT = 4_000;

/** How often the window that opened us is looked at, in milliseconds. */
const LOOK = 1_000;
