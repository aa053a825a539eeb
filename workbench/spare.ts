/**
 * The slot of the next view, loaded ahead: its sandbox and its porch, in a process of their own. Starting that is most of
 * what opening a view takes. There is one on the page, it is used once, and the next is made when the view that got it is shown.
 */
import type { TransomView, WebSocketChannel } from "../web/src/host.js";
import { element, make } from "./dom.js";

/** A view's element, in the box where it will stay: a frame that is moved loads anew. */
export type Slot = { box: HTMLElement; view: TransomView };

/** An empty slot, for a view of this name. */
export function slotFor(id: string): Slot {
  const box = make("article", {});
  const view = document.createElement("transom-view") as TransomView;
  view.setAttribute("view", id);
  box.append(view);
  return { box, view };
}

/** The slot that was loaded ahead, if there is one; it is the caller's now. */
export function takeSpare(): Slot | undefined {
  const slot = spare;
  spare = undefined;
  if (slot) slot.box.className = "";
  return slot;
}

/** Makes the next one, when the page has had some time for what is being shown. */
export function makeSpareSoon(channel: WebSocketChannel): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (!spare) spare = makeSpare(channel);
  }, PAUSE);
}

function makeSpare(channel: WebSocketChannel): Slot {
  const slot = slotFor(crypto.randomUUID());
  const { box, view } = slot;
  box.className = "spare";
  view.spare = true;
  view.addEventListener("transom-close", () => {
    if (spare !== slot) return;
    // The host process has no room for it, or is gone: the next view opens without.
    spare = undefined;
    box.remove();
  });
  element("views").prepend(box);
  view.channel = channel;
  return slot;
}

let spare: Slot | undefined;
let timer: number | undefined;

/** In milliseconds. */
const PAUSE = 500;
