/**
 * Two traces beside each other. What belongs together is found by who says what to whom and how often they did before: ids, times and the
 * names of views differ in every run.
 */
import { bodyOf, isObject, type Row, type Rows } from "./rows.js";

export type Pairing = {
  kind: "changed" | "missing" | "added";
  one?: Row;
  other?: Row;
  /** In what they differ: the paths of what is not the same, and both values. */
  what: Difference[];
};

export type Difference = { path: string; one: unknown; other: unknown };

export type Comparison = { same: number; pairings: Pairing[] };

export function compare(one: Rows, other: Rows): Comparison {
  const theirs = byName(other);
  const pairings: Pairing[] = [];
  let same = 0;
  for (const [name, rows] of byName(one)) {
    const beside = theirs.get(name) ?? [];
    theirs.delete(name);
    rows.forEach((row, at) => {
      const match = beside[at];
      if (!match) pairings.push({ kind: "missing", one: row, what: [] });
      else {
        const what = differences(row, match);
        if (what.length === 0) same += 1;
        else pairings.push({ kind: "changed", one: row, other: match, what });
      }
    });
    for (const row of beside.slice(rows.length))
      pairings.push({ kind: "added", other: row, what: [] });
  }
  for (const rows of theirs.values())
    for (const row of rows)
      pairings.push({ kind: "added", other: row, what: [] });
  const at = ({ one, other }: Pairing) => (one ?? other!).moment.at;
  return { same, pairings: pairings.sort((a, b) => at(a) - at(b)) };
}

/** The messages and documents of a trace, by who says what; those of one name in their order. */
function byName({ rows }: Rows): Map<string, Row[]> {
  const views = new Map<string, string>();
  const counted = new Map<string, number>();
  for (const { moment } of rows) {
    if (moment.kind !== "opened" || moment.view === undefined) continue;
    const kind = `${moment.server ?? ""} ${moment.tool ?? ""}`;
    const nth = (counted.get(kind) ?? 0) + 1;
    counted.set(kind, nth);
    views.set(moment.view, `${kind} ${nth}`);
  }
  const named = new Map<string, Row[]>();
  for (const row of rows) {
    const { moment, sort, method } = row;
    if (moment.kind !== "message" && moment.kind !== "opened") continue;
    const view =
      moment.view === undefined ? "" : (views.get(moment.view) ?? "view");
    const name = [moment.from, moment.to, moment.server, view, sort, method];
    const key = name.join("\n");
    const there = named.get(key);
    if (there) there.push(row);
    else named.set(key, [row]);
  }
  return named;
}

function differences(one: Row, other: Row): Difference[] {
  const found: Difference[] = [];
  if (one.moment.kind === "opened") {
    for (const path of ["uri", "sha256", "policy"] as const)
      if (one.moment[path] !== other.moment[path])
        found.push({ path, one: one.moment[path], other: other.moment[path] });
    return found;
  }
  walk("", bodyOf(one), bodyOf(other), found);
  if (one.bad !== other.bad)
    found.push({ path: "failed", one: one.bad, other: other.bad });
  return found;
}

function walk(path: string, one: unknown, other: unknown, found: Difference[]) {
  if (found.length >= MOST || Object.is(one, other)) return;
  if (Array.isArray(one) && Array.isArray(other)) {
    const length = Math.max(one.length, other.length);
    for (let at = 0; at < length && found.length < MOST; at++)
      walk(`${path}[${at}]`, one[at], other[at], found);
  } else if (isObject(one) && isObject(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      // Numbers that each run gives anew.
      if (key === "progressToken" || key === "requestId") continue;
      walk(path ? `${path}.${key}` : key, one[key], other[key], found);
    }
  } else found.push({ path: path || "(all of it)", one, other });
}

const MOST = 100;
