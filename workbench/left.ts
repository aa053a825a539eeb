/** Views that another page left behind, when its tab was closed or its browser went away. */
import type { WebSocketChannel } from "../web/src/host.js";
import { show } from "./card.js";
import { element, make } from "./dom.js";
import type { LeftView } from "./state.generated.js";

/** Offers them; whoever takes them over sees them start anew, with what their tool has answered. */
export function drawLeft(left: LeftView[], channel: WebSocketChannel): void {
  const box = element("left");
  const list = make("ul", {});
  list.append(...left.map(({ title }) => make("li", { textContent: title })));
  const button = make("button", {
    textContent: left.length === 1 ? "Show it here" : "Show them here",
    className: "take-over",
  });
  button.onclick = () => {
    box.hidden = true;
    for (const { view, title } of left) show(channel, view, title);
  };
  box.replaceChildren(
    make("h2", { textContent: "Left behind" }),
    make("p", {
      textContent:
        left.length === 1
          ? "The page of this view is gone:"
          : "The pages of these views are gone:",
    }),
    list,
    button,
  );
  box.hidden = left.length === 0;
}
