/** The head of the page: its name, what the person must know, and the switches of the areas. */
import { folded, type Side } from "../layout.js";
import { Button } from "../parts/button.js";
import { status } from "../state.js";
import { paletteOpen } from "./palette.js";
import { Wordmark } from "./wordmark.js";

export function Header() {
  return (
    <header class="head">
      <h1>
        <Wordmark />
      </h1>
      <a class="skip" href="#views">
        Skip to the views
      </a>
      <span id="status" role="status">
        {status.value}
      </span>
      <div class="switches">
        <Button
          quiet
          icon="palette"
          aria-label="What to do (Ctrl-K)"
          title="What to do (Ctrl-K)"
          onClick={() => (paletteOpen.value = true)}
        />
        <Fold side="left" name="the servers" />
        <Fold side="right" name="what happened" />
      </div>
    </header>
  );
}

function Fold({ side, name }: { side: Side; name: string }) {
  const is = folded[side];
  const words = `${is.value ? "Show" : "Hide"} ${name}`;
  return (
    <Button
      quiet
      icon={side}
      class={`fold-${side}`}
      aria-expanded={!is.value}
      aria-controls={`area-${side}`}
      aria-label={words}
      title={words}
      onClick={() => (is.value = !is.value)}
    />
  );
}
