/** Reads a trace from a file: all that can be read of it, and in sentences what cannot. */
import { isObject, Rows } from "./rows.js";

/** A trace that was opened. */
export type Trace = {
  name: string;
  rows: Rows;
  /** What is wrong with it, in sentences for people. */
  troubles: string[];
};

/** Reads the text of a trace a piece at a time, so that the page goes on meanwhile. */
export async function openTrace(
  name: string,
  text: string,
  rest: () => Promise<void> = nextTurn,
): Promise<Trace> {
  const rows = new Rows();
  let from = 0;
  let since = performance.now();
  while (from < text.length) {
    const found = text.indexOf("\n", from);
    const to = found < 0 ? text.length : found;
    rows.line(text.slice(from, to));
    from = to + 1;
    if (performance.now() - since > TURN) {
      await rest();
      since = performance.now();
    }
  }
  return { name, rows, troubles: await troublesOf(rows, text) };
}

async function troublesOf(rows: Rows, text: string): Promise<string[]> {
  const troubles: string[] = [];
  const { head, end, unreadable, missed } = rows;
  if (!head)
    troubles.push(
      rows.rows.length > 0
        ? "The first line of this file does not say that it is a trace of Transom. What could be read is shown."
        : "This file is no trace of Transom: none of its lines could be read.",
    );
  else if (typeof head.version !== "number" || head.version > VERSION)
    troubles.push(
      `This trace was written by a newer version (format ${String(head.version)}; this page knows ${VERSION}). What this page knows is shown; a newer Transom shows the rest.`,
    );
  if (unreadable > 0)
    troubles.push(
      `${unreadable} ${unreadable === 1 ? "line" : "lines"} could not be read, and ${unreadable === 1 ? "is" : "are"} left out.`,
    );
  if (missed > 0)
    troubles.push(
      `${missed} ${missed === 1 ? "moment" : "moments"} between the others ${missed === 1 ? "is" : "are"} not in this file.`,
    );
  if (!head) return troubles;
  if (!end)
    troubles.push(
      "This trace has no end: it was cut off, or whoever recorded it did not get to finish.",
    );
  else if (isObject(end) && typeof end.sha256 === "string") {
    const changed = await isChanged(text, end.sha256);
    if (changed === true)
      troubles.push("This trace was changed after it was recorded.");
  }
  return troubles;
}

/** Whether the lines before the last one are others than those that were written. Unknown where the browser cannot tell. */
async function isChanged(
  text: string,
  sha256: string,
): Promise<boolean | undefined> {
  if (!crypto.subtle) return undefined;
  const end = text.lastIndexOf('{"kind":"end"');
  const bytes = new TextEncoder().encode(text.slice(0, end));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = [...hash].map((byte) => byte.toString(16).padStart(2, "0"));
  return hex.join("") !== sha256;
}

const nextTurn = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

/** The newest version of the format that this page knows. */
const VERSION = 1;
/** How long the page may be held up at a time, in milliseconds. */
const TURN = 12;
