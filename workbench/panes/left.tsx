/** Views that another page left behind, when its tab was closed or its browser went away. */
import { show } from "../card.js";
import { Button } from "../parts/button.js";
import { channel, leftHere, take } from "../state.js";

/** Offers them; whoever takes them over sees them start anew, with what their tool has answered. */
export function LeftBehind() {
  const left = leftHere.value;
  const one = left.length === 1;
  const takeOver = () => {
    if (!channel.value) return;
    take(left);
    for (const { view, title } of left) show(channel.value, view, title);
  };
  return (
    <section id="left" hidden={left.length === 0}>
      <h2>Left behind</h2>
      <p>
        {one
          ? "The page of this view is gone:"
          : "The pages of these views are gone:"}
      </p>
      <ul>
        {left.map(({ view, title }) => (
          <li key={view}>{title}</li>
        ))}
      </ul>
      <Button class="take-over" onClick={takeOver}>
        {one ? "Show it here" : "Show them here"}
      </Button>
    </section>
  );
}
