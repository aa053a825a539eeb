/** What a question shows and what can be answered: the page's words for what the host process asks. */
import type { AskPart, Fold } from "../web/src/envelope.js";
import type { Ask } from "../web/src/host.js";
import { make } from "./dom.js";

/** What is asked, in full: for people to read first, and then as it is sent. */
export function matterOf(ask: Ask): HTMLElement[] {
  const shown: HTMLElement[] = [
    make("h2", { id: "question-text", textContent: ask.text }),
  ];
  const items = (texts?: string[]) => {
    if (texts) shown.push(list(texts));
  };
  if (ask.url !== undefined) shown.push(make("code", { textContent: ask.url }));
  if (ask.parts) shown.push(partsOf(ask.parts));
  const sent = ask.preview === undefined ? [] : sentAs(ask);
  if (ask.parts) {
    const exactly = make("details", { className: "sent" });
    exactly.append(make("summary", { textContent: "As it is sent" }), ...sent);
    shown.push(exactly);
  } else shown.push(...sent);
  items(ask.changes);
  items(ask.contents?.map(({ name }) => name));
  if (ask.late)
    shown.push(
      make("p", {
        className: "late",
        textContent:
          "The view has stopped waiting. What you decide counts for the next time.",
      }),
    );
  return shown;
}

/** Which answers stand in sight, and which are folded, in rows with what is to be known of them. */
export function answersOf(ask: Ask): {
  first: string[];
  more: { words?: string; choices: string[] }[];
} {
  const { choices } = ask;
  const of = (...wanted: string[]) =>
    wanted.filter((choice) => choices.includes(choice));
  // The first one that the Tab key comes to says no, and the last one allows least.
  if (choices.length <= 3)
    return {
      first: [...choices].sort((a, b) => rank(a) - rank(b)),
      more: [],
    };
  const least = choices.find((choice) => choice.startsWith("allow")) ?? "";
  const rows: { words?: string; choices: string[] }[] = [
    {
      choices: of("allow-view", "allow-until-end", "allow-always").filter(
        (choice) => choice !== least,
      ),
    },
    { choices: of("deny-until-end", "deny-always") },
  ];
  const everything = of("allow-all-until-end", "allow-all-always");
  if (ask.all && everything.length > 0)
    rows.push({
      words: `All ${ask.all.length} tools of this server that you would be asked about, but for those that say they destroy something: ${ask.all.join(", ")}`,
      choices: everything,
    });
  return {
    first: ["deny", least],
    more: rows.filter((row) => row.choices.length > 0),
  };
}

function partsOf(parts: AskPart[]): HTMLElement {
  const box = make("dl", { className: "parts" });
  for (const { name, text, isSaid, folded, words } of parts) {
    if (name !== undefined) box.append(make("dt", { textContent: name }));
    const body = make("dd", {});
    if (text !== undefined)
      body.append(
        make("pre", { textContent: text, className: isSaid ? "said" : "" }),
      );
    if (folded) body.append(unfolding(folded));
    if (words !== undefined)
      body.append(make("p", { className: "beside", textContent: words }));
    box.append(body);
  }
  return box;
}

function sentAs({ preview = "", folded }: Ask): HTMLElement[] {
  const text = make("pre", { textContent: preview });
  return folded ? [text, unfolding(folded)] : [text];
}

/** The rest of what would be sent: how much it is, and all of it for the person who wants to see it. */
function unfolding({ words, text, beyond }: Fold): HTMLElement {
  const rest = make("details", {});
  rest.append(
    make("summary", { textContent: words }),
    make("pre", { textContent: text }),
  );
  if (beyond) rest.append(make("p", { textContent: beyond }));
  return rest;
}

function list(items: string[]): HTMLElement {
  const box = make("ul", {});
  box.append(...items.map((textContent) => make("li", { textContent })));
  return box;
}

/** A no comes first, then what allows most; what allows least comes last. */
const rank = (choice: string) =>
  choice.startsWith("deny") || choice === "decline" || choice === "cancel"
    ? 0
    : 2 +
      ["allow-until-end", "allow-always", "allow", "accept"].indexOf(choice);

/** The same words for the same answer in every question. */
export const CHOICES: Record<string, string> = {
  allow: "Allow once",
  "allow-conversation": "Allow in this conversation",
  accept: "Send",
  decline: "Decline",
  cancel: "Cancel",
  "allow-view": "Allow for this view",
  "allow-until-end": "Allow while Transom runs",
  "allow-always": "Always allow",
  "allow-changing": "Always allow, whatever its content",
  "allow-all-until-end": "Allow all while Transom runs",
  "allow-all-always": "Always allow all",
  deny: "Deny",
  "deny-until-end": "Deny while Transom runs",
  "deny-always": "Never allow",
};
