// Written by crates/transom-host/src/page_types.rs from the types of the host process. Do not edit.

import type { Ask } from "../web/src/envelope.generated.js";

/** What the page wants done. */
// prettier-ignore
export type TalkWish = { "begin": Saying } | { "say": Saying } | { "edit": Edit } | { "again": Branch } | { "stop": Named } | { "branch": Branch } | { "dismiss": Dismissed } | { "show": Showing } | { "answer": TalkAnswer } | { "remove": Named };

// prettier-ignore
export type Named = { id: string, };

// prettier-ignore
export type Saying = {
/** The conversation; nothing for a new one. */
id: string, text: string, };

// prettier-ignore
export type Edit = { id: string, node: number, text: string, };

// prettier-ignore
export type Branch = { id: string, node: number, };

// prettier-ignore
export type Dismissed = { id: string, view: string, };

// prettier-ignore
export type Showing = { id: string, call: string, };

/** What a person answered. */
// prettier-ignore
export type TalkAnswer = { ask: string, choice: string,
/** What stands in the form. */
content?: unknown, };

/** What is new. What is left out is as it was. */
// prettier-ignore
export type TalkNews = {
/** The model, in the first of all. */
model?: ShownModel, conversations?: Array<TalkSummary>, asks?: Array<Pending>, open?: TalkState,
/** The conversation that is wanted is not there, in words. */
missing?: string, };

// prettier-ignore
export type ShownModel = { name: string, place: string,
/** Whether it is a model, and not the script. */
real: boolean, };

/** A conversation in the list. */
// prettier-ignore
export type TalkSummary = { id: string, title: string,
/** Milliseconds since 1970. */
changed: number, running: boolean, };

/** The conversation that is open. */
// prettier-ignore
export type TalkState = { id: string, title: string, head: number | null, running: boolean,
/** Nodes that are new or not as they were; they take the place of those with their numbers. */
nodes: Array<TalkNode>, chips: Array<Chip>, };

/** One thing that was said. */
// prettier-ignore
export type TalkNode = { id: number, parent?: number, role: Role, text: string,
/** The view that said it in the person's place. */
from?: string,
/** What views told the model with it. */
context?: Array<Context>, calls?: Array<TalkCall>, state: NodeState,
/** Why it ended as it did, for people. */
note?: string, };

/** Who said something. */
// prettier-ignore
export type Role = "user" | "assistant";

// prettier-ignore
export type NodeState = "writing" | "calling" | "done" | "stopped" | "failed";

/** A call of a tool. */
// prettier-ignore
export type TalkCall = {
/** Its name among all calls, and in the audit. */
id: string,
/** What the endpoint calls it. */
wire: string,
/** The name that the tool was offered under. */
name: string, server: string, tool: string,
/** The view that offers the tool, where no server does. */
of?: string,
/** Whether there is a view to show. */
view: boolean, arguments: string, state: CallState,
/** What the model is told of its outcome. */
answer: string, };

// prettier-ignore
export type CallState = "writing" | "waiting" | "asked" | "running" | "done" | "failed" | "refused" | "stopped";

/** What a view told the model. */
// prettier-ignore
export type Context = { from: string, text: string, };

/** What a view has told the model for the next turn. */
// prettier-ignore
export type Chip = { view: string, from: string, text: string, };

/** A question on the page. */
// prettier-ignore
export type Pending = { ask: Ask,
/** The form that a server wants filled in, as a JSON Schema. */
form?: unknown,
/** The address that a server wants opened, and the host of it. */
url?: string, host?: string,
/** What the server says; a stranger's words, drawn as text. */
message?: string, };
