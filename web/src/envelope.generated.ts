// Written by crates/transom-host/src/page_types.rs from the types of the host process. Do not edit.

import type { Carried } from "./envelope.js";
import type { DisplayMode, Json } from "./wire.js";

/** What a page says about a view, read. */
// prettier-ignore
export type Said = { "open": Open } | { "spare": Record<symbol, never> } | { "message": Carried } | { "dropped": Json } | { "arguments": Piece } | { "call": Call } | { "cancel": {} } | { "grant": Wanted } | { "answer": Answer } | { "did": Did } | { "resize": Container } | { "context": Facts } | { "mode": { mode: DisplayMode } } | { "close": { reason: CloseReason } };

/** A place for a view. */
// prettier-ignore
export type Open = {
/** The lanes that the page can carry beside the window. */
lanes: "port"[],
/** The display modes that it offers. */
modes: DisplayMode[],
/** The room that there is. */
container: Container,
/** What the page says of itself. */
context?: Facts,
/** The tool to call, when the view is not known yet. */
tool?: ToolCall,
/** Whether what the page was told to load ahead is there. */
spare?: boolean, };

/** The room on the page, in CSS pixels. */
// prettier-ignore
export type Container = { width?: number, height?: number, maxWidth?: number, maxHeight?: number, };

/** What a page says of itself and of the person before it; nothing of it has been checked. */
// prettier-ignore
export type Facts = {
/** `light` or `dark`. */
theme?: "light" | "dark",
/** The person's language, as BCP 47 writes it. */
locale?: string,
/** The person's time zone, by its IANA name. */
timeZone?: string,
/** Whether there is a finger to point with. */
touch?: boolean,
/** Whether there is something that can rest above an element. */
hover?: boolean,
/** The edges of the view that something else may cover. */
insets?: { top: number; right: number; bottom: number; left: number }, };

/** A tool whose view is to be opened. */
// prettier-ignore
export type ToolCall = {
/** The server, by its configured name. */
server: string,
/** The tool. */
name: string,
/** Its arguments, a JSON object. */
arguments?: Json,
/** Whether they are still being written: they come as [`Piece`]s, and the tool is called after the last. */
writing?: boolean,
/** The call of the model that the view is to show. It is made elsewhere, and by nothing that the page says. */
call?: string, };

/** The next piece of the JSON text of a tool's arguments, split off anywhere. */
// prettier-ignore
export type Piece = {
/** The piece. */
text: string,
/** Whether it is the last. */
done?: boolean, };

/** A call of a tool that a view offers. */
// prettier-ignore
export type Call = {
/** What `ToPage::Called` names. */
id: string,
/** The tool, by its name among the view's. */
name: string,
/** Its arguments, a JSON object. */
arguments?: Json, };

/** What a person wants to grant, of what they were told that it was blocked. */
// prettier-ignore
export type Wanted = {
/** By their names. */
grants: Array<string>, };

/** A person's answer. */
// prettier-ignore
export type Answer = {
/** The question. */
id: string,
/** One of its choices. */
choice: string, };

/** What came of a `Deed`. */
// prettier-ignore
export type Did = {
/** The deed. */
id: string,
/** Whether it was done; a browser lets a page do some things only after a click. */
done: boolean, };

/** Why a page ends a view. */
// prettier-ignore
export type CloseReason = "user" | "gone" | "flood" | "past-sandbox" | "not-text" | "focus";

