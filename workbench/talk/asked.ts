/** Questions about calls of the model and of servers, in the page's one dialog. */
import { put, withdraw } from "../questions.js";
import type { Pending } from "../talk.generated.js";
import { formOf } from "./form.js";

type Answer = (ask: Pending["ask"], choice: string, content?: unknown) => void;

/** Shows what is asked now, and takes away what is not asked any more. */
export function asked(all: Pending[], answer: Answer): void {
  const ids = new Set(all.map(({ ask }) => ask.id));
  for (const id of shown) if (!ids.has(id)) withdraw(HOST, id);
  for (const pending of all)
    if (!shown.has(pending.ask.id)) show(pending, answer);
  shown = ids;
}

function show(pending: Pending, answer: Answer): void {
  const { ask, message, url, host, form } = pending;
  const parts: HTMLElement[] = [];
  if (message) parts.push(text("blockquote", message));
  if (url !== undefined) {
    parts.push(text("p", `It leads to ${host ?? "an unknown place"}:`));
    parts.push(text("code", url));
  }
  const fields = form === undefined ? undefined : formOf(form);
  if (fields) parts.push(fields.box);
  put({
    view: HOST,
    ask,
    parts,
    check: (choice) => choice !== "accept" || (fields?.check() ?? true),
    answer(choice) {
      // Inside the click that says so, or a browser opens nothing.
      if (choice === "accept" && url !== undefined)
        open(url, "_blank", "noopener,noreferrer");
      // Asked again, it is shown again: the answer may not have been taken.
      shown = new Set([...shown].filter((id) => id !== ask.id));
      const content = choice === "accept" ? fields?.value() : undefined;
      answer(ask, choice, content);
    },
  });
}

function text(name: "p" | "code" | "blockquote", textContent: string) {
  return Object.assign(document.createElement(name), { textContent });
}

/** Whose questions these are: no view's. */
const HOST = {};
let shown: ReadonlySet<string> = new Set();
