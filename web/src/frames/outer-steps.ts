/**
 * Every move of the outer side, as a pure function from a state and what happened to a state and what to do. What arrives
 * here has passed the checks of source, origin and shape. The driver in `outer.ts` does the rest.
 *
 * ```text
 * idle ─setup─▶ loadingSetup ─announced─▶ configuring ─complete─▶ done
 *                 └─asks for features─▶ asking ─granted─┘
 * idle, done ─start─▶ loading ─announced─▶ replied ─accepted─▶ open ─▶ closed
 * ```
 *
 * The reference's LISTENING and LOADING are one state, because both begin in one task, the listener first; so are its
 * REPLIED and CONFIGURING of the setup, because no message tells them apart.
 */
import { FrameError, type FrameCode } from "./error.js";
import {
  speaks,
  VERSION,
  type Message,
  type PermissionRequest,
  type SetupOutcome,
  type SetupRequired,
} from "./messages.js";
import type { Payload } from "./payload.js";

/** Where the outer side stands. */
export type OuterState =
  | { at: "idle" | "loadingSetup" | "configuring" | "done" | "loading" }
  | { at: "asking"; visible: boolean }
  | { at: "replied"; required?: SetupRequired }
  | { at: "open"; blocked: boolean; quietUntil: number }
  | { at: "closed" };

/** What can happen to the outer side. */
export type OuterInput =
  | { on: "setup" | "start" | "close" }
  /** `reloaded` when the window has loaded a document since we last replied. */
  | { on: "message"; message: Message; reloaded: boolean; now: number }
  /** A message from our window under another origin. */
  | { on: "foreign"; origin: string; announces: boolean }
  /** The answer to what the page asked for; `again` when it must be loaded anew to have it. */
  | { on: "granted"; missing: string[]; again: boolean }
  /** A deadline; `loads` is how often the window has loaded, where it tells. */
  | { on: "deadline"; loads: number | undefined }
  /** The window is no more, or holds another page that has not announced itself. */
  | { on: "gone" | "left" }
  /** The window could not be opened, the person gave up, or the page sent too much. */
  | { on: "blocked"; error: FrameError };

/** What the outer side is to do. */
export type OuterOutput =
  | { do: "load"; phase: "setup" | "transport" }
  | { do: "ask"; permissions: PermissionRequest[] }
  | { do: "show" }
  | { do: "reply"; phase: "setup" | "transport" }
  | { do: "finish"; outcome: SetupOutcome }
  | { do: "opened" }
  | { do: "deliver"; payload: Payload }
  | { do: "surface"; required: SetupRequired }
  /** The peer reloaded: end this session, and offer the next one. */
  | { do: "reloaded" }
  | { do: "wait"; for: "load" | "accept" | "setup" | "return" | "nothing" }
  | { do: "fail"; error: FrameError };

/** What does not change while the outer side lives. */
export type OuterFacts = {
  sessionId: string;
  /** The origin that the page's address has. */
  origin: string;
  kind: "iframe" | "popup";
  opaque: boolean;
};

/** Where the outer side stands after a move, and what it is to do. */
type Step = [OuterState, OuterOutput[]];

/** Every move of the outer side. */
export function stepOuter(
  state: OuterState,
  input: OuterInput,
  facts: OuterFacts,
): Step {
  const { at } = state;
  const ready = at === "idle" || at === "done";
  const live = !ready && at !== "closed";
  switch (input.on) {
    case "setup":
    case "start":
      if (!ready) break;
      return load(input.on === "setup");
    case "message":
      return outerHears(state, input, facts);
    case "granted":
      if (at !== "asking") break;
      if (input.missing.length)
        return failed(
          at,
          "INSUFFICIENT_PERMISSIONS",
          `the page cannot work without ${input.missing.join(", ")}`,
        );
      return input.again ? load(true) : configuring(state.visible);
    case "foreign":
      return outerHearsForeign(state, input, facts);
    case "deadline":
      return outerRunsOut(state, input.loads);
    case "left":
      // The next document may be the same server after a reload: it has the time of a load to announce itself.
      // Where it is the same document after all, it answers the repeated reply.
      if (at !== "open") break;
      return [state, [REPLY, wait("return")]];
    case "gone":
      if (!live) break;
      if (facts.kind === "iframe")
        return failed(
          at,
          "FRAME_REMOVED",
          "the frame was taken out of the page",
        );
      if (isLoading(at))
        return failed(
          at,
          "OPENER_SEVERED",
          "the popup was closed, or cut off by a Cross-Origin-Opener-Policy, before it announced itself",
        );
      return failed(at, "USER_CLOSED", "the popup was closed");
    case "blocked":
      if (!live) break;
      return stopped(at, input.error);
    case "close":
      return [{ at: "closed" }, []];
  }
  return [state, []];
}

