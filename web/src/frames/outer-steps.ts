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
  | { on: "flooded" }
  /** The window could not be opened. */
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

/** Every move of the outer side. */
export function stepOuter(
  state: OuterState,
  input: OuterInput,
  facts: OuterFacts,
): [OuterState, OuterOutput[]] {
  switch (input.on) {
    case "setup":
      if (state.at !== "idle" && state.at !== "done") break;
      return [
        { at: "loadingSetup" },
        [
          { do: "wait", for: "load" },
          { do: "load", phase: "setup" },
        ],
      ];
    case "start":
      if (state.at !== "idle" && state.at !== "done") break;
      return [
        { at: "loading" },
        [
          { do: "wait", for: "load" },
          { do: "load", phase: "transport" },
        ],
      ];
    case "message":
      return outerHears(state, input, facts);
    case "granted":
      if (state.at !== "asking") break;
      if (input.missing.length)
        return failed(
          "INSUFFICIENT_PERMISSIONS",
          `the page cannot work without ${input.missing.join(", ")}, which it was not given`,
          "done",
        );
      if (input.again)
        return [
          { at: "loadingSetup" },
          [
            { do: "wait", for: "load" },
            { do: "load", phase: "setup" },
          ],
        ];
      return configuring(state.visible);
    case "foreign":
      return outerHearsForeign(state, input, facts);
    case "deadline":
      return outerRunsOut(state, input.loads);
    case "left":
      // The next document may be the same server after a reload: it has the time of a load to announce itself.
      // Where it is the same document after all, it answers the repeated reply.
      if (state.at !== "open") break;
      return [
        state,
        [
          { do: "reply", phase: "transport" },
          { do: "wait", for: "return" },
        ],
      ];
    case "gone":
      if (!isLive(state)) break;
      if (facts.kind === "iframe")
        return ended(
          state,
          "FRAME_REMOVED",
          "the frame was taken out of the page",
        );
      if (state.at === "loading" || state.at === "loadingSetup")
        return ended(
          state,
          "OPENER_SEVERED",
          "the popup was closed, or cut off from this page by a Cross-Origin-Opener-Policy, before it announced itself",
        );
      return ended(state, "USER_CLOSED", "the popup was closed");
    case "flooded":
      if (!isLive(state)) break;
      return ended(state, "FLOODED", "the page sent more than it may");
    case "blocked":
      if (!isLive(state)) break;
      return ended(state, input.error.code, input.error.message);
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
): [OuterState, OuterOutput[]] {
  switch (`${state.at} ${message.type}`) {
    case "loadingSetup MCP_SETUP_HANDSHAKE":
    case "loading MCP_TRANSPORT_HANDSHAKE": {
      const hello = message as Extract<Message, { versions: unknown }>;
      // Nothing is sent to a page that speaks another version: the session's name is a secret.
      if (!speaks(hello.versions))
        return failed(
          "VERSION_MISMATCH",
          `the page speaks ${range(hello.versions)}, this side ${VERSION}`,
          state.at === "loading" ? "closed" : "done",
          { expected: VERSION, got: range(hello.versions) },
        );
      if (hello.type === "MCP_TRANSPORT_HANDSHAKE") return replied({});
      if (!hello.permissions.length) return configuring(hello.visible);
      return [
        { at: "asking", visible: hello.visible },
        [
          // A person reads and decides.
          { do: "wait", for: "nothing" },
          { do: "ask", permissions: hello.permissions },
        ],
      ];
    }
    case "loadingSetup MCP_TRANSPORT_HANDSHAKE":
      return failed(
        "WRONG_PHASE",
        "the page began to connect although it was opened for its setup",
        "done",
      );
    case "loading MCP_SETUP_HANDSHAKE":
      return failed(
        "WRONG_PHASE",
        "the page began its setup although it was opened to connect",
      );
    case "configuring MCP_SETUP_HANDSHAKE":
      // The page reloaded while a person was filling it in, or came back from a sign-in elsewhere.
      // An opaque origin does not tell whose page it is now, and the reply holds the session's name.
      return reloaded && !facts.opaque ? configuring(false) : [state, []];
    case "configuring MCP_SETUP_COMPLETE": {
      const { outcome } = message as Extract<Message, { outcome: unknown }>;
      return [
        { at: "done" },
        [
          { do: "wait", for: "nothing" },
          { do: "finish", outcome },
        ],
      ];
    }
    case "replied MCP_TRANSPORT_HANDSHAKE":
      return replied(state);
    case "replied MCP_TRANSPORT_ACCEPTED": {
      const { sessionId } = message as Extract<
        Message,
        { type: "MCP_TRANSPORT_ACCEPTED" }
      >;
      if (sessionId !== facts.sessionId)
        return failed(
          "SESSION_MISMATCH",
          "the page accepted another session than the one it was offered",
        );
      const open = {
        at: "open",
        blocked: false,
        quietUntil: -Infinity,
      } as const;
      const opened: OuterOutput[] = [
        { do: "wait", for: "nothing" },
        { do: "opened" },
      ];
      const early = (state as { required?: SetupRequired }).required;
      if (!early) return [open, opened];
      const [then, more] = required(open, early, now);
      return [then, [...opened, ...more]];
    }
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
      return [state, [{ do: "wait", for: "nothing" }]];
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
    case "open MCP_TRANSPORT_HANDSHAKE":
    case "open MCP_SETUP_HANDSHAKE":
      // All opaque pages have the same origin: whether this is the same server after a reload cannot be told.
      if (facts.opaque)
        return failed(
          "NAVIGATED_AWAY",
          "the frame loaded another page, and an opaque origin does not tell whose",
          "closed",
          { expected: facts.origin, got: "null" },
        );
      if (message.type === "MCP_SETUP_HANDSHAKE")
        return failed(
          "WRONG_PHASE",
          "the page went back to its setup while it was connected",
        );
      return [
        { at: "closed" },
        [{ do: "wait", for: "nothing" }, { do: "reloaded" }],
      ];
    case "open MCPX_CLOSE":
    case "replied MCPX_CLOSE": {
      const bye = message as Extract<Message, { leaving: unknown }>;
      if (bye.sessionId !== facts.sessionId) break;
      return bye.leaving
        ? [state, [{ do: "wait", for: "return" }]]
        : failed("PEER_CLOSED", "the page closed the connection");
    }
  }
  return [state, []];
}

/** A message from our own window under an origin that is not the server's. */
function outerHearsForeign(
  state: OuterState,
  { origin, announces }: { origin: string; announces: boolean },
  facts: OuterFacts,
): [OuterState, OuterOutput[]] {
  const data = { expected: facts.origin, got: origin };
  switch (state.at) {
    case "loading":
    case "loadingSetup":
      // Some pages post to their parent for reasons of their own; an announcement is meant for us.
      if (!announces) break;
      return ended(
        state,
        "ORIGIN_MISMATCH",
        `expected a page of ${facts.origin}, and one of ${origin} announced itself; the address may redirect`,
        data,
      );
    case "replied":
    case "open":
      return ended(
        state,
        "NAVIGATED_AWAY",
        `the window went from ${facts.origin} to ${origin}`,
        data,
      );
    // In `configuring` a page may send the person elsewhere to sign in, and have them sent back.
  }
  return [state, []];
}

function outerRunsOut(
  state: OuterState,
  loads: number | undefined,
): [OuterState, OuterOutput[]] {
  switch (state.at) {
    case "loading":
    case "loadingSetup":
      return ended(
        state,
        "LOAD_TIMEOUT",
        loads === 0
          ? "the page did not load in time"
          : `the page ${loads === undefined ? "may have" : "has"} loaded but did not announce itself: it may be no MCP page, may forbid being shown here (frame-ancestors), or could not be reached`,
      );
    case "configuring":
      return ended(state, "TIMEOUT", "the setup took too long");
    case "replied":
      return ended(
        state,
        "ACCEPT_TIMEOUT",
        "the page announced itself but did not accept the connection in time",
      );
    case "open":
      return ended(
        state,
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
): [OuterState, OuterOutput[]] {
  const worse = !required.canContinue && !state.blocked;
  if (now < state.quietUntil && !worse) return [state, []];
  return [
    {
      at: "open",
      blocked: state.blocked || !required.canContinue,
      quietUntil: now + NAG,
    },
    [{ do: "surface", required }],
  ];
}

function configuring(visible: boolean): [OuterState, OuterOutput[]] {
  return [
    { at: "configuring" },
    [
      // Shown before the reply, so that the person sees the form when the page goes on.
      ...(visible ? [{ do: "show" } as const] : []),
      { do: "reply", phase: "setup" },
      { do: "wait", for: "setup" },
    ],
  ];
}

function replied(state: object): [OuterState, OuterOutput[]] {
  return [
    { ...state, at: "replied" },
    [
      { do: "reply", phase: "transport" },
      { do: "wait", for: "accept" },
    ],
  ];
}

const isLive = ({ at }: OuterState) =>
  at !== "idle" && at !== "done" && at !== "closed";

/** The end of a setup leaves the transport usable; the end of a connection does not. */
function ended(
  { at }: OuterState,
  code: FrameCode,
  text: string,
  data?: { expected: string; got: string },
) {
  const setup =
    at === "loadingSetup" || at === "configuring" || at === "asking";
  return failed(code, text, setup ? "done" : "closed", data);
}

function failed(
  code: FrameCode,
  text: string,
  at: "done" | "closed" = "closed",
  data?: { expected: string; got: string },
): [OuterState, OuterOutput[]] {
  return [
    { at },
    [
      { do: "wait", for: "nothing" },
      { do: "fail", error: new FrameError(code, text, data) },
    ],
  ];
}

const range = ([min, max]: [string, string]) =>
  min === max ? min : `${min} to ${max}`;

/** A page may ask for its setup this often, in milliseconds. */
const NAG = 10_000;
