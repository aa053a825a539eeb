/**
 * Our end of one lane: to exactly one other window, or over one `MessagePort`. This is the only file
 * that posts messages or listens for them. Source, then origin, then shape.
 */

/** One way to reach the peer. */
export type Lane = {
  /** Sends an object to a window, or its JSON text over a port; ports travel between windows only. */
  send(data: unknown, ports?: MessagePort[]): void;
  close(): void;
};

/**
 * Takes what arrived, its event for whoever expects ports, and the text that it came as when it came as
 * text. Says whether it was worth hearing: only then is the origin pinned, and what is not worth hearing
 * has its ports closed.
 */
export type Hear = (
  data: unknown,
  event: Pick<MessageEvent, "ports">,
  text?: string,
) => unknown;

/**
 * Opens our end of a lane.
 *
 * `pinned` is the peer's origin where it is known; otherwise that of the first message worth hearing. A port
 * has none to check: only its two ends can reach it. `limit` is the longest text that is read.
 */
export function openLane(
  peer: Window | MessagePort,
  hear: Hear,
  pinned?: string,
  limit = Infinity,
): Lane {
  const port = peer instanceof MessagePort ? peer : undefined;
  const ears = port ?? self;
  // To read what is too long would cost more than all the rest, so nothing is what it says.
  const read = (text: string): unknown =>
    text.length > limit ? undefined : JSON.parse(text);

  const listener = ((event: MessageEvent) => {
    // What someone else sent is someone else's to take, with its ports: a page has other listeners.
    // Its data is not even looked at: whoever reads it first pays for its deserialization.
    if (!event.isTrusted || event.source !== (port ? null : peer)) return;
    // The origin before the data: in Chromium a relay of large messages is a third slower otherwise.
    const from = event.origin;
    const { data } = event;
    try {
      if (
        from === (pinned ?? from) &&
        (port ? hear(read(data), event, data) : hear(data, event))
      )
        return void (pinned = from);
    } catch {
      // Neither a stranger's message nor a handler of ours may throw in the page's event loop.
    }
    // Ports that nobody asked for would keep their other end alive.
    for (const stray of event.ports) stray.close();
  }) as EventListener;

  ears.addEventListener("message", listener);
  port?.start();
  return {
    send(data, ports) {
      if (port)
        port.postMessage(
          typeof data === "string" ? data : JSON.stringify(data),
        );
      // An opaque origin has no name to post to, and before the first answer we know none.
      else
        (peer as Window).postMessage(
          data,
          // The short form in less time: a written origin is parsed for each message.
          pinned === self.origin
            ? "/"
            : pinned && pinned !== "null"
              ? pinned
              : "*",
          ports,
        );
    },
    close() {
      ears.removeEventListener("message", listener);
      port?.close();
    },
  };
}
