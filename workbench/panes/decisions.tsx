/** What people decided for longer than once, each with a way back. */
import { useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import type { Decision } from "../state.generated.js";
import { decisions, forget } from "../state.js";

export function DecisionList() {
  return (
    <section
      id="decided"
      aria-labelledby="decided-title"
      hidden={decisions.value.length === 0}
    >
      <h2 id="decided-title">What you decided</h2>
      <ul id="decisions">
        {decisions.value.map((decision) => (
          <Line key={decision.id} decision={decision} />
        ))}
      </ul>
    </section>
  );
}

function Line({
  decision: { id, server, words, yes, kept },
}: {
  decision: Decision;
}) {
  const [gone, setGone] = useState(false);
  const text = `Views of ${server} may ${yes ? "always" : "never"} ${words}${kept ? "" : ", until Transom ends"}.`;
  const take = () => {
    setGone(true);
    // What is left is drawn when the host process says so; if it does not answer, the button can be pressed again.
    forget(id).catch(() => setGone(false));
  };
  return (
    <li class={yes ? "yes" : "no"}>
      <span>{text}</span>
      <Button disabled={gone} aria-label={`Forget: ${text}`} onClick={take}>
        Forget
      </Button>
    </li>
  );
}
