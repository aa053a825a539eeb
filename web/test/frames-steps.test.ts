/** Every move of both sides as a table, from the other side: STM-2, and the walk of STM-3. */
import { describe, expect, test } from "vitest";
import { FrameError } from "transom/frames";
import {
  stepInner,
  type InnerInput,
  type InnerState,
} from "transom/frames/inner-steps";
import {
  fromInner,
  fromOuter,
  parse,
  type Message,
} from "transom/frames/messages";
import {
  stepOuter,
  type OuterInput,
  type OuterState,
} from "transom/frames/outer-steps";
import {
  ACCEPTED,
  COMPLETE,
  HELLO,
  INNER,
  PING,
  REPLY,
  SESSION,
  SETUP_HELLO,
  SETUP_REPLY,
  SETUP_REQUIRED,
} from "./frames-world.js";

const read = (data: object): Message => {
  const parsed = parse(data, fromInner) ?? parse(data, fromOuter);
  if (!parsed || !("message" in parsed)) throw new Error(JSON.stringify(data));
  return parsed.message;
};
const facts = {
  sessionId: SESSION,
  origin: INNER,
  kind: "iframe",
  opaque: false,
} as const;
const open: OuterState = { at: "open", blocked: false, quietUntil: -Infinity };

/** One word for each thing to do, deadlines left out unless asked for. */
function trace(
  outputs: readonly { do: string; for?: string; error?: { code: string } }[],
  waits = false,
) {
  return outputs
    .filter((output) => waits || output.do !== "wait")
    .map(({ do: what, error, for: why }) =>
      [what, error?.code, why].filter(Boolean).join(" "),
    )
    .join(", ");
}

const hears = (data: object, reloaded = false, now = 0): OuterInput => ({
  on: "message",
  message: read(data),
  reloaded,
  now,
});

// The columns of the reference's table, in its order.
const OUTER_STATES: Record<string, OuterState> = {
  idle: { at: "idle" },
  "loading (setup)": { at: "loadingSetup" },
  configuring: { at: "configuring" },
  done: { at: "done" },
  "loading (transport)": { at: "loading" },
  "replied (transport)": { at: "replied" },
  open,
  closed: { at: "closed" },
};

// What the outer side does; nothing where a cell is left out, and its state stays.
const OUTER_TABLE: Record<string, [object, Record<string, [string, string]>]> =
  {
    SETUP_HANDSHAKE: [
      SETUP_HELLO,
      {
        "loading (setup)": ["configuring", "reply"],
        "loading (transport)": ["closed", "fail WRONG_PHASE"],
        open: ["closed", "fail WRONG_PHASE"],
      },
    ],
    SETUP_COMPLETE: [COMPLETE, { configuring: ["done", "finish"] }],
    TRANSPORT_HANDSHAKE: [
      HELLO,
      {
        "loading (setup)": ["done", "fail WRONG_PHASE"],
        "loading (transport)": ["replied", "reply"],
        "replied (transport)": ["replied", "reply"],
        open: ["closed", "reloaded"],
      },
    ],
    TRANSPORT_ACCEPTED: [
      ACCEPTED,
      { "replied (transport)": ["open", "opened"] },
    ],
    SETUP_REQUIRED: [
      SETUP_REQUIRED,
      { "replied (transport)": ["replied", ""], open: ["open", "surface"] },
    ],
    MCP_MESSAGE: [PING, { open: ["open", "deliver"] }],
    SETUP_HANDSHAKE_REPLY: [SETUP_REPLY, {}],
    TRANSPORT_HANDSHAKE_REPLY: [REPLY, {}],
  };

