/** The View's way to its Host: the parent window first, a port once both ends have agreed on it. */
import { openLane, type Hear, type Lane } from "./port.js";
import {
  namesPort,
  parseMessage,
  PORT_CAPABILITY,
  type Message,
} from "./wire.js";

/** Any carrier of messages that the `App` can be given. */
export type Transport = {
  start(): Promise<void>;
  send(message: Message): Promise<void>;
  close(): Promise<void>;
  // Written as methods, so that transports typed by the MCP SDK fit.
  onmessage?(message: Message, extra?: unknown): void;
  onclose?(): void;
  onerror?(error: Error): void;
};

/**
 * Speaks to one window, by default the parent, and hears nobody else.
 *
 * When the Host agrees to a port and one came with its answer, everything goes there from then on,
 * `initialized` first, and the window is deaf. A port without the key, or the key without a port,
 * leaves it on the window.
 */
export class PostMessageTransport {
  declare onmessage?: (message: Message) => void;
  declare onclose?: () => void;
  declare onerror?: (error: Error) => void;
  /** How many things arrived from the peer that were not messages. */
  ignored = 0;
  /** What the handshake adds to the View's experimental capabilities. */
  readonly experimental = { [PORT_CAPABILITY]: {} };

  readonly #peer: Window;
  #lane: Lane | undefined;
  #asking = true;

  constructor(peer: Window = window.parent, _source?: MessageEventSource) {
    this.#peer = peer;
  }

  async start(): Promise<void> {
    this.#lane = openLane(this.#peer, this.#hear);
  }

  async send(message: Message): Promise<void> {
    this.#lane?.send(message);
  }

  async close(): Promise<void> {
    this.#lane?.close();
    this.onclose?.();
  }

  readonly #hear: Hear = (data, [port]) => {
    const message = parseMessage(data);
    if (!message) return void this.ignored++;
    // The first answer is the handshake's; no later one may move us.
    const first = "result" in message && this.#asking;
    if (first) this.#asking = false;
    if (port && first && namesPort(message.result.hostCapabilities)) {
      this.#lane?.close();
      this.#lane = openLane(port, this.#hear);
    } else port?.close();
    this.onmessage?.(message);
    return true;
  };
}
