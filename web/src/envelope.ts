/**
 * The envelope between a page and its host process: what either side says about one view, in order,
 * exactly once. The rules and the bytes are in `fixtures/envelope/`.
 *
 * A frame is written so that a message inside it need not be parsed to be passed on: fixed order of
 * members, no white space, the payload last.
 */
import { bytesOf } from "./guard.js";
import {
  parseMessage,
  type DisplayMode,
  type Json,
  type Message,
} from "./wire.js";

/** One message as it came: an object from a window, JSON text from a port or a socket. */
export type Carried = Message | string;

/** The message as an object. Throws when the text is not one. */
export function asMessage(carried: Carried): Message {
  if (typeof carried !== "string") return carried;
  const message = parseMessage(JSON.parse(carried));
  if (!message) throw new TypeError("not a message");
  return message;
}

/** Where the view may live on the page, in CSS pixels. */
export type Container = {
  width?: number;
  height?: number;
  maxWidth?: number;
  maxHeight?: number;
};

/** What the page says about a view. */
export type Said =
  | {
      open: {
        lanes: "port"[];
        modes: DisplayMode[];
        container: Container;
        context?: Facts;
        tool?: ToolCall;
      };
    }
  | { message: Carried }
  | { dropped: Json }
  | { arguments: { text: string; done?: boolean } }
  | { call: { id: string; name: string; arguments?: Json } }
  | { answer: { id: string; choice: string } }
  | { did: { id: string; done: boolean } }
  | { resize: Container }
  | { context: Facts }
  | { mode: { mode: DisplayMode } }
  | {
      close: {
        reason:
          "user" | "gone" | "flood" | "past-sandbox" | "not-text" | "focus";
      };
    };

/** What a page says of itself and of the person before it. */
export type Facts = {
  theme?: "light" | "dark";
  /** BCP 47. */
  locale?: string;
  /** By its IANA name. */
  timeZone?: string;
  touch?: boolean;
  hover?: boolean;
  /** The edges of the view that something else may cover. */
  insets?: { top: number; right: number; bottom: number; left: number };
};

/**
 * A tool to call, whose result the view will show. With `writing` its arguments are still being written,
 * and come piece by piece as `arguments`.
 */
export type ToolCall = {
  server: string;
  name: string;
  arguments?: Json;
  writing?: boolean;
};

/** What the host process says to a view. */
export type Told =
  | { open: Opened }
  | { message: Carried }
  | { ask: Ask }
  | { withdraw: { id: string } }
  | { text: Fallback }
  | { note: { text: string } }
  | { do: Deed }
  | { tools: Offers }
  | { called: Called }
  | { resize: { width?: number; height?: number } }
  | { mode: { mode: DisplayMode } }
  | { close: { reason: string } };

/** How to mount a view. */
export type Opened = {
  /** The sandbox page, with its origin. */
  src: string;
  /** What assistive technology calls the frame. */
  title?: string;
  /** The frame's `allow` attribute. */
  allow?: string;
  border?: boolean;
  /** What counts for the view on the page, as the host process decided it; without it, the usual. */
  limits?: Partial<PageLimits>;
  /** For a sandbox page in raw mode: what to send once it is ready. */
  resource?: { html: string; sandbox?: string; csp?: Json; permissions?: Json };
};

/** How much of what a page says of a view may be on its way. Bytes are those of the text in UTF-8. */
export type PageLimits = {
  /** What has been sent and is not confirmed, and its bytes. */
  flying: number;
  flyingBytes: number;
  /** The same with what has not been sent yet; when there is more, the page gives the view up. */
  waiting: number;
  waitingBytes: number;
};

/** A question for the person at the page. */
export type Ask = {
  id: string;
  kind: string;
  text: string;
  choices: string[];
  [key: string]: unknown;
};

/** What to show in place of a view: why there is none and, once it is known, what the tool answered. */
export type Fallback = { why: string; text?: string };

/** Something that only a page can do; `did` tells the host process what came of it. */
export type Deed = {
  id: string;
  kind: string;
  url?: string;
  contents?: {
    name: string;
    mimeType?: string;
    text?: string;
    blob?: string;
  }[];
};

