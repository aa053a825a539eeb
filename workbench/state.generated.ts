// Written by crates/transom-host/src/page_types.rs from the types of the host process. Do not edit.

// prettier-ignore
export type State = { version: number, servers: Array<Server>, decisions: Array<Decision>,
/** Views whose page is gone, and which another one can take over. */
left: Array<LeftView>, open?: First, };

/** A tool to open when the page is first shown. */
// prettier-ignore
export type First = { server: string, tool: string, };

/** A server as people are shown it. */
// prettier-ignore
export type Server = {
/** The name it is configured with. */
name: string,
/** How it is. */
state: Standing,
/** How it is, in words. */
words: string,
/** The tools that a model or a person may call. */
tools: Array<Tool>,
/** The tools that only its views may call, as people may read them. */
private_tools?: Array<string>,
/** What it has beside its tools: `resources` and `prompts`. */
lists: Array<string>,
/** Whether it was added while the host runs. */
added?: boolean,
/** How many more it has, which are not shown. */
more_tools?: number,
/** What people should know before they open a view. */
findings: Array<Remark>,
/** How many of its views are still to be looked at; what is found comes to the findings. */
unseen?: number,
/** Where to sign in, while the server asks for it. */
sign_in?: SignIn,
/** The last lines that it wrote to its standard error, while it is not there. */
output?: Array<string>, };

/** How a server is. */
// prettier-ignore
export type Standing = "connecting" | "sign-in" | "ready" | "gone";

/** A tool as people are shown it. */
// prettier-ignore
export type Tool = {
/** Its name as people may read it. */
label: string,
/** Whether it opens a view. */
view: boolean,
/** The name to call the tool by. The others are for people alone. */
name: string,
/** What people are shown in place of the name. */
title?: string,
/** What the tool does, in the words of its author. */
description?: string,
/** A schema that is too large is left out: the arguments are typed as JSON. */
inputSchema?: unknown, };

/** What the page needs of a tool to draw a form for its arguments. */
// prettier-ignore
export type Form = {
/** The name to call the tool by. The others are for people alone. */
name: string,
/** What people are shown in place of the name. */
title?: string,
/** What the tool does, in the words of its author. */
description?: string,
/** A schema that is too large is left out: the arguments are typed as JSON. */
inputSchema?: unknown, };

/** One thing that people should know about a server's views. */
// prettier-ignore
export type Remark = {
/** `danger`, `warning` or `note`. */
severity: "danger" | "warning" | "note",
/** What it is. */
words: string, };

/** An invitation to sign in. */
// prettier-ignore
export type SignIn = {
/** The address to open in a browser. */
url: string,
/** Who asks for the password there. */
place: string, };

/** A decision as a person is shown it. */
// prettier-ignore
export type Decision = { id: string, server: string,
/** What it is about, after "may always" or "may never". */
words: string, yes: boolean,
/** Whether it is kept after the end. */
kept: boolean, };

/** A view whose page is gone, as people are shown it. */
// prettier-ignore
export type LeftView = {
/** Its name on the socket. */
view: string,
/** What it shows. */
title: string, };

// prettier-ignore
export type Entries = { entries: Array<Entry>, };

/** One line. */
// prettier-ignore
export type Entry = {
/** Its number, from 1. */
n: number,
/** The time of day, UTC. */
at: string,
/** What kind of line. */
kind: LineKind,
/** Who it is about. */
who: string,
/** What happened. */
words: string, };

/** What kind of line, for whoever reads or filters the log. */
// prettier-ignore
export type LineKind = "allowed" | "answer" | "asked" | "audit" | "blocked" | "call" | "console" | "error" | "forgotten" | "late" | "limit" | "message" | "refused" | "remembered" | "result" | "server" | "stderr" | "text" | "view" | "warning";

/** What a server says of itself, beside what people are shown of all servers. */
// prettier-ignore
export type About = {
/** Where it is, in words that hold no secret. */
place: string,
/** The version of MCP that is spoken with it. */
protocol: string,
/** All that it said in its greeting. */
said: unknown,
/** What it can do. */
capabilities: Record<string, unknown>,
/** The last lines of its standard error. */
output: Array<string>, };

// prettier-ignore
export type Runs = { version: number,
/** Newest first; nothing, if nothing is new. */
runs?: Array<Run>, };

/** One run as people are shown it. */
// prettier-ignore
export type Run = {
/** Its number, from 1. */
n: number,
/** The view that it opened, or whose place its text took. */
view: string, server: string,
/** The tool's name, to call it by. */
tool: string,
/** The same as people may read it. */
label: string,
/** The time of day, UTC. */
at: string, how: How,
/** How long it took, in milliseconds, once it has ended. */
took?: number,
/** Why it failed, in words. */
why?: string,
/** How large its answer is, in bytes. */
bytes?: number,
/** Whether its answer is still here. */
kept: boolean,
/** Whether its arguments are. */
again: boolean, };