/** What the host says about a view. */
// prettier-ignore
export type Told = { "open": Mount } | { "spare": {
/** The sandbox page. */
src: string, } } | { "message": Carried } | { "ask": Ask } | { "withdraw": {
/** The question. */
id: string, } } | { "do": Deed } | { "tools": { tools: ({ name: string } & Json)[] } } | { "called": {
/** The call. */
id: string,
/** What the tool answered, or why it did not. */
text: string,
/** Whether it went wrong. */
failed: boolean, } } | { "text": {
/** Why, in a sentence. */
why: string,
/** What the tool answered, once it has. */
text?: string, } } | { "progress": Progress } | { "settled": {
/** Why, in a sentence, where that is not said otherwise. */
text: string, } } | { "note": {
/** In a sentence. */
text: string, } } | { "quiet": {
/** In sentences. */
text: string, } } | { "banner": {
/** In sentences. */
text: string, } } | { "blocked": Obstacles } | { "resize": {
/** In CSS pixels. */
width?: number,
/** In CSS pixels. */
height?: number, } } | { "mode": { mode: DisplayMode } } | { "close": {
/** In one word. */
reason: string, } };

/** How to mount a view. */
// prettier-ignore
export type Mount = {
/** The sandbox page. */
src: string,
/** What assistive technology calls the frame. */
title: string,
/** The frame's `allow` attribute. */
allow?: string,
/** Whether to draw a border; absent, the page decides. */
border?: boolean,
/** What counts for the view on the page. */
limits: PageLimits, };

/** How much of what a page says of a view may be on its way to the gate. */
// prettier-ignore
export type PageLimits = {
/** What has been sent and is not confirmed. */
flying: number,
/** Its bytes. */
flyingBytes: number,
/** The same with what has not been sent yet; when there is more, the page gives the view up. */
waiting: number,
/** Its bytes. */
waitingBytes: number, };

/** How a call gets on. */
// prettier-ignore
export type Progress = {
/** In words, with what its server says of it. */
text: string,
/** How much is done, from 0 to 1; nothing, if its server does not say how much there is. */
part?: number, };

/** What a view was kept from. */
// prettier-ignore
export type Obstacles = {
/** Each in words. */
lines: Array<string>,
/** What of it a person can grant, by name. */
grants: Array<string>, };

/** A question for the person at the page. */
// prettier-ignore
export type Ask = {
/** What the answer names. */
id: string,
/** What kind of question. */
kind: string,
/** The question in words. */
text: string,
/** What can be answered. */
choices: Array<string>,
/** Who asks. */
server: string,
/** The same for the head of the question: the server, and the tool whose view asks. */
who: string,
/** The tools it is about. */
tools?: Array<string>,
/** The address it is about. */
url?: string,
/** The tools that a yes to all of the server's would cover, this one among them. */
all?: Array<string>,
/** What would be sent, in parts that people can read. */
parts?: Array<AskPart>,
/** The beginning of what would be sent, as it is sent. */
preview?: string,
/** The rest of it. */
folded?: Fold,
/** What has changed, in words. */
changes?: Array<string>,
/** The files it is about, without what is in them. */
contents?: Array<FileOffer>,
/** Whether the view has stopped waiting for the answer: it counts for the next time alone. */
late?: boolean, };

/** A part of what would be sent, for people to read. */
// prettier-ignore
export type AskPart = {
/** What it is called; nothing, where it is what is said. */
name?: string,
/** Its beginning. A stranger's. */
text?: string,
/** Whether that is a text, and not JSON. */
isSaid?: boolean,
/** The rest of it. */
folded?: Fold,
/** In our words, what there is beside, or in place of a text. */
words?: string, };

/** The rest of what would be sent, which is shown when the person wants to see it. */
// prettier-ignore
export type Fold = {
/** How much there is. */
words: string,
/** What it is. */
text: string,
/** How much there is even beyond that, and cannot be shown. */
beyond?: string, };

/** Something that only the page can do, and only now: nothing is done before it is told. */
// prettier-ignore
export type Deed = {
/** What the page's `Did` names. */
id: string,
/** `link` or `download`. */
kind: string,
/** The address to open. */
url?: string,
/** The files to save. */
contents?: Array<FileOffer>, };

/** A file that the page shows or saves. */
// prettier-ignore
export type FileOffer = {
/** The name to save it under. */
name: string,
/** Its MIME type. */
mimeType?: string,
/** What is in it, as text. */
text?: string,
/** What is in it, in base64. */
blob?: string, };
