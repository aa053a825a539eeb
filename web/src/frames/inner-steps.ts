/**
 * Every move of the inner side, as a pure function from a state and what happened to a state and what to do. What arrives
 * here has passed the checks of source, origin and shape. The driver in `inner.ts` does the rest.
 *
 * ```text
 * boot ─announce─▶ announced ─reply─▶ pinned ─complete─▶ completed                   (setup)
 * boot ─announce─▶ announced ─reply─▶ pinned ─endpoint attached─▶ open ─▶ closed     (transport)
 * ```
 */
import { FrameError, type FrameCode } from "./error.js";
import { speaks, VERSION, type Message } from "./messages.js";
import type { Payload } from "./payload.js";

/** Where the inner side stands. */
export type InnerState =
  | { at: "boot" | "completed" | "closed" }
  /** `was` is the session before the browser put the page away. */
  | { at: "announced"; was?: string }
  | { at: "pinned" | "open"; sessionId: string };

/** What can happen to the inner side. */
export type InnerInput =
  /** `attach` when an MCP endpoint listens; `restore` when the page comes out of the browser's cache. */
  | { on: "announce" | "attach" | "complete" | "restore" | "close" }
  | { on: "message"; message: Message }
  | { on: "deadline" | "gone" | "flooded" };

/** What the inner side is to do. */
export type InnerOutput =
  | { do: "announce" }
  | { do: "pin"; sessionId: string }
  | { do: "accept"; sessionId: string }
  | { do: "opened" }
  | { do: "deliver"; payload: Payload }
  | { do: "log"; text: string }
  /** An allowed page speaks a version that we do not: told, and nothing changes. */
  | { do: "complain"; error: FrameError }
  | { do: "wait"; for: "reply" | "nothing" }
  | { do: "fail"; error: FrameError };

/** What the inner side knows of itself. */
export type InnerFacts = {
  phase: "setup" | "transport";
  attached: boolean;
};

/** Every move of the inner side. */
export function stepInner(
  state: InnerState,
  input: InnerInput,
  facts: InnerFacts,
): [InnerState, InnerOutput[]] {
  switch (input.on) {
    case "announce":
      if (state.at !== "boot") break;
      return [
        { at: "announced" },
        [{ do: "announce" }, { do: "wait", for: "reply" }],
      ];
    case "attach":
      if (state.at !== "pinned" || facts.phase === "setup") break;
      return opened(state.sessionId);
    case "complete":
      if (state.at !== "pinned" || facts.phase !== "setup") break;
      return [{ at: "completed" }, []];
    case "restore":
      // The outer side's session died with the page that was put away; a new one begins under the same name.
      if (state.at !== "open") break;
      return [
        { at: "announced", was: state.sessionId },
        [{ do: "announce" }, { do: "wait", for: "reply" }],
      ];
    case "message":
      return innerHears(state, input.message, facts);
    case "deadline":
      if (state.at !== "announced") break;
      return innerFails(
        "REPLY_TIMEOUT",
        "no MCP client that may use this page answered",
      );
    case "gone":
      if (state.at === "closed") break;
      return innerFails("PEER_CLOSED", "the other page is gone");
    case "flooded":
      if (state.at === "closed") break;
      return innerFails("FLOODED", "the other page sent more than it may");
    case "close":
      return [{ at: "closed" }, []];
  }
  return [state, []];
}

function innerHears(
  state: InnerState,
  message: Message,
  facts: InnerFacts,
): [InnerState, InnerOutput[]] {
  switch (message.type) {
    case "MCP_SETUP_HANDSHAKE_REPLY":
    case "MCP_TRANSPORT_HANDSHAKE_REPLY": {
      const { version, sessionId } = message;
      const setup = message.type === "MCP_SETUP_HANDSHAKE_REPLY";
      if (setup !== (facts.phase === "setup")) break;
      if (state.at === "announced") {
        if (!speaks([version, version]))
          return [
            state,
            [
              {
                do: "complain",
                error: new FrameError(
                  "VERSION_MISMATCH",
                  `the other page speaks ${version}, this one ${VERSION}`,
                  { expected: VERSION, got: version },
                ),
              },
            ],
          ];
        if (sessionId !== (state.was ?? sessionId)) return [state, [OTHER]];
        const pinned: InnerOutput[] = [
          { do: "wait", for: "nothing" },
          { do: "pin", sessionId },
        ];
        if (setup || !facts.attached)
          return [{ at: "pinned", sessionId }, pinned];
        const [then, more] = opened(sessionId);
        return [then, [...pinned, ...more]];
      }
      if (state.at !== "pinned" && state.at !== "open") break;
      if (sessionId !== state.sessionId) return [state, [OTHER]];
      // Our acceptance crossed with the repeated reply: once more does no harm.
      if (state.at === "open") return [state, [{ do: "accept", sessionId }]];
      break;
    }
    case "MCP_MESSAGE":
      if (state.at !== "open") break;
      return [state, [{ do: "deliver", payload: message.payload }]];
    case "MCPX_CLOSE":
      if (
        (state.at !== "open" && state.at !== "pinned") ||
        message.sessionId !== state.sessionId
      )
        break;
      return innerFails(
        "PEER_CLOSED",
        message.leaving
          ? "the other page was left or reloaded"
          : "the other page closed the connection",
      );
  }
  return [state, []];
}

const OTHER = {
  do: "log",
  text: "a second reply named another session; ignored",
} as const;

function opened(sessionId: string): [InnerState, InnerOutput[]] {
  return [
    { at: "open", sessionId },
    [{ do: "accept", sessionId }, { do: "opened" }],
  ];
}

function innerFails(
  code: FrameCode,
  text: string,
): [InnerState, InnerOutput[]] {
  return [
    { at: "closed" },
    [
      { do: "wait", for: "nothing" },
      { do: "fail", error: new FrameError(code, text) },
    ],
  ];
}
