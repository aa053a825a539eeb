/** The timeline of this run, as the page has it: asked for in batches while somebody looks. */
import { signal } from "@preact/signals";
import { request } from "../api.js";
import { pause } from "../dom.js";
import { Rows } from "./rows.js";

export const live = { rows: new Rows() };
/** How often more has come. */
export const grown = signal(0);
/** What keeps it from going on, in a sentence. */
export const trouble = signal("");
/** Whether the person has stopped it: what happens meanwhile is shown when it goes on. */
export const paused = signal(false);

/** Begins to look; it goes on as long as the page is there. */
export function watch(): void {
  if (watching) return;
  watching = true;
  void follow();
}

/** Forgets what was shown; what comes is shown. */
export function clear(): void {
  after = Math.max(after, live.rows.last);
  live.rows = new Rows();
  grown.value += 1;
}

async function follow(): Promise<void> {
  for (;;) {
    try {
      const response = await request(`/api/timeline?after=${after}`);
      const text = await response.text();
      // Whether it was asked for before or after the person stopped it.
      while (paused.value) await pause(BETWEEN);
      take(text);
      trouble.value = "";
      // Every message of every view passes through this page: drawing each as it comes would make them wait.
      await pause(BETWEEN);
    } catch {
      trouble.value = "The host process is not answering. Trying again…";
      await pause(2000);
    }
  }
}

function take(text: string): void {
  const lines = text.split("\n");
  const head = lines[0] ?? "";
  if (run !== "" && run !== head) {
    // Another run of the host process counts from the beginning.
    after = 0;
    live.rows = new Rows();
    run = head;
    grown.value += 1;
    return;
  }
  run = head;
  for (const line of lines) live.rows.line(line);
  if (live.rows.last > after) {
    after = live.rows.last;
    if (live.rows.rows.length > MOST) forgetOldest();
    grown.value += 1;
  }
}

/** As many as the host process keeps, and some more: what is dropped is dropped many at a time. */
function forgetOldest(): void {
  live.rows.rows.splice(0, live.rows.rows.length - KEPT);
  forgotten.value += 1;
}

/** How often the oldest rows were dropped: what was found among them has to be found anew. */
export const forgotten = signal(0);

let watching = false;
let after = 0;
let run = "";

const BETWEEN = 250;
const KEPT = 100_000;
const MOST = 120_000;
