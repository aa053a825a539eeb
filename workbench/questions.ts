/**
 * What people are asked: one question at a time, in a modal dialog above every view.
 *
 * A view can guess when and where a person clicks or presses a key next, and ask just before. So what was meant for
 * the view must not be an answer: the buttons arm when the question has stood still, whole and in sight for a moment in
 * which the person did not click or type, and again after everything that moves, covers or changes it.
 *
 * ```text
 * waiting ──still for a moment──▶ armed ──click, Enter, Space, Escape──▶ answered
 *    ▲ └──click or key: too early──┘│
 *    └────moved, covered, changed───┘
 * ```
 */
import { TransomView, type Ask } from "../web/src/host.js";
import { answersOf, CHOICES, matterOf } from "./asked.js";
import { make } from "./dom.js";

export type Question = {
  /** The view that asks; or what stands for another who does. */
  view: object;
  ask: Ask;
  /** What is shown beside what the question itself says. */
  parts?: HTMLElement[];
  /** Whether an answer can be given yet. */
  check?: (choice: string) => boolean;
  answer: (choice: string) => void;
};

/** Asks, now or when the questions before it are answered. One with the same id of the same view is replaced. */
export function put(question: Question): void {
  const at = QUEUE.findIndex((each) =>
    same(each, question.view, question.ask.id),
  );
  if (at < 0) QUEUE.push(question);
  else QUEUE[at] = question;
  draw();
}

/** A question is moot; without an id, everything that the view asks. */
export function withdraw(view: object, id?: string): void {
  for (let at = QUEUE.length; at--;)
    if (same(QUEUE[at]!, view, id)) QUEUE.splice(at, 1);
  draw();
}

const same = (question: Question, view: object, id = question.ask.id) =>
  question.view === view && question.ask.id === id;

/** Shows the first question and says how many there are; closes the dialog after the last. */
function draw(): void {
  const [first] = QUEUE;
  count.textContent = QUEUE.length > 1 ? `1 of ${QUEUE.length}` : "";
  const fresh = first !== shown;
  if (fresh) {
    shown = first;
    if (first) fill(first);
    rest();
    words("wait");
  }
  if (first && !dialog.open) {
    document.body.append(dialog);
    release = TransomView.hold();
    dialog.showModal();
    last = performance.now();
    watch();
  }
  // On no button: what the person types next may be meant for a view.
  if (fresh) dialog.focus();
  if (!first && dialog.open) {
    // Before the dialog gives the keyboard back: a view that had it may have it again.
    release();
    dialog.close();
    setTimeout(writable);
  }
}

/**
 * After the click that answered, Chromium puts its caret where the button was: a field that has the keyboard again cannot be
 * written into, so it is given the keyboard once more.
 */
function writable(): void {
  const had = document.activeElement;
  if (!(had instanceof HTMLInputElement || had instanceof HTMLTextAreaElement))
    return;
  had.blur();
  had.focus({ preventScroll: true });
}

/** Who wants what of whom, in full: the words scroll, the buttons stay in sight. */
function fill({ view, ask, parts = [] }: Question): void {
  const own = view instanceof TransomView ? view : undefined;
  dialog.dataset["view"] = own?.getAttribute("view") ?? "";
  dialog.dataset["ask"] = ask.id;
  // The host's words: a name that the page was told may read like a sentence.
  who.textContent = ask.who ?? "";
  const [text, ...rest] = matterOf(ask);
  matter.replaceChildren(text!, ...parts, ...rest);
  matter.scrollTop = 0;
  const { first, more } = answersOf(ask);
  const made = (choice: string, main: boolean) => {
    const it = button(CHOICES[choice] ?? choice, choice, () => settle(choice));
    if (main && choice.startsWith("allow")) it.classList.add("main");
    return it;
  };
  buttons.replaceChildren(
    ...(own ? [button("Close this view", "quit", () => own.close())] : []),
    ...first.map((choice, at) => made(choice, at === first.length - 1)),
  );
  further.hidden = more.length === 0;
  further.open = false;
  further.replaceChildren(
    make("summary", { textContent: "More answers" }),
    ...more.flatMap(({ words, choices }) => {
      const row = make("div", { className: "row" });
      row.append(...choices.map((choice) => made(choice, false)));
      return words ? [make("p", { textContent: words }), row] : [row];
    }),
  );
}