/** How a run stands. */
// prettier-ignore
export type How = "running" | "answered" | "failed" | "cancelled";

/** The first line of a trace. */
// prettier-ignore
export type TraceHead = {
/** The word `trace`. */
transom: string,
/** The version of the format. */
version: number,
/** What wrote it. */
program: string,
/** Which run of the host it is of. */
run: string,
/** When its clock began, in milliseconds since 1970, UTC. */
began: number, };

/** Something that happened, on one line of a trace. Which members it has depends on its kind. */
// prettier-ignore
export type Moment = {
/** Its number, from 1; one that is missing was not kept. */
n: number,
/** When, in microseconds since the timeline began. */
at: number,
/** What kind of thing. */
kind: Kind,
/** The server that it is about. */
server?: string,
/** The view that it is about. */
view?: string,
/** Of a message: who said it. */
from?: Party,
/** Of a message: who was told. */
to?: Party,
/** Of a message or a document: its size in bytes, as it was. */
size?: number,
/** Of a verdict: the id that the view gave its request, as JSON. */
id?: string,
/** The call of the view that it is about, as the gate counts them. */
call?: number,
/** Of a call that goes on to the server: its id there. */
server_id?: number,
/** Of a verdict: the method. */
method?: string,
/** Of a verdict: what the request is about. */
about?: string,
/** Of a verdict: what it is. */
outcome?: Outcome,
/** Why, or what, in words. */
words?: string,
/** Of a view that opens: its tool. */
tool?: string,
/** Of a view that opens: the address of its document. */
uri?: string,
/** Of a view that opens: the hash of its document. */
sha256?: string,
/** Of a view that opens: its policy. */
policy?: string,
/** Of a message: how many secrets were taken out of it. */
redacted?: number,
/** Of a message: that this is only its beginning. */
cut?: boolean,
/** The text of a message that is no JSON on one line, or is cut. */
text?: string,
/** A message. It stands last on its line, so that its text can be had without printing it again. */
message?: unknown, };

/** What kinds of moments there are. A later version may have others. */
// prettier-ignore
export type Kind = "message" | "verdict" | "sent" | "opened" | "ready" | "closed" | "blocked" | "dropped";

/** Who speaks on a wire. */
// prettier-ignore
export type Party = "view" | "gate" | "server";

/** What the gate says of a request. */
// prettier-ignore
export type Outcome = "allowed" | "refused" | "asked" | "withdrawn";

/** What the card of a view shows. */
// prettier-ignore
export type ViewFacts = { server: string, tool: string,
/** How it is, in a word. */
life: string, document?: DocumentFacts,
/** When its document was another one in this run of the host. */
changed?: Changed,
/** What happened at its opening: in milliseconds since it began. */
steps: Array<Step>, from_view: Count, to_view: Count,
/** Messages that were refused. */
refused: number,
/** Its last calls: when they were answered, and how long that took, in milliseconds since it began to open. */
calls: Array<[number, number]>,
/** What it was kept from, in words. */
blocked: Array<string>, limits: Array<Near>, };

/** What a card shows of a document. */
// prettier-ignore
export type DocumentFacts = {
/** Its address. */
uri: string,
/** The hash of its bytes. */
sha256: string,
/** How many bytes it has. */
size: number,
/** Whether a person is asked before other bytes run. */
pinned: boolean,
/** The origin that it runs on. */
origin: string,
/** Whether it has that origin, and what it stores there, the next time. */
stable: boolean,
/** Whether it declares anything about domains: what declares nothing gets the strictest policy. */
declares: boolean,
/** The domains that it declares, and whether it has them. */
domains: Array<Claim>,
/** The permissions that it asks for, and whether it has them. */
permissions: Array<Claim>,
/** Its policy, directive by directive. */
policy: Array<[string, string]>, };

/** One thing that a document wants. */
// prettier-ignore
export type Claim = {
/** The list that it stands in. */
list?: string,
/** What it is. */
name: string,
/** Whether it is given. */
granted: boolean,
/** Why it cannot be given, whoever agrees. */
why?: string, };

/** In what a document differs from the one that was shown before it. */
// prettier-ignore
export type Changed = {
/** In milliseconds since 1970, UTC. */
at: number,
/** What it was. */
sha256: string,
/** In words. */
what: Array<string>, };

/** Messages, and their bytes. */
// prettier-ignore
export type Count = { messages: number, bytes: number, };

/** One step of a view's opening. */
// prettier-ignore
export type Step = { name: string, at: number, };

/** A limit, and how near the view is to it. */
// prettier-ignore
export type Near = { name: string, used: number, most: number, };
