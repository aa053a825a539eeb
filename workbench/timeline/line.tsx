/** One row of the timeline. */
import type { Row } from "./rows.js";
import { atOf, bytesOf, tookOf } from "./units.js";

export function Line({
  row,
  range,
  chosen,
  choose,
}: {
  row: Row;
  range: [number, number];
  chosen: boolean;
  choose: () => void;
}) {
  const { moment, sort, method, took, bad } = row;
  const pending = sort === "request" && !row.pair;
  return (
    <button
      type="button"
      class={`moment is-${sort} ${bad ? "bad" : ""}`}
      aria-pressed={chosen}
      onClick={choose}
    >
      <time>{atOf(moment.at)}</time>
      <span class={`wire ${moment.view ? "of-view" : "of-server"}`}>
        {wayOf(row)}
      </span>
      <span class="method">{wordsOf(row, method)}</span>
      <Verdict row={row} />
      <span class="took">
        {took !== undefined ? tookOf(took) : pending ? "…" : ""}
      </span>
      <span class="size">
        {moment.size !== undefined ? bytesOf(moment.size) : ""}
      </span>
      <Bar row={row} range={range} />
    </button>
  );
}

/** Who speaks to whom. */
export function wayOf({ moment, sort }: Row): string {
  if (sort === "event") return moment.view ? "view" : "server";
  const name = (party = "?") => PARTIES[party] ?? party;
  return `${name(moment.from)} → ${name(moment.to)}`;
}

/** A row in a few words. */
function wordsOf({ moment, sort, pair }: Row, method: string): string {
  if (sort === "answer")
    return `${moment.cut ? "(long) " : ""}answer to ${pair ? method : "nothing"}`;
  if (sort !== "event") return method;
  switch (moment.kind) {
    case "opened":
      return `opened ${moment.tool ?? ""} ${moment.uri ?? ""}`;
    case "verdict":
      return `${moment.outcome ?? ""} ${moment.method ?? ""} ${moment.about ?? ""}`;
    case "sent":
      return `goes to the server as ${moment.server_id ?? "?"}`;
    default:
      return `${moment.kind} ${moment.words ?? ""}`;
  }
}

function Verdict({ row }: { row: Row }) {
  const outcome = row.verdict?.outcome;
  const failed = row.sort === "answer" && row.bad ? "error" : undefined;
  const word = outcome ?? failed ?? (row.pair?.bad ? "error" : "");
  return <span class={`verdict ${word}`}>{word}</span>;
}

/** Where in the time that is shown it happened, and how long its answer took. */
function Bar({
  row,
  range: [from, to],
}: {
  row: Row;
  range: [number, number];
}) {
  const part = (at: number) =>
    Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));
  const left = part(row.moment.at);
  const right = part(row.moment.at + (row.took ?? 0));
  return (
    <span class="waterfall" aria-hidden="true">
      <i
        style={{
          left: `min(${left}%, 100% - 2px)`,
          width: `max(2px, ${Math.max(0, right - left)}%)`,
        }}
      />
    </span>
  );
}

const PARTIES: Record<string, string> = {
  view: "view",
  gate: "gate",
  server: "server",
};
