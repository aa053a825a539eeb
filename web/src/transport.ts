/** The View's way to its Host: the parent window first, a port once both ends have agreed on it. */
import { portLane, windowLane, type Lane } from "./port.js";
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
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** How many messages were not for us, or were not messages. */
  ignored = 0;

  readonly #peer: Window;
  #lane: Lane | undefined;
  #offered: MessagePort | undefined;
  #settled = false;

  constructor(peer: Window = window.parent, _source?: MessageEventSource) {
    this.#peer = peer;
  }

  async start(): Promise<void> {
    this.#lane ??= windowLane({
      peer: this.#peer,
      hear: (data, [port, ...others]) => {
        const message = parseMessage(data);
        if (!message || others.length) return false;
        // Only the answer to the handshake may bring a port.
        if (this.#settled) port?.close();
        else this.#offered = port;
        this.onmessage?.(message);
        return true;
      },
      ignored: this.#ignore,
    });
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
    this.#settled = true;
    if (!port) return;
    if (!agreed) return port.close();
    this.#lane?.close();
    this.#lane = portLane(port, (message) => this.onmessage?.(message), this.#ignore);
  }

  async close(): Promise<void> {
    this.#lane?.close();
    this.#lane = undefined;
    this.onclose?.();
  }

  readonly #ignore = () => {
    this.ignored++;
  };
}
