/**
 * Our end of one lane: to exactly one other window, or over one `MessagePort`. This is the only file
 * that posts messages or listens for them. Source, then origin, then shape.
 */

/** One way to reach the peer. */
export type Lane = {
  /** Sends an object to a window, or text over a port; ports travel between windows only. */
  send(data: unknown, ports?: MessagePort[]): void;
  close(): void;
};

/**
 * Takes what arrived, from a port its text, and its event for whoever expects ports. Says whether it was
 * worth hearing: only then is the origin pinned, and what is not worth hearing has its ports closed.
 */
export type Hear = (
  data: unknown,
  event: Pick<MessageEvent, "ports">,
) => unknown;

/** Hears who sent something that was not for this lane. */
export type Stray = (event: Pick<MessageEvent, "source" | "origin">) => void;

/**
 * Opens our end of a lane.
 *
 * `pinned` is the peer's origin where it is known; otherwise that of the first message worth hearing. A port
 * has none to check: only its two ends can reach it. `stray` hears of what others sent to this window, but not what.
 */
export function openLane(
  peer: Window | MessagePort,
  hear: Hear,
  pinned?: string,
  stray?: Stray,
): Lane {
  const port = peer instanceof MessagePort ? peer : undefined;
  const ears = port ?? self;

  const listener = ((event: MessageEvent) => {
    // What another window sent is left to the page's other listeners, with its ports.
    // Its data is not even looked at: whoever reads it first pays for its deserialization.
    if (!event.isTrusted || event.source !== (port ? null : peer))
      return event.isTrusted && stray?.(event);
    // The origin before the data, for the same reason; and in Chromium a relay of large messages is a third
    // slower otherwise.
    const from = event.origin;
    try {
      if (from === (pinned ?? from) && hear(event.data, event))
        return void (pinned = from);
    } catch {
      // Neither a stranger's message nor a handler of ours may throw in the page's event loop.
    }
    // Ports that were not asked for would keep their other end alive.
    for (const stray of event.ports) stray.close();
  }) as EventListener;

  ears.addEventListener("message", listener);
  port?.start();
  return {
    send(data, ports) {
      if (port) port.postMessage(data);
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

/** Whether a window is that of a frame inside another, however deep: every origin may see who is above it. */
export const isInside = (source: unknown, outer: unknown): boolean =>
  !!source &&
  (source === outer ||
    ((source as Window).parent !== source &&
      isInside((source as Window).parent, outer)));

/** One way to reach a window whose page may change under us. */
export type WindowLane = {
  /** Sends to the window, if its page has the target's origin by then. */
  send(data: unknown, target: string, ports?: MessagePort[]): void;
  close(): void;
};

/**
 * Opens our end of a lane to a window, and pins nothing: what arrives comes with the origin it has at that moment, for the
 * caller to judge. That is how a frame that went to another site is noticed. Ports are closed unless `hear` says it took them.
 *
 * `farewell` hears what has no sender any more: when a page says something while it unloads, it is gone by the time that arrives,
 * and the browser no longer names its window. Whoever listens must know the sender by something else.
 */
export function openWindowLane(
  peer: Window,
  hear: (
    data: unknown,
    origin: string,
    ports: readonly MessagePort[],
  ) => unknown,
  farewell?: (origin: string, event: Pick<MessageEvent, "data">) => void,
): WindowLane {
  const listener = (event: MessageEvent) => {
    if (!event.isTrusted) return;
    const { origin, ports, source } = event;
    if (source && source !== peer) return;
    let took: unknown;
    try {
      took = source
        ? hear(event.data, origin, ports)
        : farewell?.(origin, event);
    } catch {
      // As above: nothing may throw in the page's event loop.
    }
    if (source && !took) for (const stray of ports) stray.close();
  };
  self.addEventListener("message", listener);
  return {
    send: (data, target, ports) =>
      peer.postMessage(data, target === self.origin ? "/" : target, ports),
    close: () => self.removeEventListener("message", listener),
  };
}