function outerHears(
  state: OuterState,
  {
    message,
    reloaded,
    now,
  }: { message: Message; reloaded: boolean; now: number },
  facts: OuterFacts,
): Step {
  const { at } = state;
  if ("versions" in message)
    return outerHearsHello(state, message, reloaded, facts);
  switch (`${at} ${message.type}`) {
    case "configuring MCP_SETUP_COMPLETE": {
      const { outcome } = message as Extract<Message, { outcome: unknown }>;
      return [{ at: "done" }, [REST, { do: "finish", outcome }]];
    }
    case "replied MCP_TRANSPORT_ACCEPTED":
      return accepted(
        state as Extract<OuterState, { at: "replied" }>,
        message as Extract<Message, { type: "MCP_TRANSPORT_ACCEPTED" }>,
        now,
        facts,
      );
    case "replied MCP_SETUP_REQUIRED":
      return [
        {
          at: "replied",
          required: (message as Extract<Message, { required: unknown }>)
            .required,
        },
        [],
      ];
    case "open MCP_TRANSPORT_ACCEPTED":
      // The page is still the one that accepted before.
      return [state, [REST]];
    case "open MCP_MESSAGE": {
      const { payload } = message as Extract<Message, { payload: unknown }>;
      return [state, [{ do: "deliver", payload }]];
    }
    case "open MCP_SETUP_REQUIRED":
      return required(
        state as Extract<OuterState, { at: "open" }>,
        (message as Extract<Message, { required: unknown }>).required,
        now,
      );
    case "open MCPX_CLOSE":
    case "replied MCPX_CLOSE": {
      const bye = message as Extract<Message, { leaving: unknown }>;
      if (bye.sessionId !== facts.sessionId) break;
      return bye.leaving
        ? [state, [wait("return")]]
        : failed(at, "PEER_CLOSED", "the page closed the connection");
    }
  }
  return [state, []];
}

/** The page accepts; what it asked for too early comes out now. */
function accepted(
  { at, required: early }: Extract<OuterState, { at: "replied" }>,
  { sessionId }: { sessionId: string },
  now: number,
  facts: OuterFacts,
): Step {
  if (sessionId !== facts.sessionId)
    return failed(
      at,
      "SESSION_MISMATCH",
      "the page accepted another session than it was offered",
    );
  const open = { at: "open", blocked: false, quietUntil: -Infinity } as const;
  const [then, more] = early ? required(open, early, now) : [open, []];
  return [then, [REST, { do: "opened" }, ...more]];
}

/** An announcement. */
function outerHearsHello(
  state: OuterState,
  hello: Extract<Message, { versions: unknown }>,
  reloaded: boolean,
  { opaque, origin }: OuterFacts,
): Step {
  const { at } = state;
  const setup = hello.type === "MCP_SETUP_HANDSHAKE";
  if (at === "open" && opaque)
    // All opaque pages have the same origin: whether this is the same server after a reload cannot be told.
    return failed(
      at,
      "NAVIGATED_AWAY",
      "the frame loaded another page, and an opaque origin does not tell whose",
      { expected: origin, got: "null" },
    );
  if (
    isLoading(at) ? setup !== (at === "loadingSetup") : at === "open" && setup
  )
    return failed(
      at,
      "WRONG_PHASE",
      setup
        ? "the page began its setup, but was opened to connect"
        : "the page began to connect, but was opened for its setup",
    );
  if (isLoading(at)) {
    // Nothing is sent to a page that speaks another version: the session's name is a secret.
    if (!speaks(hello.versions)) {
      const got = [...new Set(hello.versions)].join(" to ");
      return failed(
        at,
        "VERSION_MISMATCH",
        `the page speaks ${got}, this side ${VERSION}`,
        { expected: VERSION, got },
      );
    }
    if (!setup) return replied({});
    const { visible, permissions } = hello;
    return permissions.length
      ? // A person reads and decides.
        [{ at: "asking", visible }, [REST, { do: "ask", permissions }]]
      : configuring(visible);
  }
  // The page reloaded while a person was filling it in, or came back from a sign-in elsewhere.
  // An opaque origin does not tell whose page it is now, and the reply holds the session's name.
  if (at === "configuring" && setup && reloaded && !opaque)
    return configuring(false);
  if (at === "replied" && !setup) return replied(state);
  if (at === "open") return [{ at: "closed" }, [REST, { do: "reloaded" }]];
  return [state, []];
}

