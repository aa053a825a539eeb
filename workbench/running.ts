/** How the call of a view's tool gets on, and the way to take it back. */
import type { TransomView } from "../web/src/host.js";
import { make } from "./dom.js";

/** Shows on a view's card that its tool runs, from when that takes a while until it has answered. */
export function hearRunning(view: TransomView, note: HTMLElement): void {
  const box = make("section", { className: "running", hidden: true });
  box.ariaLabel = "The tool is running";
  const text = make("p", {});
  const bar = make("progress", { max: 1 });
  bar.ariaLabel = "How much is done";
  const cancel = make("button", { textContent: "Cancel", className: "cancel" });
  cancel.title = "Tells the server that its answer is not wanted any more.";
  box.append(text, bar, cancel);
  view.before(box);
  cancel.onclick = () => {
    cancel.disabled = true;
    view.say({ cancel: {} });
  };
  view.addEventListener("transom-progress", ({ detail }) => {
    text.textContent = detail.text;
    if (detail.part === undefined) bar.removeAttribute("value");
    else bar.value = detail.part;
    if (box.hidden) cancel.disabled = false;
    box.hidden = false;
    // It says more than that the view is on its way.
    if (note.textContent === OPENING) note.textContent = "";
  });
  // It could not be cancelled, and can be tried again.
  view.addEventListener("transom-note", () => (cancel.disabled = false));
  const hide = () => (box.hidden = true);
  view.addEventListener("transom-settled", ({ detail }) => {
    hide();
    if (detail.text) note.textContent = detail.text;
  });
  view.addEventListener("transom-close", hide);
}

export const OPENING = "Opening…";
