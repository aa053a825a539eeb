/**
 * Who has the keyboard.
 *
 * The script of a frame can take it with `focus()` whenever it likes: in Chromium neither `inert` nor a modal
 * dialog nor hiding the frame stops that. So the page looks who has it. A view may have it by a pointer or key
 * of the person; what its script takes is given back, and a view that takes it again is ended.
 *
 * A page hears nothing of a click inside a frame. But the browser tells a frame, and those above it, that the person did
 * something in it within the last five seconds (`userActivation`), which no script can pretend: so the page asks the view's
 * sandbox, which the view cannot touch. What the person did in a view before they turned to something else does not
 * count: for as long the view does not hear the pointer, unless it moves over it, and what it takes then its script took.
 * While the person writes into the page, a move is not enough: the sandbox must say that nothing was done in the view of late.
 */

/** Keeps the keyboard from the script of the view in this frame; `end` ends the view. */
export function guard(
  frame: HTMLElement,
  view: HTMLElement,
  end: () => void,
): Guarded {
  const it: Guarded = {
    frame,
    view,
    end,
    until: 0,
    clean: 0,
    strays: { until: 0 },
    asked: [],
    ask: async () => navigator.userActivation.isActive,
  };
  VIEWS.set(frame, it);
  return it;
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

/** Counts one more, or a part of one, of something that is forgotten at one a minute; returns how many are not. */
export function tally(it: { until: number }, more = 1): number {
  it.until = Math.max(it.until, now()) + more * MINUTE;
  return (it.until - now()) / MINUTE;
}

/** How many questions are open. */
export let holds = 0;

/** A view with a frame. */
export type Guarded = {
  frame: HTMLElement;
  view: HTMLElement;
  end: () => void;
  /** Asks the view's sandbox whether the person did something in the view of late; not all sandboxes answer. */
  ask: () => Promise<unknown>;
  /** Who waits for its answers, in their order. */
  asked: ((active: unknown) => void)[];
  /** Whether it has the keyboard until the answer tells who took it. */
  trial?: boolean;
  /** Since when what its sandbox tells is what the person did since. */
  clean: number;
  /** Its takes ({@link tally}). */
  until: number;
  /** What it wrote to the page past its sandbox. */
  strays: { until: number };
  /** Its origin, as its sandbox tells it. */
  home?: unknown;
};

/** Every view with a frame, by that; whoever takes the frame away takes it from here. */
export const VIEWS = new Map<HTMLElement, Guarded>();

function look(): void {
  for (const it of VIEWS.values())
    it.frame.style.pointerEvents = isDeaf(it) ? "none" : "";
  const it = taker();
  if (!it || (owner === it.frame && !holds)) return;
  if (owner === it.frame) {
    owner = undefined;
    it.frame.blur();
  } else if (!holds && isRecent(tabbed)) {
    own(it);
    // It may have been the Tab key before too, pressed where no page hears it.
    it.until -= MINUTE;
  } else if (isDeaf(it)) refuse(it, false);
  else if (!it.trial) void judge(it);
}

/** The view that has the keyboard. */
function taker(): Guarded | undefined {
  let hit = document.activeElement;
  // A view may stand in another element's shadow.
  for (let inner; (inner = hit?.shadowRoot?.activeElement);) hit = inner;
  return VIEWS.get(hit as HTMLElement);
}

/** Lets the view have the keyboard until its sandbox has told who took it, or had time enough for it. */
async function judge(it: Guarded): Promise<void> {
  it.trial = true;
  const active = await ask(it);
  it.trial = false;
  // The person may have turned to something else meanwhile.
  if (active === false || taker() === it)
    if (active && !isDeaf(it)) own(it);
    else refuse(it, active);
}

/** The person gave the view the keyboard: what they did in another one before counts no more. */
function own(it: Guarded): void {
  owner = it.frame;
  it.clean = acted = now();
  tabbed = NEVER;
}

/** Takes the keyboard back from a view's script, or from a view whose sandbox did not tell who took it. */
function refuse(it: Guarded, active: unknown): void {
  const busy = holds || isRecent(typed);
  // An app may well try twice to have the keyboard when it opens; while the person writes elsewhere, it must not. An app that is so
  // busy that its sandbox does not answer may have been clicked on: that counts against it only while the person writes elsewhere.
  if ((busy || active !== undefined) && tally(it) > (busy ? 1.1 : 3.1))
    it.end();
  acted = now();
  it.frame.blur();
  // From one frame to another it would go in the page's books only, in Chromium: what is typed would go on to the first.
  if (VIEWS.has(owner!)) owner = owner!.parentElement!;
  owner?.focus({ preventScroll: true });
}

async function ask(it: Guarded): Promise<unknown> {
  const at = now();
  let active = await it.ask();
  if (active === false) it.clean = at;
  // It may tell of keys that were meant for a field, or for another view, and went to this one because it took the keyboard.
  // While the person does not write elsewhere, it tells of a click: a view that is busy with one says so late.
  else if (now() - at > 200 && (isField(owner) || VIEWS.has(owner!)))
    active = undefined;
  look();
  return active;
}

const now = () => performance.now();

const isRecent = (at: number) => now() - at < 5e3;

/** Whether one can write into it. */
const isField = (it: object = {}) => "selectionStart" in it;

const isDeaf = (it: Guarded) =>
  !!holds ||
  (it.clean < acted &&
    (isRecent(acted) || (owner !== it.frame && VIEWS.has(owner!))));

/** Hears an event with what it hit, and the view whose place that is if the view itself does not hear it. */
const on = <K extends keyof WindowEventMap>(
  kind: K,
  hear: (event: WindowEventMap[K], hit: HTMLElement, it?: Guarded) => void,
) =>
  addEventListener(
    kind,
    (event) => {
      const [hit] = event.composedPath() as [HTMLElement];
      hear(event, hit, VIEWS.get(hit.firstChild as HTMLElement));
    },
    true,
  );

const MINUTE = 6e4;
const NEVER = NaN;
/** Who has the keyboard by the person's will: something on the page, or a view's frame. */
let owner: HTMLElement | undefined;
/** When the person last did something on the page, wrote into it, and left it by the Tab key; nothing is as good as never. */
let acted: number;
let typed: number;
let tabbed: number;

// No event tells that a frame took the keyboard from another, or while the person was elsewhere.
setInterval(look, 100);
// In a task of its own: what the page gives back while it is told of the loss goes nowhere in Chromium.
on("blur", () => setTimeout(look));
on("focusin", (_, hit) => {
  // A frame hears this only if the page itself gave it the keyboard.
  owner = hit;
  tabbed = NEVER;
  if (isField(hit)) typed = acted = now();
});
on("keydown", ({ key }) => {
  acted = now();
  if (key.length === 1) typed = acted;
  tabbed = key === "Tab" ? acted : NEVER;
  look();
});
on("pointerdown", ({ pointerType }, hit, it) => {
  // Whatever else it hits says so if it gets the keyboard.
  if (!owner?.contains(hit)) owner = undefined;
  typed = acted = tabbed = NEVER;
  // A view that did not hear it was meant: the next time it does.
  if (it) own(it);
  else if (pointerType === "mouse") acted = now();
  look();
});
on("pointermove", (_, __, it) => {
  if (!it || !isDeaf(it)) return;
  if (!isRecent(typed)) it.clean = now();
  else void ask(it);
  look();
});