/** A message from our own window under an origin that is not the server's. */
function outerHearsForeign(
  state: OuterState,
  { origin: got, announces }: { origin: string; announces: boolean },
  { origin: expected }: OuterFacts,
): Step {
  const { at } = state;
  // Some pages post to their parent for reasons of their own; an announcement is meant for us.
  if (isLoading(at) && announces)
    return failed(
      at,
      "ORIGIN_MISMATCH",
      `expected a page of ${expected}, and one of ${got} announced itself; the address may redirect`,
      { expected, got },
    );
  // In `configuring` a page may send the person elsewhere to sign in, and have them sent back.
  if (at === "replied" || at === "open")
    return failed(
      at,
      "NAVIGATED_AWAY",
      `the window went from ${expected} to ${got}`,
      { expected, got },
    );
  return [state, []];
}

function outerRunsOut(state: OuterState, loads: number | undefined): Step {
  const { at } = state;
  switch (at) {
    case "loading":
    case "loadingSetup":
      return failed(
        at,
        "LOAD_TIMEOUT",
        loads === 0
          ? "the page did not load in time"
          : `the page ${loads ? "has" : "may have"} loaded but did not announce itself: it may be no MCP page, may forbid being shown here (frame-ancestors), or could not be reached`,
      );
    case "configuring":
      return failed(at, "TIMEOUT", "the setup took too long");
    case "replied":
      return failed(
        at,
        "ACCEPT_TIMEOUT",
        "the page did not accept the connection in time",
      );
    case "open":
      return failed(
        at,
        "NAVIGATED_AWAY",
        "the window loaded another page, which did not announce itself",
      );
  }
  return [state, []];
}

/** Asks a person at most once in a while, however often the page says it; what it may no longer do holds at once. */
function required(
  state: Extract<OuterState, { at: "open" }>,
  required: SetupRequired,
  now: number,
): Step {
  const blocked = state.blocked || !required.canContinue;
  if (now < state.quietUntil && blocked === state.blocked) return [state, []];
  return [
    { at: "open", blocked, quietUntil: now + NAG },
    [{ do: "surface", required }],
  ];
}

function load(setup: boolean): Step {
  return [
    { at: setup ? "loadingSetup" : "loading" },
    [wait("load"), { do: "load", phase: setup ? "setup" : "transport" }],
  ];
}

function configuring(visible: boolean): Step {
  const outputs: OuterOutput[] = [
    { do: "reply", phase: "setup" },
    wait("setup"),
  ];
  // Shown before the reply, so that the person sees the form when the page goes on.
  if (visible) outputs.unshift({ do: "show" });
  return [{ at: "configuring" }, outputs];
}

function replied(state: object): Step {
  return [{ ...state, at: "replied" }, [REPLY, wait("accept")]];
}

function failed(
  at: OuterState["at"],
  code: FrameCode,
  text: string,
  data?: { expected: string; got: string },
): Step {
  return stopped(at, new FrameError(code, text, data));
}

/** The end of a setup leaves the transport usable; the end of a connection does not. */
function stopped(at: OuterState["at"], error: FrameError): Step {
  const setup =
    at === "loadingSetup" || at === "configuring" || at === "asking";
  return [{ at: setup ? "done" : "closed" }, [REST, { do: "fail", error }]];
}

const isLoading = (at: OuterState["at"]) =>
  at === "loading" || at === "loadingSetup";

function wait(why: Extract<OuterOutput, { do: "wait" }>["for"]): OuterOutput {
  return { do: "wait", for: why };
}

const REST = wait("nothing");
const REPLY: OuterOutput = { do: "reply", phase: "transport" };

/** A page may ask for its setup this often, in milliseconds. */
const NAG = 10_000;