function button(
  textContent: string,
  className: string,
  act: () => void,
): HTMLButtonElement {
  const made = make("button", {
    textContent,
    className,
    type: "button",
    ariaDisabled: "true",
  });
  made.onclick = (event) => {
    if (event.isTrusted && armed && !wasEarly(event)) act();
    else tooEarly();
  };
  return made;
}

function settle(choice: string): void {
  const question = shown;
  if (!question?.ask.choices.includes(choice)) return;
  if (question.check?.(choice) === false) return rest();
  QUEUE.splice(QUEUE.indexOf(question), 1);
  draw();
  question.answer(choice);
}

/** Looks at the question in the next frame. */
function watch(): void {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(look);
}

/** Every frame that is drawn while a question is open. */
function look(now: number): void {
  if (!dialog.open) return;
  const seen = sight();
  if (seen === undefined || seen !== stood) rest();
  // A late frame means that the person could not see anything for that time: it does not count.
  else still += Math.min(now - last, LONGEST_FRAME);
  [stood, last] = [seen, now];
  dialog.style.setProperty("--still", String(Math.min(still / STILL, 1)));
  if (!armed && still >= STILL) {
    armed = true;
    dialog.dataset["armed"] = "";
    for (const each of all()) each.ariaDisabled = "false";
    words("ready");
  }
  if (matter.scrollHeight > matter.clientHeight) matter.tabIndex = 0;
  else matter.removeAttribute("tabindex");
  watch();
}

/** Where everything is; nothing while a part is out of sight, or a view or another page has the keyboard. */
function sight(): string | undefined {
  if (document.visibilityState !== "visible" || !document.hasFocus())
    return undefined;
  if (document.activeElement instanceof TransomView) return undefined;
  // Whatever else is in the top layer may cover the question. A click would go through it: beside a modal dialog it is inert.
  if (document.fullscreenElement || document.querySelector(":popover-open"))
    return undefined;
  if (
    [...document.querySelectorAll("transom-view")].some(
      ({ mode }) => mode !== "inline",
    )
  )
    return undefined;
  const { left, top, right, bottom } = dialog.getBoundingClientRect();
  if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight)
    return undefined;
  const places = [
    left,
    top,
    right,
    bottom,
    innerWidth,
    innerHeight,
    screenX,
    screenY,
    devicePixelRatio,
  ];
  for (const each of all()) {
    if (!each.checkVisibility()) continue;
    const { x, y, width, height } = each.getBoundingClientRect();
    if (document.elementFromPoint(x + width / 2, y + height / 2) !== each)
      return undefined;
    places.push(x, y, width, height);
  }
  return places.join();
}

/** The time in which the question must stand still begins anew. */
function rest(): void {
  still = 0;
  for (const press of PRESSES.values()) press.early = true;
  if (!armed) return;
  armed = false;
  delete dialog.dataset["armed"];
  for (const each of all()) each.ariaDisabled = "true";
  words("wait");
}

/** Tells the person that a click or key came before the buttons were armed. */
function tooEarly(): void {
  rest();
  words("early");
}

/** Whether what makes this click was pressed too early. A browser that does not say what it was may mean anything that is down. */
function wasEarly(event: MouseEvent): boolean {
  const by = event.detail ? (event as Partial<PointerEvent>).pointerId : KEY;
  if (by !== undefined) return PRESSES.get(by)?.early === true;
  return [...PRESSES.values()].some(({ early }) => early);
}

/** What was pressed is released; the click that it makes comes first. */
function released(event: PointerEvent | KeyboardEvent): void {
  const by = "pointerId" in event ? event.pointerId : KEY;
  const press = PRESSES.get(by);
  // Another key than the one that counts says nothing about it.
  if ("code" in event && event.code !== press?.code) return;
  setTimeout(() => PRESSES.get(by) === press && PRESSES.delete(by));
}

