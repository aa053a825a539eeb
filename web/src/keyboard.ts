/**
 * Who has the keyboard.
 *
 * The script of a frame can take it with `focus()` whenever it likes: in Chromium neither `inert` nor a modal
 * dialog nor hiding the frame stops that. So the page looks who has it. A view may have it by a pointer or key
 * of the person; what its script takes is given back, and a view that takes it again is ended.
 *
 * A page hears nothing of a click inside a frame, but the browser tells it that the person did something within the
 * last five seconds (`userActivation`), which a script cannot pretend. That may have been a click or key on the page: so
 * for as long views do not hear the pointer, unless it moves over them, and what takes the keyboard then is a script.
 * A finger does not move before it taps: views hear it right after a tap on the page, and so may a script take it then.
 */

/** Keeps the keyboard from this view's script; `end` ends the view. */
export function guard(view: HTMLElement, end: () => void): void {
  // No event tells that a frame took the keyboard from another, or while the person was elsewhere.
  if (!VIEWS.size) timer = setInterval(look, 100);
  VIEWS.set(view, { end, takes: 0, at: 0 });
}

/** The view has no frame any more. */
export function unguard(view: HTMLElement): void {
  if (owner === view) owner = undefined;
  if (VIEWS.delete(view) && !VIEWS.size) clearInterval(timer);
}

/** A question opens: no view gets the keyboard or the pointer until what this returns is called. */
export function hold(): () => void {
  const before = owner;
  holds++;
  // Not at once: a dialog that opens now remembers who had the keyboard, and gives it back at its end.
  setTimeout(look);
  return () => {
    holds--;
    // The view that had the keyboard when the question came has it again, and does not take it.
    if (VIEWS.has(before!)) owner = before;
    look();
  };
}

/** How many questions are open. */
export let holds = 0;

/** Every view with a frame, and how often its script took the keyboard of late. */
export const VIEWS = new Map<
  HTMLElement,
  { end: () => void; takes: number; at: number }
>();

/** A sheet for the frames: empty, or they do not hear the pointer. */
export const DEAF = new CSSStyleSheet();

function look(): void {
  const now = performance.now();
  const busy = holds > 0 || now - typed < 5 * SECOND;
  if (deaf !== (busy || now - acted < 5 * SECOND)) {
    deaf = !deaf;
    DEAF.replaceSync(deaf ? "iframe{pointer-events:none}" : "");
  }
  let view = document.activeElement as HTMLElement;
  // A view may stand in another element's shadow.
  for (let inner; !VIEWS.has(view) && (inner = within(view));) view = inner;
  // Its close button is the page's, and stands beside the frame.
  const taker = within(view)?.localName === "iframe" && VIEWS.get(view);
  const byRight = view === owner;
  if (!taker || (byRight && !holds)) return;

  const byScript = deaf || !navigator.userActivation.isActive;
  if (!holds && (now - tabbed < 5 * SECOND || !byScript)) {
    owner = view;
    return;
  }
  if (byRight) owner = undefined;
  else {
    if (now - taker.at > 10 * SECOND) taker.takes = 0;
    taker.at = now;
    // An app may well try twice to have the keyboard when it opens; while somebody writes, it must not.
    if (++taker.takes > (busy ? 1 : 3)) taker.end();
  }
  within(view)?.blur();
  owner?.focus({ preventScroll: true });
}

const within = (element: HTMLElement | null) =>
  element?.shadowRoot?.activeElement as HTMLElement | undefined;

const viewAt = (event: Event) =>
  (event.composedPath() as HTMLElement[]).find((each) => VIEWS.has(each));

const on = <K extends keyof WindowEventMap>(
  kind: K,
  hear: (event: WindowEventMap[K]) => void,
) => addEventListener(kind, hear, true);

const SECOND = 1e3;
const NEVER = -1e5;
let timer: ReturnType<typeof setInterval>;
/** Who has the keyboard by the person's will: something on the page, or a view. */
let owner: HTMLElement | undefined;
let deaf = false;
/** When somebody last clicked or pressed a key on the page, wrote into it, and left it by the Tab key. */
let acted = NEVER;
let typed = NEVER;
let tabbed = NEVER;

// In a task of its own: what the page gives back while it is told of the loss goes nowhere in Chromium.
on("blur", () => setTimeout(look));
on("focusin", (event) => {
  const [hit] = event.composedPath() as [HTMLElement];
  // A frame hears this only if the page itself gave it the keyboard.
  owner = hit.localName === "iframe" ? viewAt(event) : hit;
  tabbed = NEVER;
  if ("selectionStart" in hit) typed = performance.now();
});
on("keydown", ({ key }) => {
  acted = performance.now();
  tabbed = key === "Tab" ? acted : NEVER;
  if (key.length === 1) typed = acted;
  look();
});
on("pointerdown", (event) => {
  // Whatever else it hits says so if it gets the keyboard.
  if (!event.composedPath().includes(owner!)) owner = undefined;
  typed = acted = tabbed = NEVER;
  // It may be a view that did not hear it: the next time it does.
  if (event.pointerType === "mouse" && !viewAt(event))
    acted = performance.now();
  look();
});
on("pointermove", (event) => {
  if (!deaf || !viewAt(event)) return;
  typed = acted = NEVER;
  look();
});
