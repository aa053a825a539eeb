/** How a page's views reach whoever judges them. */
import { openStream, readEnvelope, type Said, type Told } from "./envelope.js";

/** One view's place on a channel. */
export type Seat = { say(said: Said): void; leave(): void };

/** Carries a page's views. */
export interface Channel {
  /** Joins a view; what is said to it goes to `hear`, in order. */
  join(view: string, hear: (told: Told) => void): Seat;
}

/** A host in the page itself: a function that is given each view as it joins. */
export class InPageChannel implements Channel {
  readonly #serve: (
    view: string,
    tell: (told: Told) => void,
  ) => (said: Said) => void;

  constructor(
    serve: (view: string, tell: (told: Told) => void) => (said: Said) => void,
  ) {
    this.#serve = serve;
  }

  join(view: string, hear?: (told: Told) => void): Seat {
    return {
      say: this.#serve(view, (told) => hear?.(told)),
      leave() {
        hear = undefined;
      },
    };
  }
}

/** How to reach a host process. */
export type WebSocketOptions = {
  url: string;
  /** Proves that this page may speak; sent in the first frame and nowhere else. */
  key: string;
  /**
   * Names the tab, from one load of the page to the next: views belong to it. Without one, a reload
   * starts with nothing.
   */
  tab?: string;
  /** Hears when the connection comes and goes; `replaced` when a page of the same tab took its place. */
  onstate?: (state: "open" | "lost" | "refused" | "replaced") => void;
  /** Hears which views an earlier load of the page left behind: they can be mounted again. */
  onviews?: (views: string[]) => void;
};

/** A WebSocket to the host process, shared by a page's views; reconnects and loses nothing. */
export class WebSocketChannel implements Channel {
  readonly #options: WebSocketOptions;
  readonly #seats = new Map<
    string,
    {
      queue: ReturnType<typeof openStream>;
      hear: (told: Told) => void;
      due?: ReturnType<typeof setTimeout> | undefined;
    }
  >();
  /** Names this load of the page: a reload starts every view anew. */
  readonly #page = crypto.randomUUID();
  #socket: WebSocket | undefined;
  /** The same, once the host process has said welcome on it. */
  #live: WebSocket | undefined;
  #begun = false;
  #failures = 0;

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.#connect();
  }

  join(view: string, hear: (told: Told) => void): Seat {
    const seat =
      this.#seats.get(view) ??
      ({
        queue: openStream(view, (text) => this.#live?.send(text)),
      } as {
        queue: ReturnType<typeof openStream>;
        hear: (told: Told) => void;
      });
    seat.hear = hear;
    this.#seats.set(view, seat);
    return {
      say: (said) => {
        if (!seat.queue.say(said)) {
          seat.queue.say({ close: { reason: "flood" } });
          hear({ close: { reason: "overrun" } });
        }
      },
      // The seat stays, with its place in the order: the same view may join again.
      leave: () => {
        if (seat.hear === hear) seat.hear = () => {};
      },
    };
  }

  /** Ends the connection for good. */
  close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #connect(): void {
    const { url, key, tab = this.#page } = this.#options;
    const socket = (this.#socket = new WebSocket(url));
    socket.onopen = () =>
      socket.send(
        JSON.stringify({ hello: { version: 1, key, page: this.#page, tab } }),
      );
    socket.onmessage = ({ data }) => {
      try {
        this.#hear(data as string);
      } catch {
        // A frame that makes no sense means that we lost our place; the next connection finds it.
        socket.close();
      }
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#live = undefined;
      // 4401: the key is wrong, and will be wrong the next time. 4409: two pages would fight for ever.
      const end = { 4401: "refused", 4409: "replaced" }[code] as
        "refused" | "replaced" | undefined;
      this.#options.onstate?.(end ?? "lost");
      if (!end)
        setTimeout(
          // Whoever has closed it meanwhile wants no other.
          () => this.#socket && this.#connect(),
          Math.min(250 * 2 ** this.#failures++, 10_000) *
            (1 - Math.random() / 2),
        );
    };
  }

  #hear(text: string): void {
    if (!this.#live) return this.#begin(JSON.parse(text).welcome);
    // What is not written as the rules say is nothing, and throws here.
    const envelope = readEnvelope(text)!;
    const seat = this.#seats.get(envelope.view);
    if (!seat || !seat.queue.take(envelope)) return;
    // What the page says confirms as well; this is for when it has nothing to say.
    seat.due ??= setTimeout(() => {
      seat.due = undefined;
      seat.queue.confirm();
    }, 20);
    seat.hear({ [envelope.kind!]: envelope.rest } as Told);
  }

  #begin({ resumed, views }: { resumed: boolean; views: string[] }): void {
    this.#live = this.#socket;
    this.#failures = 0;
    this.#options.onstate?.("open");
    const seats = [...this.#seats.values()];
    if (resumed || !this.#begun) seats.forEach(({ queue }) => queue.repeat());
    else {
      this.#seats.clear();
      seats.forEach(({ hear }) => hear({ close: { reason: "lost" } }));
    }
    this.#begun = true;
    this.#options.onviews?.(views);
  }
}