describe("STM-2 outer", () => {
  for (const [name, [data, row]] of Object.entries(OUTER_TABLE))
    for (const [column, state] of Object.entries(OUTER_STATES)) {
      const [to, did] = row[column] ?? [state.at, ""];
      test(`${name} while ${column}: ${did || "ignored"}`, () => {
        const [next, outputs] = stepOuter(state, hears(data), facts);
        expect([next.at, trace(outputs)]).toEqual([to, did]);
        // What is ignored changes nothing.
        if (!row[column]) expect(next).toBe(state);
      });
    }

  // The moves that the table names in words.
  const asks = {
    ...SETUP_HELLO,
    requestedPermissions: [
      { name: "camera", phase: ["setup"], required: true, purpose: "p" },
    ],
  };
  const later = { ...HELLO, protocolVersion: "2.0" };
  const final = { ...SETUP_REQUIRED, canContinue: false };
  const bye = { type: "MCPX_CLOSE", sessionId: SESSION };
  const at = (name: string): OuterState => OUTER_STATES[name]!;
  const early: OuterState = {
    at: "replied",
    required: { reason: "OTHER", message: "m", canContinue: false },
  };
  const asking: OuterState = { at: "asking", visible: true };
  const blocked: OuterState = { at: "open", blocked: true, quietUntil: 5 };
  const flood = new FrameError("FLOODED", "too much");
  const popup = { ...facts, kind: "popup" } as const;
  const opaque = { ...facts, opaque: true };

  // prettier-ignore
  const moves: [string, OuterState, OuterInput, string, string, typeof facts?][] = [
    // what                                         from                       on                                                      to             and does
    ["a setup begins",                              at("idle"),                { on: "setup" },                                        "loadingSetup", "wait load, load"],
    ["a setup runs again",                          at("done"),                { on: "setup" },                                        "loadingSetup", "wait load, load"],
    ["a connection begins",                         at("done"),                { on: "start" },                                        "loading",      "wait load, load"],
    ["nothing begins twice",                        at("loading (transport)"), { on: "start" },                                        "loading",      ""],
    ["nothing begins after the end",                at("closed"),              { on: "setup" },                                        "closed",       ""],
    ["MSG-1d shown before the reply",               at("loading (setup)"),     hears({ ...SETUP_HELLO, requiresVisibleSetup: true }),  "configuring",  "show, reply, wait setup"],
    ["a reloaded setup is replied to once more",    at("configuring"),         hears(SETUP_HELLO, true),                               "configuring",  "reply, wait setup"],
    ["SEC-20 not where nobody can tell who it is",  at("configuring"),         hears(SETUP_HELLO, true),                               "configuring",  "", opaque as never],
    ["MSG-1c another version gets no reply",        at("loading (setup)"),     hears({ ...SETUP_HELLO, protocolVersion: "2.0" }),      "done",         "wait nothing, fail VERSION_MISMATCH"],
    ["nor does it to connect",                      at("loading (transport)"), hears(later),                                           "closed",       "wait nothing, fail VERSION_MISMATCH"],
    ["OQ-1 a page that wants features is asked about", at("loading (setup)"),  hears(asks),                                            "asking",       "wait nothing, ask"],
    ["what arrives meanwhile waits for its repeat", asking,                    hears(SETUP_HELLO),                                     "asking",       ""],
    ["granted, nothing to reload",                  asking,                    { on: "granted", missing: [], again: false },           "configuring",  "show, reply, wait setup"],
    ["SEC-14 granted for the setup: loaded anew",   asking,                    { on: "granted", missing: [], again: true },            "loadingSetup", "wait load, load"],
    ["required and denied",                         asking,                    { on: "granted", missing: ["camera"], again: false },   "done",         "wait nothing, fail INSUFFICIENT_PERMISSIONS"],
    ["an answer nobody waits for",                  at("done"),                { on: "granted", missing: [], again: false },           "done",         ""],
    ["MSG-6a another session accepted",             at("replied (transport)"), hears({ ...ACCEPTED, sessionId: "constructor" }),       "closed",       "wait nothing, fail SESSION_MISMATCH"],
    ["an early wish for setup comes out at once",   early,                     hears(ACCEPTED),                                        "open",         "wait nothing, opened, surface"],
    ["MSG-7d repeated within ten seconds",          { ...open, quietUntil: 9 } as OuterState, hears(SETUP_REQUIRED, false, 8),         "open",         ""],
    ["and after them",                              { ...open, quietUntil: 9 } as OuterState, hears(SETUP_REQUIRED, false, 9),         "open",         "surface"],
    ["MSG-7c what is worse is told at once",        { ...open, quietUntil: 9 } as OuterState, hears(final, false, 8),                  "open",         "surface"],
    ["and once",                                    blocked,                   hears(final, false, 4),                                 "open",         ""],
    ["accepted again: the page is still there",     open,                      hears(ACCEPTED),                                        "open",         "wait nothing"],
    ["SEC-20 an opaque page never comes back",      open,                      hears(HELLO),                                           "closed",       "wait nothing, fail NAVIGATED_AWAY", opaque as never],
    ["LIF-1 the page says goodbye",                 open,                      hears(bye),                                             "closed",       "wait nothing, fail PEER_CLOSED"],
    ["the page unloads and may come back",          open,                      hears({ ...bye, reason: "pagehide" }),                  "open",         "wait return"],
    ["goodbye to another session",                  open,                      hears({ ...bye, sessionId: "x" }),                      "open",         ""],
    ["WIN-6 announced from elsewhere",              at("loading (transport)"), { on: "foreign", origin: "https://e.test", announces: true },  "closed", "wait nothing, fail ORIGIN_MISMATCH"],
    ["in the setup too",                            at("loading (setup)"),     { on: "foreign", origin: "https://e.test", announces: true },  "done",   "wait nothing, fail ORIGIN_MISMATCH"],
    ["chatter from elsewhere",                      at("loading (transport)"), { on: "foreign", origin: "https://e.test", announces: false }, "loading", ""],
    ["a sign-in on another site",                   at("configuring"),         { on: "foreign", origin: "https://e.test", announces: true },  "configuring", ""],
    ["LIF-5 a word from elsewhere while open",      open,                      { on: "foreign", origin: "https://e.test", announces: false }, "closed",  "wait nothing, fail NAVIGATED_AWAY"],
    ["LIF-5 another page was loaded: asked first",  open,                      { on: "left" },                                         "open",         "reply, wait return"],
    ["LIF-5 and it stayed silent",                  open,                      { on: "deadline", loads: 2 },                           "closed",       "wait nothing, fail NAVIGATED_AWAY"],
    ["TMO-1 no announcement",                       at("loading (transport)"), { on: "deadline", loads: 1 },                           "closed",       "wait nothing, fail LOAD_TIMEOUT"],
    ["TMO-1 nor in the setup",                      at("loading (setup)"),     { on: "deadline", loads: 0 },                           "done",         "wait nothing, fail LOAD_TIMEOUT"],
    ["TMO-3 not accepted",                          at("replied (transport)"), { on: "deadline", loads: 1 },                           "closed",       "wait nothing, fail ACCEPT_TIMEOUT"],
    ["TMO-6 the setup's own deadline",              at("configuring"),         { on: "deadline", loads: 1 },                           "done",         "wait nothing, fail TIMEOUT"],
    ["a late timer",                                at("closed"),              { on: "deadline", loads: 1 },                           "closed",       ""],
    ["LIF-6 the frame was removed",                 open,                      { on: "gone" },                                         "closed",       "wait nothing, fail FRAME_REMOVED"],
    ["WIN-4 a popup that never spoke",              at("loading (transport)"), { on: "gone" },                                         "closed",       "wait nothing, fail OPENER_SEVERED", popup as never],
    ["WIN-5 a popup that did",                      open,                      { on: "gone" },                                         "closed",       "wait nothing, fail USER_CLOSED", popup as never],
    ["WIN-5 or was being filled in",                at("configuring"),         { on: "gone" },                                         "done",         "wait nothing, fail USER_CLOSED", popup as never],
    ["nothing is left to be gone",                  at("done"),                { on: "gone" },                                         "done",         ""],
    ["SEC-18 a flood",                              open,                      { on: "blocked", error: flood },                        "closed",       "wait nothing, fail FLOODED"],
    ["close",                                       open,                      { on: "close" },                                        "closed",       ""],
  ];
  test.each(moves)("%s", (_, from, on, to, does, given) => {
    const [next, outputs] = stepOuter(from, on, given ?? facts);
    expect([next.at, trace(outputs, true)]).toEqual([to, does]);
  });
});

