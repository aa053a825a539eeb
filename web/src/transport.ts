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
 * Speaks to one window, by default the parent, and hears no other.
 *
 * When the Host agrees to a port and one came with its answer, everything goes there from then on,
 * `initialized` first, and the window is deaf. A port without the key, or the key without a port,
 * leaves it on the window.
 */
export class PostMessageTransport {
  declare onmessage?: (message: Message) => void;
  declare onclose?: () => void;
  declare onerror?: (error: Error) => void;
  declare start: () => Promise<void>;
  declare send: (message: Message) => Promise<void>;
  declare close: () => Promise<void>;
  /** How many things arrived from the peer that were not messages. */
  ignored = 0;
  /** What the handshake adds to the View's experimental capabilities. */
  readonly offer = { [PORT_CAPABILITY]: {} };

  constructor(peer: Window = parent, _source?: MessageEventSource) {
    let lane: Lane | undefined;
    let asking = true;
    /** An object to a window, its text over a port. */
    let write = (message: Message): unknown => message;

    const hear: Hear = (data, event) => {
      const message = parseMessage(data);
      if (!message) return void this.ignored++;
      // The first answer is the handshake's; no later one may move us.
      const { result } = message;
      // Not of later answers: to read the list costs as much as a small message, and there are many.
      const port = (asking || !result) && event.ports[0];
      if (port)
        if (asking && namesPort(result?.hostCapabilities)) {
          lane?.close();
          write = JSON.stringify;
          lane = openLane(port, (text, event) =>
            hear(JSON.parse(text as string), event),
          );
        } else port.close();
      asking &&= !result;
      this.onmessage?.(message);
      return message;
    };

    this.start = async () => {
      lane = openLane(peer, hear);
    };
    this.send = async (message) => lane?.send(write(message));
    this.close = async () => {
      lane?.close();
      this.onclose?.();
    };
  }
}
