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
