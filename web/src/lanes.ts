/**
 * The lane to a view (D15): its window, or a port that the answer to its handshake brings.
 *
 * ```text
 * window ──answer with the key──▶ offered ──initialized on the port──▶ port
 *    ▲                              └──initialized on the window──▶ window
 *    └──────────── ui/initialize on the window, from any ────────────┘
 * ```
 */
import { asMessage, LIMIT, textOf, type Carried } from "./envelope.js";
import { bytesOf } from "./guard.js";
import { openLane, type Lane } from "./port.js";
import { namesPort, type Message, type Request } from "./wire.js";

/** What the lanes of a view lead to. */
export type Ends = {
  /** Posts to its window. */
  post: Lane["send"];
  /** Takes what it says on the port, as it came. */
  pass: (text: string) => unknown;
  /** Hears which lane it took. */
  chosen: (lane: "window" | "port") => void;
  /** Ends the view. */
  stop: (reason: "flood" | "not-text") => unknown;
};

/** The lanes of one view. */
export class Lanes {
  #port: Lane | undefined;
  /** What waits until the view has chosen its lane, while a port is offered to it. */
  #held: Carried[] | undefined;
  /** How much that is, in about the bytes that it takes. */
  #load!: number;
  /** The handshake that asked for a port and has no answer yet. */
  #hello: Request | false | undefined;
  readonly #to: Ends;

  constructor(to: Ends) {
    this.#to = to;
  }

  /** A document says ui/initialize once: a second time it is another document. */
  begin(first?: Request): void {
    this.#port?.close();
    this.#port = this.#held = undefined;
    this.#load = 0;
    this.#hello = namesPort(first?.params?.appCapabilities) && first;
  }

  /** Takes a message to the view, on the lane that it has chosen. */
  carry(carried: Carried): unknown {
    if (this.#hello) {
      const message = asMessage(carried) as Request;
      if (!message.method && message.id === this.#hello.id)
        return this.#answer(message);
    }
    if (this.#held) {
      // Our views choose before they ask anything; one that goes on asking and does not choose is ended, since what is
      // kept here is the page's memory.
      this.#held.push(carried);
      this.#load += LIMIT / 512 + bytesOf(`${carried}`);
      return this.#load > 2 * LIMIT && this.#to.stop("flood");
    }
    return this.#port
      ? this.#port.send(textOf(carried))
      : this.#to.post(asMessage(carried));
  }

  /** Hears of what the view said on its window; whether it counts, which it does not beside a port that was chosen. */
  heard(message: Request): boolean {
    if (message.method === "ui/initialize") this.begin(message);
    else if (this.#port) {
      if (!this.#held) return false;
      if (message.method === INITIALIZED) this.#settle("window");
    }
    return true;
  }

  /** The answer to the handshake brings the port, if whoever wrote it agreed. */
  #answer(message: Message): void {
    this.#hello = undefined;
    if (!namesPort(message.result?.hostCapabilities))
      return this.#to.post(message);
    const { port1, port2 } = new MessageChannel();
    this.#port = openLane(port1, (text) => this.#hearPort(text));
    this.#held = [];
    this.#to.post(message, [port2]);
  }

  /** What the view said on its port, which ends in the sandbox: it came on ours after it was measured there. */
  #hearPort(text: unknown): unknown {
    if (typeof text !== "string") return this.#to.stop("not-text");
    if (this.#held) {
      if (
        text.length > 999 ||
        (asMessage(text) as Request).method !== INITIALIZED
      )
        return;
      this.#settle("port");
    }
    // As it came, JSON or not: the host process judges it.
    return this.#to.pass(text);
  }

  #settle(lane: "window" | "port"): void {
    const waiting = this.#held!;
    this.#held = undefined;
    if (lane === "window") this.begin();
    this.#to.chosen(lane);
    waiting.forEach((carried) => this.carry(carried));
  }
}

const INITIALIZED = "ui/notifications/initialized";
