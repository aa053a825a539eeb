/**
 * Conversations, as the host process tells them. The page has one stream for the list, the questions and the conversation that
 * is open; what the person does goes to the host process and comes back from there.
 */
import { batch, computed, signal } from "@preact/signals";
import { ApiError, post, request } from "./api.js";
import { pause } from "./dom.js";
import { asked } from "./talk/asked.js";
import type {
  Chip,
  Pending,
  ShownModel,
  TalkNews,
  TalkNode,
  TalkSummary,
  TalkWish,
} from "./talk.generated.js";

export const model = signal<ShownModel | undefined>(undefined);
export const conversations = signal<TalkSummary[]>([]);
/** The conversation that is open, by its id; nothing for one that is not begun. */
export const open = signal<string | undefined>(undefined);
export const nodes = signal<ReadonlyMap<number, TalkNode>>(new Map());
export const head = signal<number | null>(null);
export const chips = signal<Chip[]>([]);
export const running = signal(false);
/** What was there before the page looked: its views are shown again when the person wants it. */
export const older = signal<ReadonlySet<number>>(new Set());
/** Why something that the person wanted was not done. */
export const trouble = signal("");

/** The branch that is shown, from its first word. */
export const branch = computed(() => {
  const path: TalkNode[] = [];
  let at = head.value;
  while (at !== null && path.length <= nodes.value.size) {
    const node = nodes.value.get(at);
    if (!node) break;
    path.unshift(node);
    at = node.parent ?? null;
  }
  return path;
});

/** What else was said in a node's place, in the order in which it was. */
export const siblings = ({ parent, role }: TalkNode): TalkNode[] =>
  [...nodes.value.values()]
    .filter((node) => node.parent === parent && node.role === role)
    .sort((a, b) => a.id - b.id);

/** Shows another conversation, or an empty place for a new one. */
export function openTalk(id: string | undefined): void {
  if (id === open.value) return;
  batch(() => {
    open.value = id;
    nodes.value = new Map();
    head.value = null;
    chips.value = [];
    running.value = false;
    older.value = new Set();
    trouble.value = "";
  });
  again.abort();
}

/** Has the host process do something; whether it did. */
export async function wish(it: TalkWish): Promise<boolean> {
  trouble.value = "";
  try {
    const made = await post<{ id: string } | undefined>("/api/talk", it);
    if (made) {
      begun = made.id;
      openTalk(made.id);
    }
    return true;
  } catch (error) {
    trouble.value =
      error instanceof ApiError ? error.message : "Something went wrong.";
    return false;
  }
}

/** Keeps all of it as the host process has it. */
export async function followTalk(): Promise<void> {
  for (;;) {
    again = new AbortController();
    const { signal } = again;
    const of = open.value;
    try {
      const query = of === undefined ? "" : `?open=${of}`;
      const response = await request(`/api/talk/news${query}`, { signal });
      for await (const line of linesOf(response))
        if (!signal.aborted) take(JSON.parse(line) as TalkNews, of);
    } catch {
      if (!signal.aborted) await pause(2000);
    }
  }
}

function take(news: TalkNews, of: string | undefined): void {
  batch(() => {
    if (news.model) model.value = news.model;
    if (news.conversations) conversations.value = news.conversations;
    if (news.missing !== undefined) trouble.value = news.missing;
    const { open: state } = news;
    if (!state || state.id !== of || of !== open.value) return;
    const first = nodes.value.size === 0 && state.id !== begun;
    if (first && !state.running)
      older.value = new Set(state.nodes.map(({ id }) => id));
    const all = new Map(nodes.value);
    for (const node of state.nodes) all.set(node.id, node);
    nodes.value = all;
    head.value = state.head;
    chips.value = state.chips;
    running.value = state.running;
  });
  if (news.asks) asked(news.asks, answer);
}

const answer = (ask: Pending["ask"], choice: string, content?: unknown) =>
  void wish({
    answer: { ask: ask.id, choice, ...(content !== undefined && { content }) },
  });

/** The lines of an answer that goes on, as they come. */
async function* linesOf(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part) yield part;
  }
}

let again = new AbortController();
/** The conversation that was begun on this page. */
let begun: string | undefined;
