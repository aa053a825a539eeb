/**
 * Our end of one lane to exactly one other window, or of one `MessagePort`. This is the only file
 * that posts messages or listens for them. Source, then origin, then shape.
 */
import { parseMessage, type Message } from "./wire.js";

/** One way to reach the peer. */
export type Lane = {
  send(data: unknown, ports?: readonly MessagePort[]): void;
  close(): void;
};

/** Takes what arrived and says whether it was worth hearing; only then is the origin pinned. */
export type Hear = (data: unknown, ports: readonly MessagePort[]) => boolean;

/** How to open a window lane. */
export type WindowLaneOptions = {
  peer: Window;
  /** The peer's origin where it is known; otherwise that of the first message worth hearing. */
  origin?: string | undefined;
  hear: Hear;
  /** Told of everything ignored, once per message. */
  ignored?: () => void;
};

/** Opens our end of a lane to exactly one other window. */
export function windowLane(options: WindowLaneOptions): Lane {
  const { peer, hear, ignored } = options;
  let pinned = options.origin;

  const listener = (event: MessageEvent) => {
    const { source, origin, data, ports, isTrusted } = event;
    try {
      if (
        isTrusted &&
        source === peer &&
        (pinned ?? origin) === origin &&
        hear(data, ports)
      ) {
        pinned = origin;
        return;
      }
    } catch {
      // A stranger's message must not be able to throw in the page's event loop.
    }
    // Ports that nobody asked for would keep their other end alive.
    for (const port of ports) port.close();
    ignored?.();
  };

  window.addEventListener("message", listener);
  return {
    send(data, ports = []) {
      // An opaque origin has no name to post to, and before the first answer we know none.
      const target = pinned === undefined || pinned === "null" ? "*" : pinned;
      peer.postMessage(data, target, ports as MessagePort[]);
    },
    close: () => window.removeEventListener("message", listener),
  };
}

/** Opens our end of a port: JSON text both ways, one message each. */
export function portLane(
  port: MessagePort,
  hear: (message: Message, text: string) => void,
  ignored?: () => void,
): Lane {
  port.onmessage = ({ data, ports }) => {
    for (const extra of ports) extra.close();
    try {
      const message = typeof data === "string" && parseMessage(JSON.parse(data));
      if (message) return hear(message, data);
    } catch {
      // Not JSON, or a handler of ours that failed: neither may end the lane.
    }
    ignored?.();
  };
  return {
    send: (data) =>
      port.postMessage(typeof data === "string" ? data : JSON.stringify(data)),
    close: () => port.close(),
  };
}
