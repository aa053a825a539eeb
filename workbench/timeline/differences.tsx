/** Two traces compared: what is said in both but differs, and what is said in one alone. */
import { useMemo, useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import { Empty } from "../parts/empty.js";
import { VirtualList } from "../parts/list.js";
import { compare, type Pairing } from "./compare.js";
import { wayOf } from "./line.js";
import type { Trace } from "./open.js";
import type { Rows } from "./rows.js";

export function Differences({
  one,
  other,
  name,
  close,
}: {
  one: Rows;
  other: Trace;
  name: string;
  close: () => void;
}) {
  const { same, pairings } = useMemo(
    () => compare(one, other.rows),
    [one, other],
  );
  const [chosen, choose] = useState<Pairing | undefined>();
  return (
    <div class="differences">
      <p role="status">
        <b>{name}</b> beside <b>{other.name}</b>: {same} the same,{" "}
        {countOf(pairings, "changed")} that differ,{" "}
        {countOf(pairings, "missing")} only in the first,{" "}
        {countOf(pairings, "added")} only in the second.{" "}
        <Button quiet onClick={close}>
          End the comparison
        </Button>
      </p>
      {other.troubles.map((each) => (
        <p key={each} class="warning">
          {each}
        </p>
      ))}
      {pairings.length === 0 ? (
        <Empty icon="check" title="They say the same">
          Every message of one is in the other. Ids, times and the names of
          views are not compared.
        </Empty>
      ) : (
        <div class="timeline-body">
          <VirtualList
            class="timeline-list"
            items={pairings}
            keyOf={(_, at) => at}
            height={26}
            label="Differences"
            draw={(pairing) => (
              <Line
                pairing={pairing}
                chosen={pairing === chosen}
                choose={() => choose(pairing)}
              />
            )}
          />
          {chosen && <Both pairing={chosen} close={() => choose(undefined)} />}
        </div>
      )}
    </div>
  );
}

function Line({
  pairing,
  chosen,
  choose,
}: {
  pairing: Pairing;
  chosen: boolean;
  choose: () => void;
}) {
  return (
    <button
      type="button"
      class={`difference ${pairing.kind}`}
      aria-pressed={chosen}
      onClick={choose}
    >
      <span class="kind">{WORDS[pairing.kind]}</span>
      <span class="wire">{wayOf((pairing.one ?? pairing.other)!)}</span>
      <span class="method">{(pairing.one ?? pairing.other)!.method}</span>
      <span class="paths">
        {pairing.what.map(({ path }) => path).join(", ")}
      </span>
    </button>
  );
}

function Both({
  pairing: { kind, what, one, other },
  close,
}: {
  pairing: Pairing;
  close: () => void;
}) {
  const only = one ?? other;
  return (
    <aside class="moment-details" aria-label="The chosen difference">
      <header>
        <h3>{only?.method}</h3>
        <Button quiet icon="close" aria-label="Close" onClick={close} />
      </header>
      {kind !== "changed" ? (
        <pre>{shown(only?.moment.message ?? only?.moment)}</pre>
      ) : (
        <table>
          <thead>
            <tr>
              <th>Where</th>
              <th>First</th>
              <th>Second</th>
            </tr>
          </thead>
          <tbody>
            {what.map(({ path, one, other }) => (
              <tr key={path}>
                <th scope="row">{path}</th>
                <td>{shown(one)}</td>
                <td>{shown(other)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </aside>
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "(not there)";
  const text = JSON.stringify(value, null, 1);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const countOf = (pairings: Pairing[], kind: Pairing["kind"]) =>
  pairings.filter((each) => each.kind === kind).length;

const WORDS = {
  changed: "differs",
  missing: "only in the first",
  added: "only in the second",
};
const LONGEST = 4_000;
