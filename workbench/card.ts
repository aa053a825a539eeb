/** One view on the page: its place, what it says, and what it offers. */
import type {
  Deed,
  TransomView,
  TransomViewEvents,
  WebSocketChannel,
} from "../web/src/host.js";
import { element, make } from "./dom.js";
import { facts } from "./facts.js";
import { dropView, noteView, viewOfFacts } from "./facts/views.js";
import { showPane } from "./layout.js";
import { showAnswer } from "./answer.js";
import { called, offers } from "./offers.js";
import { hearBlocked } from "./blocked.js";
import { hearBanner } from "./banner.js";
import { put, withdraw } from "./questions.js";
import { hearRunning, OPENING } from "./running.js";
import { makeSpareSoon, slotFor, takeSpare, type Slot } from "./spare.js";

/** What a card is made of. */
type Card = {
  box: HTMLElement;
  heading: HTMLElement;
  id: string;
  view: TransomView;
  /** What people are told about the view. */
  note: HTMLElement;
  close: HTMLButtonElement;
};

/** Makes a place for a view; with a tool, the host process calls it and opens what it links to. */
export function show(
  channel: WebSocketChannel,
  id: string,
  title: string,
  tool?: NonNullable<TransomView["tool"]>,
  into?: HTMLElement,
): TransomView {
  // A frame that is moved loads anew: the spare one stands among the views, and stays there.
  const spare = tool && !into ? takeSpare() : undefined;
  const card = draw(spare ?? slotFor(id), title);
  const { box, view, note, close } = card;
  if (tool) view.tool = tool;
  view.facts = facts();
  hearLife(card, tool !== undefined);
  hearQuestions(card);
  hearText(card);
  hearBlocked(view);
  hearBanner(view);
  hearRunning(view, note);
  showAnswer(box, view.getAttribute("view") ?? id);
  view.addEventListener("transom-tools", ({ detail }) =>
    offers(box, view, detail.tools),
  );
  view.addEventListener("transom-called", ({ detail }) => called(box, detail));
  close.onclick = () => view.close();
  for (const told of ["transom-open", "transom-text", "transom-close"])
    view.addEventListener(told, () => makeSpareSoon(channel), { once: true });
  if (spare) view.open();
  else {
    if (into) into.append(box);
    else element("views").prepend(box);
    view.channel = channel;
  }
  return view;
}

function draw({ box, view }: Slot, title: string): Card {
  const close = make("button", { textContent: "Close", className: "close" });
  const head = make("header", {});
  const heading = make("h3", { textContent: title });
  const id = view.getAttribute("view") ?? "";
  const about = make("button", { textContent: "Information" });
  about.ariaLabel = `Information about ${title}`;
  about.onclick = () => {
    viewOfFacts.value = id;
    showPane("facts");
  };
  noteView(id, title);
  head.append(heading, about, close);
  close.ariaLabel = `Close ${title}`;
  box.className = "view";
  box.ariaLabel = title;
  const note = make("p", { className: "note", textContent: OPENING });
  note.setAttribute("role", "status");
  view.setAttribute("label", title);
  view.before(head);
  box.append(note);
  return { box, heading, id, view, note, close };
}

/** From when a view opens until it has gone. */
function hearLife(card: Card, titled: boolean) {
  const { box, heading, id, view, note, close } = card;
  view.addEventListener("transom-open", ({ detail }) => {
    note.textContent = "";
    if (!titled && detail.title) {
      box.ariaLabel = heading.textContent = detail.title;
      noteView(id, detail.title);
    }
  });
  view.addEventListener("transom-mode", () =>
    view.say({ context: facts(view.mode) }),
  );
  view.addEventListener(
    "transom-note",
    ({ detail }) => (note.textContent = detail.text),
  );
  view.addEventListener("transom-quiet", ({ detail }) => {
    const { ignored } = view;
    const strange = ` It sent ${ignored} ${ignored === 1 ? "message that is" : "messages that are"} not of MCP Apps.`;
    note.textContent = detail.text + (ignored ? strange : "");
  });
  giveHeight(view);
  view.addEventListener("transom-close", (event) => {
    const { reason } = (event as TransomViewEvents["transom-close"]).detail;
    withdraw(view);
    box.querySelectorAll(".offers").forEach((each) => each.remove());
    // No answer comes any more; why there is no view has been said.
    const answer = box.querySelector(".answer");
    if (answer?.matches("p")) answer.remove();
    if (!answer)
      note.textContent = CLOSED[reason] ?? `The view ended: ${reason}.`;
    offerRemoval(close);
    close.onclick = () => {
      box.remove();
      dropView(id);
    };
    if (reason === "teardown") close.click();
  });
}

