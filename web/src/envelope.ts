/**
 * The envelope between a page and its host process: what either side says about one view, in order,
 * exactly once. The rules and the bytes are in `fixtures/envelope/`.
 *
 * A frame is written so that a message inside it need not be parsed to be passed on: fixed order of
 * members, no white space, the payload last.
 */
import type * as generated from "./envelope.generated.js";
import { bytesOf } from "./guard.js";
import { type Json, type Message } from "./wire.js";

/** One message as it came: an object from a window, JSON text from a port or a socket. */
export type Carried = Message | string;

/** The message as an object. Throws when the text is not JSON; whether it is a message is for the gate to judge. */
export const asMessage = (carried: Carried): Message =>
  typeof carried === "string" ? (JSON.parse(carried) as Message) : carried;

export type {
  AskPart,
  Container,
  Deed,
  Facts,
  Fold,
  Obstacles,
  Progress,
  ToolCall,
} from "./envelope.generated.js";

/** What the page says about a view. */
export type Said = generated.Said;

/**
 * What the host process says to a view. A channel without a host process may leave out of a question and of an opening
 * what only that process knows, and may open a sandbox page in raw mode.
 */
export type Told =
  | Exclude<generated.Told, { open: unknown } | { ask: unknown }>
  | { open: Opened }
  | { ask: Ask };

/** How to mount a view. */
export type Opened = Pick<generated.Mount, "src"> &
  Partial<Omit<generated.Mount, "limits">> & {
    /** What counts for the view on the page, as the host process decided it; without it, the usual. */
    limits?: Partial<PageLimits>;
    /** For a sandbox page in raw mode: what to send once it is ready. */
    resource?: {
      html: string;
      sandbox?: string;
      csp?: Json;
      permissions?: Json;
    };
  };

/** How much of what a page says of a view may be on its way. Bytes are those of the text in UTF-8. */
export type PageLimits = generated.PageLimits;

/** A question for the person at the page. */
export type Ask = Pick<generated.Ask, "id" | "kind" | "text" | "choices"> &
  Partial<generated.Ask>;

/** What to show in place of a view: why there is none and, once it is known, what the tool answered. */
export type Fallback = Kind<"text">;

/** The tools that a view offers; each as MCP lists it. */
export type Offers = Kind<"tools">;

/** What came of a `call`: the answer, or why there is none. */
export type Called = Kind<"called">;

type Kind<K extends string> = Extract<generated.Told, Record<K, unknown>>[K];

/** What was said about one view; what was said is unread when it is a message. */
export type Envelope = {
  view: string;
  ack: number;
  seq?: number;
  kind?: string;
  rest?: unknown;
};

/** Reads what was said about a view; nothing when it is not written as the rules say. */
export function readEnvelope(text: string): Envelope | undefined {
  const [head, view, seq, ack, kind] = HEAD.exec(text) ?? [];
  if (!head || !kind !== !seq || !text.endsWith("}")) return undefined;
  const body = text.slice(head.length, -1);
  return {
    view: view!,
    ack: +ack!,
    seq: seq && +seq,
    kind,
    rest: kind && (kind === "message" ? body : JSON.parse(body)),
  } as Envelope;
}

/** What one side has said about a view and the other has not yet confirmed. */
export function openStream(view: string, write: (text: string) => void) {
  if (!/^[\w-]{1,64}$/.test(view)) throw new TypeError("not a view");
  // No view speaks before the host has opened it, and has told how much it may.
  const most: Partial<PageLimits> = {};
  let heard = 0;
  let confirmed = 0;
  /** Everything not yet confirmed, and its bytes; only the first `flying` of it has been written. */
  let unconfirmed: [text: string, size: number][] = [];
  let flying = 0;

  const send = (at: number) =>
    write(
      `{"view":"${view}","seq":${confirmed + at + 1},"ack":${heard},${unconfirmed[at]![0]}}`,
    );
  const bytes = (count?: number) =>
    unconfirmed.slice(0, count).reduce((all, [, size]) => all + size, 0);
  const isFull = () =>
    flying >= most.flying! || (flying && bytes(flying) >= most.flyingBytes!);
  const fill = () => {
    while (flying < unconfirmed.length && !isFull()) send(flying++);
  };

  return {
    /** Says one thing; false when so much waits that the peer must be gone or overwhelmed. */
    say(said: Said | Told): boolean {
      // Whoever goes does not wait behind what the view had to say; what the person did goes before.
      if ("close" in said)
        unconfirmed = unconfirmed.filter(
          ([text], at) => at < flying || !/^"(message|dropped)"/.test(text),
        );
      unconfirmed.push(memberOf(said));
      fill();
      return !(
        unconfirmed.length >= most.waiting! || bytes() > most.waitingBytes!
      );
    },

    /** Takes what the peer said; true when it is new. Throws when something is missing before it. */
    take({ seq = 0, ack, kind, rest }: Envelope): boolean {
      if (ack > confirmed + flying || seq > heard + 1)
        throw new TypeError("not a frame");
      for (; confirmed < ack; confirmed++, flying--) unconfirmed.shift();
      if (kind === "open") Object.assign(most, (rest as Opened).limits);
      fill();
      if (seq <= heard) return false;
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

/** What was said as the last member of its frame, and its bytes. */
function memberOf(said: Said | Told): [text: string, size: number] {
  const [[kind, payload]] = Object.entries(said) as [[string, unknown]];
  const text = textOf(payload);
  const size = bytesOf(text);
  // A frame that the peer cannot take would end the connection, and the next one, for every view.
  return size > LIMIT
    ? [`"dropped":${textOf({ message: text.slice(0, 999) })}`, 0]
    : [`"${kind}":${text}`, size];
}

/** JSON text as it is, and anything else as JSON. */
export const textOf = (carried: unknown): string =>
  typeof carried === "string" ? carried : JSON.stringify(carried);

/** The longest message that a frame holds, in bytes: the same for every view and every host. */
export const LIMIT = 2 ** 24;

const HEAD =
  /^\{"view":"([\w-]{1,64})"(?:,"seq":(\d{1,15}))?,"ack":(\d{1,15})(?:,"(\w+)":|}$)/;
