/** Everything that is known of one view: its document, its policy, its counts, and how near it is to its limits. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { get } from "../api.js";
import { Charts } from "../facts/charts.js";
import { DocumentPart } from "../facts/document.js";
import { Empty } from "../parts/empty.js";
import { shownViews, viewOfFacts } from "../facts/views.js";
import type { ViewFacts } from "../state.generated.js";
import { bytesOf } from "../timeline/units.js";

const facts = signal<ViewFacts | undefined>(undefined);

export function FactsPane() {
  const views = shownViews.value;
  const chosen = views.find(({ id }) => id === viewOfFacts.value) ?? views[0];
  const failed = useFacts(chosen?.id);
  if (!chosen)
    return (
      <Empty icon="info" title="No view is open">
        Run a tool that has a view: its document, its policy, and what it uses
        are shown here.
      </Empty>
    );
  const known = facts.value;
  return (
    <section class="facts" aria-label="Information about a view">
      <label class="which">
        <span>View</span>
        <select
          value={chosen.id}
          onChange={({ currentTarget }) =>
            (viewOfFacts.value = currentTarget.value)
          }
        >
          {views.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {failed && <p role="status">{failed}</p>}
      {known && <Known facts={known} />}
    </section>
  );
}

function Known({ facts }: { facts: ViewFacts }) {
  const { server, tool, life, document, changed, blocked } = facts;
  return (
    <>
      <dl>
        <dt>Server</dt>
        <dd>{server}</dd>
        <dt>Tool</dt>
        <dd>{tool}</dd>
        <dt>State</dt>
        <dd>{LIVES[life] ?? life}</dd>
        <dt>From the view</dt>
        <dd>
          {facts.from_view.messages} messages, {bytesOf(facts.from_view.bytes)}
          {facts.refused > 0 && `, ${facts.refused} refused`}
        </dd>
        <dt>To the view</dt>
        <dd>
          {facts.to_view.messages} messages, {bytesOf(facts.to_view.bytes)}
        </dd>
      </dl>
      <Charts facts={facts} />
      <h3>Limits</h3>
      <ul class="limits">
        {facts.limits.map(({ name, used, most }) => (
          <li key={name}>
            <span>{name}</span>
            <span>{`${amount(name, used)} of ${amount(name, most)}`}</span>
            <meter
              min={0}
              max={most}
              high={most * 0.8}
              value={Math.min(used, most)}
              aria-label={name}
            />
          </li>
        ))}
      </ul>
      <h3>Kept from</h3>
      {blocked.length === 0 ? (
        <p>Nothing so far.</p>
      ) : (
        <ul class="blocked-lines">
          {blocked.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {document && <DocumentPart document={document} changed={changed} />}
    </>
  );
}

/** Asks for the facts of a view again and again, while somebody looks; what went wrong, in a sentence. */
function useFacts(view: string | undefined): string {
  const [failed, setFailed] = useState("");
  useEffect(() => {
    facts.value = undefined;
    if (view === undefined) return;
    const gone = new AbortController();
    let timer: number | undefined;
    const ask = async () => {
      try {
        const path = `/api/view/${encodeURIComponent(view)}`;
        facts.value = await get<ViewFacts>(path, gone.signal);
        setFailed("");
      } catch {
        if (gone.signal.aborted) return;
        setFailed("The host process knows nothing of this view any more.");
      }
      timer = setTimeout(() => void ask(), document.hidden ? 5000 : 1000);
    };
    void ask();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [view]);
  return failed;
}

const amount = (name: string, value: number) =>
  name.startsWith("bytes") ? bytesOf(Math.round(value)) : String(value);

const LIVES: Record<string, string> = {
  opening: "its document is being read",
  waiting: "waits for you to agree",
  live: "runs",
  text: "shown as text",
  ended: "has ended",
};