/** Whether something is done in a field of the question. */
const inField = ({ target }: Event) =>
  target instanceof HTMLElement &&
  matter.contains(target) &&
  target.closest("form") !== null;

function words(kind: keyof typeof WORDS): void {
  note.textContent = WORDS[kind];
}

function keyDown(event: KeyboardEvent): void {
  const { key, repeat, ctrlKey, metaKey, altKey } = event;
  if (
    ctrlKey ||
    metaKey ||
    altKey ||
    (key.length > 1 && key !== "Enter" && key !== "Escape")
  )
    return;
  // What is typed into a form is meant for it, and no answer may follow at once.
  if (inField(event) && key !== "Escape") return rest();
  const onButton = all().includes(event.target as HTMLButtonElement);
  // A key that is held down was pressed for whatever was there before; any other key was meant for something else.
  const answers =
    key === "Escape" || (onButton && (key === "Enter" || key === " "));
  const early = !armed || repeat || !answers;
  PRESSES.set(KEY, { early, code: event.code });
  if (early) {
    if (answers || onButton) event.preventDefault();
    tooEarly();
  } else if (key === "Escape")
    settle(shown?.ask.choices.includes("cancel") ? "cancel" : "deny");
}

/** Each is one line on a small screen: another height would move the buttons. */
const WORDS = {
  wait: "Read it first…",
  ready: "You can answer now.",
  early: "That was too early. Please answer again.",
};

/** In milliseconds. Longer than the time between two clicks of a double click, or two keys of a person who types. */
const STILL = 700;
const LONGEST_FRAME = 100;

const QUEUE: Question[] = [];
let shown: Question | undefined;
let release = () => {};
let armed = false;
/** Every pointer that is down, and the last key: pressed while the buttons were armed, or too early. */
const PRESSES = new Map<number, { early: boolean; code?: string }>();
/** The keyboard, among the pointers. */
const KEY = -1;
let frame = 0;
let still = 0;
let stood: string | undefined;
let last = 0;

const dialog = make("dialog", { className: "ask", tabIndex: -1 });
dialog.setAttribute("role", "alertdialog");
dialog.setAttribute("aria-labelledby", "question-who question-text");
// The Escape key is ours: it answers, and so it must be armed.
dialog.setAttribute("closedby", "none");
const who = make("b", { id: "question-who" });
const count = make("span", { className: "count" });
const matter = make("div", { className: "matter" });
const note = make("p", { className: "wait" });
note.setAttribute("role", "status");
const buttons = make("div", { className: "buttons" });
/** The answers that are wanted less often. To unfold them moves the others, which arm anew. */
const further = make("details", { className: "further" });
/** Every button that answers. */
const all = () => [...foot.querySelectorAll("button")];
const head = make("header", {});
const foot = make("footer", {});
head.append(who, count);
foot.append(note, buttons, further);
dialog.append(head, matter, foot);

dialog.oncancel = (event) => event.preventDefault();
dialog.onclose = () => {
  // Some browsers close a dialog at the second Escape, whatever the page says.
  if (!shown) return;
  // It was out of sight, and the watch of every frame may have stopped.
  rest();
  dialog.showModal();
  watch();
};
const whileOpen =
  <E extends Event>(hear: (event: E) => void) =>
  (event: Event) => {
    if (dialog.open) hear(event as E);
  };
for (const kind of ["pointerup", "pointercancel", "keyup"] as const)
  addEventListener(kind, released, true);
addEventListener("keydown", whileOpen(keyDown), true);
addEventListener(
  "pointerdown",
  whileOpen((event: PointerEvent) => {
    PRESSES.set(event.pointerId, { early: !armed });
    if (inField(event)) rest();
    else if (!armed) tooEarly();
  }),
  true,
);
for (const kind of ["blur", "focus", "resize"])
  addEventListener(kind, whileOpen(rest));
document.addEventListener("visibilitychange", whileOpen(rest));
for (const kind of ["resize", "scroll"])
  visualViewport?.addEventListener(kind, whileOpen(rest));
