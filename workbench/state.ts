/**
 * The one state of the page, as the host process tells it. Components read these signals and never each other; what the
 * person does goes to the host process, and comes back from there.
 */
import { batch, computed, signal } from "@preact/signals";
import type { WebSocketChannel } from "../web/src/host.js";
import { get, post } from "./api.js";
import { pause } from "./dom.js";
import type {
  Decision,
  Entries,
  Entry,
  LeftView,
  Server,
  State,
} from "./state.generated.js";

export const servers = signal<Server[]>([]);
export const decisions = signal<Decision[]>([]);
export const left = signal<LeftView[]>([]);
/** Whether the host process has said anything yet. */
export const known = signal(false);
/** What the person must know before all else, such as that the host process is gone. */
export const status = signal("");
/** The socket of the page's views, once the page has a key. */
export const channel = signal<WebSocketChannel | undefined>(undefined);
/** What happened, newest first. */
export const lines = signal<Entry[]>([]);

/** Views that the person has taken over are not offered again while the host process has not said so. */
const taken = signal<ReadonlySet<string>>(new Set());
export const leftHere = computed(() =>
  left.value.filter(({ view }) => !taken.value.has(view)),
);
export function take(views: LeftView[]): void {
  taken.value = new Set([...taken.value, ...views.map(({ view }) => view)]);
}

/** Keeps the state as the host process has it; `changed` is told of each, and is waited for. */
export async function followState(
  changed: (state: State) => Promise<void>,
): Promise<void> {
  let version = -1;
  for (;;) {
    try {
      const state = await get<State>(`/api/state?after=${version}`);
      version = state.version;
      batch(() => {
        servers.value = state.servers;
        decisions.value = state.decisions;
        left.value = state.left;
        // What was taken over is off the list; if its page is gone too, it is offered again.
        const there = new Set(state.left.map(({ view }) => view));
        taken.value = new Set([...taken.value].filter((it) => there.has(it)));
        known.value = true;
      });
      await changed(state);
    } catch {
      await pause(2000);
    }
  }
}

/** Keeps the lines of the log. */
export async function followLog(): Promise<void> {
  let next = 0;
  for (;;) {
    try {
      const { entries } = await get<Entries>(`/api/log?after=${next}`);
      // Every message of every view passes through this page: drawing a line for each as it comes would make them wait,
      // and the first line of a view is written when its frames are about to be loaded.
      await pause(LOG_PAUSE);
      next = entries.at(-1)?.n ?? next;
      const fresh = entries.slice(-LOG_LINES).reverse();
      lines.value = [...fresh, ...lines.value].slice(0, LOG_LINES);
    } catch {
      await pause(2000);
    }
  }
}

/** The person takes a decision back. */
export const forget = (id: string) => post("/api/forget", { id });

const LOG_PAUSE = 200;
/** As many as are drawn in a few milliseconds: every view on the page waits for that. */
const LOG_LINES = 200;