// The columns of the reference's table.
type Column = [InnerState, "setup" | "transport"];
const PINNED: InnerState = { at: "pinned", sessionId: SESSION };
const INNER_STATES: Record<string, Column> = {
  boot: [{ at: "boot" }, "transport"],
  "announced (setup)": [{ at: "announced" }, "setup"],
  "announced (transport)": [{ at: "announced" }, "transport"],
  configuring: [PINNED, "setup"],
  pinned: [PINNED, "transport"],
  open: [{ at: "open", sessionId: SESSION }, "transport"],
  completed: [{ at: "completed" }, "setup"],
  closed: [{ at: "closed" }, "transport"],
};
const INNER_TABLE: Record<string, [object, Record<string, [string, string]>]> =
  {
    SETUP_HANDSHAKE_REPLY: [
      SETUP_REPLY,
      { "announced (setup)": ["pinned", "pin"] },
    ],
    TRANSPORT_HANDSHAKE_REPLY: [
      REPLY,
      {
        "announced (transport)": ["open", "pin, accept, opened"],
        open: ["open", "accept"],
      },
    ],
    MCP_MESSAGE: [PING, { open: ["open", "deliver"] }],
    SETUP_HANDSHAKE: [SETUP_HELLO, {}],
    SETUP_COMPLETE: [COMPLETE, {}],
    TRANSPORT_HANDSHAKE: [HELLO, {}],
    TRANSPORT_ACCEPTED: [ACCEPTED, {}],
    SETUP_REQUIRED: [SETUP_REQUIRED, {}],
  };