/**
 * A view that says no size of its own gets a useful one, and not the few lines that browsers give a frame. It is given
 * some time to say one: most do, and would jump.
 */
function giveHeight(view: TransomView) {
  let timer: number | undefined;
  const stop = () => clearTimeout(timer);
  view.addEventListener("transom-open", () => {
    stop();
    view.style.removeProperty("--height");
    timer = setTimeout(
      () => view.style.setProperty("--height", "min(60vh, 480px)"),
      1500,
    );
  });
  view.addEventListener("transom-resize", ({ detail }) => {
    if (detail.height !== undefined) stop();
  });
  view.addEventListener("transom-close", stop);
}

/** What has ended is taken away, and not closed. */
function offerRemoval(close: HTMLButtonElement): void {
  close.ariaLabel = close.ariaLabel?.replace(/^Close/, "Remove") ?? null;
  close.textContent = "Remove";
}

/** What the view wants of a person, and what is done for it then. */
function hearQuestions({ view, note }: Card) {
  view.addEventListener("transom-ask", (event) => {
    event.preventDefault();
    note.textContent = "";
    const { answer, ...ask } = (event as TransomViewEvents["transom-ask"])
      .detail;
    put({ view, ask, answer });
  });
  view.addEventListener("transom-withdraw", ({ detail }) =>
    withdraw(view, detail.id),
  );
  view.addEventListener("transom-do", ({ detail }) =>
    view.say({ did: { id: detail.id, done: carryOut(detail) } }),
  );
}

/** Shows the text of a tool's answer where no view can be shown. */
function hearText({ box, view, note, close }: Card) {
  view.addEventListener("transom-text", ({ detail }) => {
    note.textContent = detail.why;
    offerRemoval(close);
    withdraw(view);
    box.querySelectorAll(".answer, .offers").forEach((each) => each.remove());
    box.append(
      detail.text === undefined
        ? make("p", {
            className: "answer",
            textContent: "Waiting for the tool's answer…",
          })
        : make("pre", {
            className: "answer",
            textContent: detail.text || "The tool's answer has no text.",
            tabIndex: 0,
          }),
    );
  });
}

/**
 * Does what the host process has judged and now orders. The click that allowed it still counts for some
 * seconds; without one the browser would quietly block a window, so that is said instead.
 */
function carryOut(deed: Deed): boolean {
  if (!navigator.userActivation.isActive) return false;
  if (deed.kind === "link" && deed.url)
    open(deed.url, "_blank", "noopener,noreferrer");
  for (const file of deed.contents ?? []) save(file);
  return true;
}

function save(file: {
  name: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}): void {
  const bytes =
    file.blob === undefined
      ? (file.text ?? "")
      : Uint8Array.from(atob(file.blob), (c) => c.charCodeAt(0));
  const href = URL.createObjectURL(
    new Blob([bytes], { type: file.mimeType ?? "application/octet-stream" }),
  );
  make("a", { href, download: file.name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

const CLOSED: Record<string, string> = {
  unknown: "The host process no longer has this view.",
  lost: "The connection to the host process was lost and the view with it, or another page took it over.",
  overrun:
    "The view was stopped: it sent more than the host process could take.",
};
