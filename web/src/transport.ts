/** The View's way to its Host: the parent window first, a port once both ends have agreed on it. */
import { openLane, type Hear, type Lane } from "./port.js";
import { parseMessage, type Message } from "./wire.js";

/** Any carrier of messages that the `App` can be given. */
export type Transport = {
  start(): Promise<void>;
  send(message: Message): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: Message, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
};

/** Speaks to one window, by default the parent, and hears nobody else. */
export class PostMessageTransport {
  declare onmessage?: ((message: Message) => void) | undefined;
  declare onclose?: (() => void) | undefined;
  declare onerror?: ((error: Error) => void) | undefined;
  /** How many things arrived from the peer that were not messages. */
  ignored = 0;

  readonly #peer: Window;
  #lane: Lane | undefined;
  /** The port that came with the last message; null once there is no more to decide. */
  #offered: MessagePort | undefined | null;

  constructor(peer: Window = window.parent, _source?: MessageEventSource) {
    this.#peer = peer;
  }

  async start(): Promise<void> {
    this.#lane = openLane(this.#peer, this.#hear);
  }

  async send(message: Message): Promise<void> {
    this.#lane?.send(message);
  }

  /**
   * Moves to the port that came with the message just heard, if there was one. From then on the
   * window is deaf. Told no, or with no port to take, it stays on the window.
   */
  upgrade(agreed: boolean): void {
    const port = this.#offered;
    this.#offered = null;
    if (!agreed) port?.close();
    else if (port) {
      this.#lane?.close();
      this.#lane = openLane(port, this.#hear);
    }
  }

  async close(): Promise<void> {
    this.#lane?.close();
    this.#lane = undefined;
    this.onclose?.();
  }

  readonly #hear: Hear = (data, [port]) => {
    const message = parseMessage(data);
    if (!message) return void this.ignored++;
    // Only the answer to the handshake may bring a port.
    if (this.#offered === null) port?.close();
    else this.#offered = port;
    this.onmessage?.(message);
    return true;
  };
}