const innerHears = (data: object): InnerInput => ({
  on: "message",
  message: read(data),
});

describe("STM-2 inner", () => {
  for (const [name, [data, row]] of Object.entries(INNER_TABLE))
    for (const [column, [state, phase]] of Object.entries(INNER_STATES)) {
      const [to, did] = row[column] ?? [state.at, ""];
      test(`${name} while ${column}: ${did || "ignored"}`, () => {
        const [next, outputs] = stepInner(state, innerHears(data), {
          phase,
          attached: true,
        });
        expect([next.at, trace(outputs)]).toEqual([to, did]);
      });
    }

  const at = (name: string) => INNER_STATES[name]!;
  const other = { sessionId: "other" };
  const early: InnerInput = innerHears(REPLY);
  const away: Column = [{ at: "announced", was: SESSION }, "transport"];
  // prettier-ignore
  const moves: [string, Column, InnerInput, string, string, boolean?][] = [
    ["a page announces itself",                   at("boot"),                  { on: "announce" },                                 "announced", "announce, wait reply"],
    ["and once",                                  at("announced (setup)"),     { on: "announce" },                                 "announced", ""],
    ["MSG-6b nobody listens yet: not accepted",   at("announced (transport)"), early,                                              "pinned",    "wait nothing, pin", false],
    ["MSG-6b accepted when somebody does",        at("pinned"),                { on: "attach" },                                   "open",      "accept, opened"],
    ["there is no endpoint in a setup",           at("configuring"),           { on: "attach" },                                   "pinned",    ""],
    ["a setup ends",                              at("configuring"),           { on: "complete" },                                 "completed", ""],
    ["a connection has no setup to end",          at("open"),                  { on: "complete" },                                 "open",      ""],
    ["MSG-2c another version is not pinned",      at("announced (transport)"), innerHears({ ...REPLY, protocolVersion: "2.0" }),   "announced", "complain VERSION_MISMATCH"],
    ["MSG-2e another session after the pin",      at("configuring"),           innerHears({ ...SETUP_REPLY, ...other }),           "pinned",    "log"],
    ["MSG-2e and while open",                     at("open"),                  innerHears({ ...REPLY, ...other }),                 "open",      "log"],
    ["TMO-4 nobody replies",                      at("announced (setup)"),     { on: "deadline" },                                 "closed",    "wait nothing, fail REPLY_TIMEOUT"],
    ["a late timer",                              at("open"),                  { on: "deadline" },                                 "open",      ""],
    ["LIF-2 the opener is gone",                  at("open"),                  { on: "gone" },                                     "closed",    "wait nothing, fail PEER_CLOSED"],
    ["LIF-1 the outer page says goodbye",         at("open"),                  innerHears({ type: "MCPX_CLOSE", sessionId: SESSION }), "closed", "wait nothing, fail PEER_CLOSED"],
    ["goodbye to another session",                at("open"),                  innerHears({ type: "MCPX_CLOSE", ...other }),       "open",      ""],
    ["LIF-7 back from the browser's cache",       at("open"),                  { on: "restore" },                                  "announced", "announce, wait reply"],
    ["LIF-7 and the same session goes on",        away,                        innerHears(REPLY),                                  "open",      "wait nothing, pin, accept, opened"],
    ["LIF-7 but no other",                        away,                        innerHears({ ...REPLY, ...other }),                 "announced", "log"],
    ["SEC-18 a flood",                            at("open"),                  { on: "flooded" },                                  "closed",    "wait nothing, fail FLOODED"],
    ["close",                                     at("announced (setup)"),     { on: "close" },                                    "closed",    ""],
    ["nothing after it",                          at("closed"),                { on: "gone" },                                     "closed",    ""],
  ];
  test.each(moves)("%s", (_, [from, phase], on, to, does, attached = true) => {
    const [next, outputs] = stepInner(from, on, { phase, attached });
    expect([next.at, trace(outputs, true)]).toEqual([to, does]);
  });
});

