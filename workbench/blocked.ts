/** What a view was kept from, and the way to grant it. */
import type { TransomView } from "../web/src/host.js";
import { make } from "./dom.js";

/** Shows on a view's card what its policy keeps it from; a document that is loaded anew begins without. */
export function hearBlocked(view: TransomView): void {
  const box = make("section", { className: "blocked", hidden: true });
  box.ariaLabel = "Blocked";
  view.after(box);
  view.addEventListener("transom-blocked", ({ detail: { lines, grants } }) => {
    const list = make("ul", {});
    list.append(...lines.map((textContent) => make("li", { textContent })));
    box.replaceChildren(make("p", { textContent: KEPT_FROM }), list);
    if (grants.length) {
      const button = make("button", {
        textContent: "Allow it…",
        className: "grant",
        title: "Asks you first, and then loads the view anew.",
      });
      button.onclick = () => view.say({ grant: { grants } });
      box.append(button);
    }
    box.hidden = false;
  });
  view.addEventListener("transom-open", () => {
    box.hidden = true;
    box.replaceChildren();
  });
  // What it was kept from may be why it ended; but there is nothing left to grant it to.
  view.addEventListener("transom-close", () =>
    box.querySelector("button")?.remove(),
  );
}

const KEPT_FROM = "The policy for this view keeps it from what it wants to:";