/** The tools that a view offers; each as MCP lists it. */
export type Offers = { tools: ({ name: string } & Json)[] };

/** What came of a `call`: the answer, or why there is none. */
export type Called = { id: string; text: string; failed: boolean };

/** What one frame said, its payload unread when it is a message. */
export type Frame = {
  view: string;
  ack: number;
  seq?: number;
  kind?: string;
  payload?: unknown;
};

/** Reads a frame that concerns a view; nothing when it is not written as the rules say. */
export function readFrame(text: string): Frame | undefined {
  const [head, view, seq, ack, kind] = HEAD.exec(text) ?? [];
  if (!head || !view || !text.endsWith("}")) return undefined;
  const frame = { view, ack: +ack! };
  if (!kind || !seq)
    return !kind && !seq && head.length === text.length - 1 ? frame : undefined;
  const body = text.slice(head.length, -1);
  return {
    ...frame,
    seq: +seq,
    kind,
    payload: kind === "message" ? body : JSON.parse(body),
  };
}

/** What one side has said about a view and the other has not yet confirmed. */
export function openStream(view: string, write: (text: string) => void) {
  if (!/^[\w-]{1,64}$/.test(view)) throw new TypeError("not a view");
  // What counts until the peer says otherwise: little, so that a view that floods is soon made to wait.
  const most: PageLimits = {
    flying: 64,
    flyingBytes: 2 ** 22,
    waiting: 1024,
    waitingBytes: 2 ** 26,
  };
  let heard = 0;
  let confirmed = 0;
  let bytes = 0;
  let waiting = 0;
  /** Everything not yet confirmed, and its bytes; only the first `flying` of it has been written. */
  const unconfirmed: [text: string, size: number][] = [];
  let flying = 0;

  const send = (at: number) =>
    write(
      `{"view":"${view}","seq":${confirmed + at + 1},"ack":${heard},${unconfirmed[at]![0]}}`,
    );
  const fill = () => {
    while (
      flying < unconfirmed.length &&
      flying < most.flying &&
      (!flying || bytes < most.flyingBytes)
    ) {
      bytes += unconfirmed[flying]![1];
      send(flying++);
    }
  };

  return {
    /** Says one thing; false when so much waits that the peer must be gone or overwhelmed. */
    say(said: Said | Told): boolean {
      const [[kind, payload]] = Object.entries(said) as [[string, unknown]];
      const text =
        typeof payload === "string" ? payload : JSON.stringify(payload);
      // Whoever goes does not wait behind what has not been sent yet.
      if (kind === "close") {
        unconfirmed.length = flying;
        waiting = bytes;
      }
      const size = bytesOf(text);
      // A frame that the peer cannot take would end the connection, and the next one, for every view.
      unconfirmed.push(
        size > LIMIT ? ['"dropped":{}', 0] : [`"${kind}":${text}`, size],
      );
      waiting += unconfirmed.at(-1)![1];
      fill();
      return unconfirmed.length < most.waiting && waiting <= most.waitingBytes;
    },

    /** Takes what the peer said; true when it is new. Throws when something is missing before it. */
    take({ seq, ack, kind, payload }: Frame): boolean {
      if (ack > confirmed + flying || (seq ?? 0) > heard + 1)
        throw new TypeError("not a frame");
      for (; confirmed < ack; confirmed++) {
        const [, size] = unconfirmed.shift()!;
        bytes -= size;
        waiting -= size;
        flying--;
      }
      if (kind === "open") Object.assign(most, (payload as Opened).limits);
      fill();
      if (!seq || seq <= heard) return false;
      heard = seq;
      return true;
    },

    confirm: () => write(`{"view":"${view}","ack":${heard}}`),

    /** Says again, after a reconnect, whatever was not confirmed. */
    repeat() {
      for (let at = 0; at < flying; at++) send(at);
    },
  };
}

/** The longest message that a frame holds, in bytes: the same for every view and every host. */
export const LIMIT = 2 ** 24;

const HEAD =
  /^\{"view":"([\w-]{1,64})"(?:,"seq":(\d{1,15}))?,"ack":(\d{1,15})(?:,"(\w+)":)?/;
