/** Where the person says something; what views want the model to know stands above it until it is said. */
import { useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import { chips, open, running, wish } from "../talk.js";
import type { Chip as ChipState } from "../talk.generated.js";

export function Composer() {
  const [text, setText] = useState("");
  const id = open.value;
  const busy = running.value;
  const send = async () => {
    const said = text.trim();
    if (!said || busy) return;
    const it =
      id === undefined
        ? { begin: { id: "", text: said } }
        : { say: { id, text: said } };
    // What could not be said stays where it can be said again.
    if (await wish(it)) setText("");
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {chips.value.length > 0 && (
        <ul
          class="chips"
          aria-label="What views tell the model with your next words"
        >
          {chips.value.map((chip) => (
            <Chip key={chip.view} chip={chip} />
          ))}
        </ul>
      )}
      <div class="say">
        <textarea
          aria-label="Your words"
          placeholder="Say something; Enter sends, Shift+Enter begins a line"
          value={text}
          rows={2}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing)
              return;
            event.preventDefault();
            void send();
          }}
        />
        {busy && id !== undefined ? (
          <Button icon="stop" onClick={() => void wish({ stop: { id } })}>
            Stop
          </Button>
        ) : (
          <Button primary type="submit" disabled={!text.trim()}>
            Send
          </Button>
        )}
      </div>
    </form>
  );
}

/** It can be looked at and taken away (H-94). */
function Chip({ chip }: { chip: ChipState }) {
  const id = open.value;
  return (
    <li class="chip">
      <details>
        <summary>Context of {chip.from}</summary>
        <pre tabIndex={0}>{chip.text}</pre>
      </details>
      <Button
        icon="remove"
        quiet
        aria-label={`Take away the context of ${chip.from}`}
        onClick={() =>
          id !== undefined && void wish({ dismiss: { id, view: chip.view } })
        }
      />
    </li>
  );
}