describe("STM-3 a walk of 5,000 steps agrees with the tables", () => {
  const random = seeded(20_260_117);
  const pick = <T>(list: readonly T[]): T =>
    list[Math.floor(random() * list.length)]!;

  test("outer", () => {
    let state: OuterState = { at: "idle" };
    const seen = new Set<string>();
    for (let step = 0; step < 5_000; step++) {
      // A walk that has ended begins again.
      if (state.at === "closed" && random() < 0.3) state = { at: "idle" };
      const column = columnOf(state);
      const verb = random();
      if (verb < 0.15) {
        const on = pick(["setup", "start"] as const);
        const begins = state.at === "idle" || state.at === "done";
        const at = on === "setup" ? "loadingSetup" : "loading";
        const from: OuterState = state;
        [state] = stepOuter(state, { on }, facts);
        expect(state.at).toBe(begins ? at : from.at);
        continue;
      }
      const [name, [data, row]] = pick(Object.entries(OUTER_TABLE));
      const [to, did] = row[column] ?? [state.at, ""];
      const quiet: boolean =
        state.at === "open" &&
        step < state.quietUntil &&
        name === "SETUP_REQUIRED";
      const early = state.at === "replied" && state.required !== undefined;
      const [next, outputs] = stepOuter(state, hears(data, false, step), facts);
      expect(next.at).toBe(to);
      expect(trace(outputs)).toBe(
        quiet ? "" : early && did === "opened" ? "opened, surface" : did,
      );
      state = next;
      seen.add(`${name} ${column}`);
    }
    // Every cell but those that a walk from idle passes too seldom.
    expect(seen.size).toBeGreaterThan(55);
  });

  test("inner", () => {
    const seen = new Set<string>();
    for (const phase of ["setup", "transport"] as const) {
      let state: InnerState = { at: "boot" };
      let attached = false;
      for (let step = 0; step < 2_500; step++) {
        if (
          (state.at === "closed" || state.at === "completed") &&
          random() < 0.3
        )
          [state, attached] = [{ at: "boot" }, false];
        const verb = random();
        if (verb < 0.3) {
          const on = pick(["announce", "attach", "complete", "close"] as const);
          if (on === "attach") attached = true;
          const expected = innerVerb(state.at, on, phase);
          [state] = stepInner(state, { on }, { phase, attached });
          expect(state.at).toBe(expected);
          continue;
        }
        const [name, [data, row]] = pick(Object.entries(INNER_TABLE));
        const column =
          state.at === "announced"
            ? `announced (${phase})`
            : state.at === "pinned" && phase === "setup"
              ? "configuring"
              : state.at;
        let [to, did] = row[column] ?? [state.at, ""];
        if (to === "open" && state.at === "announced" && !attached)
          [to, did] = ["pinned", "pin"];
        const [next, outputs] = stepInner(state, innerHears(data), {
          phase,
          attached,
        });
        expect([next.at, trace(outputs)]).toEqual([to, did]);
        state = next;
        seen.add(`${name} ${column}`);
      }
    }
    expect(seen.size).toBe(
      Object.keys(INNER_TABLE).length * Object.keys(INNER_STATES).length,
    );
  });

  function columnOf({ at }: OuterState): string {
    if (at === "loadingSetup") return "loading (setup)";
    if (at === "loading" || at === "replied") return `${at} (transport)`;
    return at;
  }

  function innerVerb(at: string, on: string, phase: string): string {
    if (on === "close") return "closed";
    if (on === "announce" && at === "boot") return "announced";
    if (on === "attach" && at === "pinned" && phase === "transport")
      return "open";
    if (on === "complete" && at === "pinned" && phase === "setup")
      return "completed";
    return at;
  }
});

/** The same walk every time. */
function seeded(seed: number) {
  return () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
}
