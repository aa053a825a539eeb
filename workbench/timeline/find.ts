/** Which rows are shown: those that fit what the person looks for. */
import type { Row } from "./rows.js";

export type Wanted = {
  /** Words that have to be in it, whatever their case. */
  text: string;
  wire: "both" | "view" | "server";
  /** A view, by its name; all of them without one. */
  view: string;
  /** Only what went wrong. */
  bad: boolean;
  /** Whether answers, verdicts and other things beside messages are shown. */
  events: boolean;
  /** A part of the time, in microseconds. */
  from?: number;
  to?: number;
};

export const EVERYTHING: Wanted = {
  text: "",
  wire: "both",
  view: "",
  bad: false,
  events: true,
};

/** Whether a row fits. */
export function fits(wanted: Wanted): (row: Row) => boolean {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const { wire, view, bad, events, from, to } = wanted;
  return (row) => {
    const { moment } = row;
    if (bad && !row.bad) return false;
    if (!events && row.sort === "event") return false;
    if (view !== "" && moment.view !== view) return false;
    if (wire === "view" && moment.view === undefined) return false;
    if (wire === "server" && moment.view !== undefined) return false;
    if (from !== undefined && moment.at < from) return false;
    if (to !== undefined && moment.at > to) return false;
    if (words.length === 0) return true;
    const line = row.line.toLowerCase();
    return words.every(
      (word) => line.includes(word) || row.method.toLowerCase().includes(word),
    );
  };
}

/**
 * Keeps the rows that fit, as more of them come: each row is looked at once, some thousand at a time, so that the page goes on.
 */
export class Found {
  #fits: (row: Row) => boolean;
  #seen = 0;
  #rows: readonly Row[];
  shown: Row[] = [];

  constructor(rows: readonly Row[], wanted: Wanted) {
    this.#rows = rows;
    this.#fits = fits(wanted);
  }

  /** Looks at some more rows; whether there are others. */
  more(): boolean {
    const end = Math.min(this.#rows.length, this.#seen + AT_ONCE);
    for (; this.#seen < end; this.#seen++) {
      const row = this.#rows[this.#seen]!;
      if (this.#fits(row)) this.shown.push(row);
    }
    return this.#seen < this.#rows.length;
  }
}

const AT_ONCE = 5_000;
