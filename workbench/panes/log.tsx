/** What happened, line by line, newest first. */
import { Empty } from "../parts/empty.js";
import type { Entry } from "../state.generated.js";
import { lines } from "../state.js";

export function LogPane() {
  return (
    <section class="log-pane" aria-labelledby="log-title">
      <h2 id="log-title">What happened</h2>
      {lines.value.length === 0 && (
        <Empty>
          What views do and are refused is written here as it happens.
        </Empty>
      )}
      <div role="log" aria-live="off" aria-labelledby="log-title" tabIndex={0}>
        <ol id="log" reversed>
          {lines.value.map((entry) => (
            <Line key={entry.n} entry={entry} />
          ))}
        </ol>
      </div>
    </section>
  );
}

function Line({ entry: { kind, at, who, words } }: { entry: Entry }) {
  return (
    <li class={`line-${kind}`}>
      <time>{at}</time>
      <b>{who}</b>
      <span>{words}</span>
    </li>
  );
}
