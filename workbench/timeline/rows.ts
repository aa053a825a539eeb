/**
 * A timeline as it is read: lines as the host process tells them, or as a file holds them, made into rows. A request and its answer
 * know each other, and a request knows what the gate said of it.
 */
import type { Moment, TraceHead } from "../state.generated.js";

/** One moment, and what was found out about it. */
export type Row = {
  moment: Moment;
  /** Its line, in which its message stands as it travelled. */
  line: string;
  sort: Sort;
  /** The method of a message, or of the request that it answers. */
  method: string;
  /** Of a request its answer, of an answer its request. */
  pair?: Row;
  /** Of a request: what the gate said of it. */
  verdict?: Moment;
  /** Of a request that was answered: how long that took, in microseconds. */
  took?: number;
  /** Whether it says that something went wrong. */
  bad: boolean;
};

export type Sort = "request" | "answer" | "notification" | "odd" | "event";

/** What a reader of lines tells of them as a whole. */
export type Reading = {
  head?: TraceHead;
  /** What is wrong, in sentences. */
  troubles: string[];
  rows: Row[];
};

/** Takes lines in, in their order, as many at a time as are there. */
export class Rows {
  readonly rows: Row[] = [];
  head: TraceHead | undefined;
  /** How many numbers are missing: moments that were not kept. */
  missed = 0;
  /** Lines that are none. */
  unreadable = 0;
  /** What the last line says, where there is one. */
  end: { lines?: number; sha256?: string } | undefined;
  #open = new Map<string, Row>();
  #last = 0;

  /** The last number that was read. */
  get last(): number {
    return this.#last;
  }

  line(line: string): void {
    if (line === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.unreadable += 1;
      return;
    }
    if (!isObject(value)) this.unreadable += 1;
    else if (value["transom"] === "trace")
      this.head ??= value as unknown as TraceHead;
    else if (value["kind"] === "end") this.end = value;
    else if (typeof value["kind"] === "string")
      this.#add(value as unknown as Moment, line);
    else this.unreadable += 1;
  }

  #add(moment: Moment, line: string): void {
    const n = typeof moment.n === "number" ? moment.n : this.#last + 1;
    const at = typeof moment.at === "number" ? moment.at : 0;
    if (n > this.#last + 1 && this.#last > 0) this.missed += n - this.#last - 1;
    this.#last = Math.max(this.#last, n);
    const row: Row = {
      moment: { ...moment, n, at },
      line,
      sort: "event",
      method: "",
      bad: false,
    };
    if (moment.kind === "message") this.#message(row);
    else this.#event(row);
    this.rows.push(row);
  }

  #message(row: Row): void {
    const { moment } = row;
    const message = moment.message;
    if (!isObject(message)) {
      row.sort = "odd";
      row.method = moment.cut ? "(long)" : "(no message)";
      row.bad = !moment.cut;
      if (moment.cut) this.#long(row);
      return;
    }
    const { id, method } = message;
    const isId = typeof id === "number" || typeof id === "string";
    if (typeof method === "string") {
      row.method = method;
      row.sort = isId ? "request" : "notification";
      if (isId) this.#open.set(keyOf(moment, moment.from, id), row);
    } else if (isId) this.#answer(row, id, message);
    else {
      row.sort = "odd";
      row.bad = true;
    }
  }

  /** The beginning of a message says as a rule what it is. */
  #long(row: Row): void {
    const text = row.moment.text ?? "";
    const method = METHOD.exec(text)?.[1];
    const id = ID.exec(text)?.[1];
    const known =
      id === undefined ? undefined : (JSON.parse(id) as string | number);
    if (method !== undefined) {
      row.method = method;
      row.sort = known === undefined ? "notification" : "request";
      if (known !== undefined)
        this.#open.set(keyOf(row.moment, row.moment.from, known), row);
    } else if (known !== undefined) this.#answer(row, known, {});
  }

  #answer(
    row: Row,
    id: string | number,
    message: Record<string, unknown>,
  ): void {
    row.sort = "answer";
    const { result } = message;
    row.bad =
      message["error"] !== undefined ||
      (isObject(result) && result["isError"] === true);
    const key = keyOf(row.moment, row.moment.to, id);
    const request = this.#open.get(key);
    if (!request) {
      row.method = "(no request)";
      return;
    }
    this.#open.delete(key);
    row.method = request.method;
    row.pair = request;
    request.pair = row;
    request.took = row.moment.at - request.moment.at;
    request.bad ||= row.bad;
  }

  #event(row: Row): void {
    const { moment } = row;
    row.method = moment.method ?? moment.kind;
    row.bad =
      moment.kind === "blocked" ||
      moment.kind === "dropped" ||
      moment.outcome === "refused";
    if (moment.kind !== "verdict" || moment.id === undefined) return;
    let id: unknown;
    try {
      id = JSON.parse(moment.id);
    } catch {
      return;
    }
    if (typeof id !== "number" && typeof id !== "string") return;
    const request = this.#open.get(keyOf(moment, "view", id));
    if (!request) return;
    request.verdict = moment;
    request.bad ||= moment.outcome === "refused";
  }
}

/** Which request: of whom, on which wire, and under which id. A number and a text are different ids. */
function keyOf(
  { server, view }: Moment,
  by: string | undefined,
  id: string | number,
): string {
  return `${typeof id} ${id}\n${by}\n${view ?? ""}\n${server ?? ""}`;
}

/** The message as it travelled. */
export function textOf({ moment, line }: Row): string {
  if (moment.text !== undefined) return moment.text;
  const at = line.indexOf(MESSAGE);
  return at < 0 ? "" : line.slice(at + MESSAGE.length, -1);
}

/** The params, the result or the error of a message. */
export function bodyOf({ moment }: Row): unknown {
  if (!isObject(moment.message)) return moment.text;
  const { params, result, error } = moment.message;
  return params ?? result ?? error;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// The last member of its line; a name before it holds no text of anybody's.
const MESSAGE = ',"message":';

// What stands at the beginning of a message, as far as it is there.
const METHOD = new RegExp(
  '^\\s*[{].{0,200}?"method"\\s*:\\s*"([^"\\\\]{1,100})"',
  "s",
);
const ID = new RegExp(
  '^\\s*[{].{0,200}?"id"\\s*:\\s*(-?\\d{1,15}|"[^"\\\\]{0,64}")',
  "s",
);
