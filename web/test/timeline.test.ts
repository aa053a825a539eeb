// How the page reads a timeline: what belongs together, what a broken trace still shows, and how two traces are compared.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { compare } from "../../workbench/timeline/compare.js";
import { asFixture, asRustTest } from "../../workbench/timeline/copies.js";
import { EVERYTHING, fits, Found } from "../../workbench/timeline/find.js";
import { openTrace } from "../../workbench/timeline/open.js";
import { Rows, textOf } from "../../workbench/timeline/rows.js";

const HEAD = `{"transom":"trace","version":1,"program":"transom 0.1.0","run":"a","began":1700000000000}`;
let n = 0;
function said(from: string, to: string, message: string, more = {}): string {
  n += 1;
  const line = { n, at: n * 1000, kind: "message", server: "w", ...more };
  const parties = { from, to, size: message.length };
  const start = JSON.stringify({ ...line, ...parties });
  return `${start.slice(0, -1)},"message":${message}}`;
}
const view = { view: "v1" };
const story = () => {
  n = 0;
  return [
    HEAD,
    said("gate", "server", `{"id":7,"method":"tools/list"}`),
    said("server", "gate", `{"id":7, "result":{"tools":[1e3]}}`),
    said("view", "gate", `{"id":7,"method":"tools/call"}`, view),
    `{"n":4,"at":4000,"kind":"verdict","server":"w","view":"v1","id":"7","method":"tools/call","outcome":"refused","words":"no"}`,
    ((n = 4), said("gate", "view", `{"id":7,"error":{"code":1}}`, view)),
    said("view", "gate", `{"id":"7","method":"ping"}`, view),
    said("server", "gate", `{"method":"notifications/message"}`),
  ];
};
function read(lines: string[]): Rows {
  const rows = new Rows();
  lines.forEach((line) => rows.line(line));
  return rows;
}
function whole(lines: string[]): string {
  const text = lines.map((line) => `${line}\n`).join("");
  const sha256 = createHash("sha256").update(text).digest("hex");
  return `${text}{"kind":"end","lines":${lines.length},"sha256":"${sha256}"}\n`;
}

describe("rows", () => {
  test("an answer finds its request, of its own wire and by its own kind of id", () => {
    const { rows } = read(story());
    expect(rows.map(({ sort }) => sort)).toEqual([
      "request",
      "answer",
      "request",
      "event",
      "answer",
      "request",
      "notification",
    ]);
    expect(rows[0]!.pair).toBe(rows[1]);
    expect(rows[2]!.pair).toBe(rows[4]);
    expect(rows[5]!.pair).toBeUndefined();
    expect([rows[0]!.took, rows[2]!.took]).toEqual([1000, 2000]);
    expect(rows[1]!.method).toBe("tools/list");
  });

  test("a request knows its verdict, and whether it went wrong", () => {
    const { rows } = read(story());
    expect(rows[2]!.verdict?.outcome).toBe("refused");
    expect(rows.map(({ bad }) => bad)).toEqual([
      false,
      false,
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  test("the text of a message is what travelled", () => {
    const { rows } = read(story());
    expect(textOf(rows[1]!)).toBe(`{"id":7, "result":{"tools":[1e3]}}`);
  });

  test("a long message is paired by its beginning", () => {
    const rows = read([
      said("gate", "server", `{"id":1,"method":"resources/read"}`),
      `{"n":${n + 1},"at":9000,"kind":"message","server":"w","from":"server","to":"gate","size":99999,"cut":true,"text":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":{"}`,
    ]).rows;
    expect(rows[0]!.pair).toBe(rows[1]);
    expect(rows[1]!.bad).toBe(false);
  });

  test("whatever stands on a line, the others are read", () => {
    const rows = read([
      "{",
      "7",
      "null",
      "[]",
      `{"kind":7}`,
      `{"kind":"message"}`,
      `{"kind":"message","message":{"id":{},"method":7},"n":"x","at":null}`,
      `{"kind":"verdict","id":"{"}`,
      `{"kind":"from-the-future","n":9,"at":1}`,
      `{"kind":"message","__proto__":{"x":1},"message":{"id":1,"result":null}}`,
    ]);
    expect(rows.unreadable).toBe(5);
    expect(rows.rows).toHaveLength(5);
  });
});

describe("find", () => {
  test("words, wire, view, problems and time are looked for together", () => {
    const { rows } = read(story());
    const found = (part: object) =>
      rows
        .filter(fits({ ...EVERYTHING, ...part }))
        .map(({ moment }) => moment.n);
    expect(found({})).toHaveLength(7);
    expect(found({ text: "TOOLS list" })).toEqual([1, 2]);
    expect(found({ wire: "server" })).toEqual([1, 2, 7]);
    expect(found({ view: "v1", events: false })).toEqual([3, 5, 6]);
    expect(found({ bad: true })).toEqual([3, 4, 5]);
    expect(found({ from: 2000, to: 3000 })).toEqual([2, 3]);
  });

  test("rows that come later are found too, and each is looked at once", () => {
    const rows = new Rows();
    const found = new Found(rows.rows, EVERYTHING);
    for (let at = 0; at < 12_000; at++)
      rows.line(`{"kind":"ready","n":${at + 1},"at":${at}}`);
    let turns = 1;
    while (found.more()) turns += 1;
    expect([found.shown.length, turns]).toEqual([12_000, 3]);
    rows.line(`{"kind":"ready","n":12001,"at":1}`);
    found.more();
    expect(found.shown).toHaveLength(12_001);
  });
});

describe("open", () => {
  const open = (text: string) => openTrace("a.jsonl", text);

  test("a whole trace has no troubles", async () => {
    const { troubles, rows } = await open(whole(story()));
    expect(troubles).toEqual([]);
    expect(rows.rows).toHaveLength(7);
  });

  test.each([
    ["cut off", (text: string) => text.slice(0, -180), /has no end/],
    [
      "edited",
      (text: string) => text.replace("tools/list", "tools/lisp"),
      /was changed/,
    ],
    [
      "of a newer version",
      (text: string) => text.replace(`"version":1`, `"version":2`),
      /newer version \(format 2/,
    ],
    [
      "with a line missing",
      (text: string) => text.replace(/^.*"n":3,.*\n/m, ""),
      /1 moment between the others is not/,
    ],
    [
      "with a broken line",
      (text: string) => text.replace(`{"n":6`, `{n:6`),
      /1 line could not be read/,
    ],
    [
      "without its head",
      (text: string) => text.replace(/^.*\n/, ""),
      /does not say that it is a trace/,
    ],
  ])("one that is %s says so, and shows the rest", async (_, change, words) => {
    const { troubles, rows } = await open(change(whole(story())));
    expect(troubles.join(" ")).toMatch(words);
    expect(rows.rows.length).toBeGreaterThan(4);
  });

  test.each(["", "\n\n", "hello", "{}", "\0\0\0"])(
    "%j is no trace",
    async (text) => {
      const { troubles, rows } = await open(text);
      expect(troubles.join(" ")).toMatch(/no trace of Transom/);
      expect(rows.rows).toHaveLength(0);
    },
  );
});

describe("compare", () => {
  test("the same story is the same, whatever its ids, times and views", () => {
    const other = story().map((line) =>
      line
        .replaceAll(`"id":7`, `"id":8`)
        .replaceAll("v1", "v2")
        .replaceAll(`000,`, `500,`),
    );
    expect(compare(read(story()), read(other))).toEqual({
      same: 6,
      pairings: [],
    });
  });

  test("what differs is told with its path, and what one alone says", () => {
    const other = story();
    other[2] = other[2]!.replace("[1e3]", `[1e3,"new"]`);
    other.splice(7, 1);
    other.push(said("server", "gate", `{"method":"notifications/progress"}`));
    const { same, pairings } = compare(read(story()), read(other));
    expect(same).toBe(4);
    expect(pairings.map(({ kind, what }) => [kind, what])).toEqual([
      ["changed", [{ path: "tools[1]", one: undefined, other: "new" }]],
      ["missing", []],
      ["added", []],
    ]);
  });
});

describe("copies", () => {
  const { rows } = read(story());

  test("a message of a view is an entry of the fixtures, one of a server a line of a transcript", () => {
    expect(JSON.parse(asFixture(rows[4]!))).toEqual({
      name: "answer tools/call",
      direction: "host-to-view",
      answers: "tools/call",
      emit: true,
      message: { id: 7, error: { code: 1 } },
    });
    expect(JSON.parse(asFixture(rows[0]!))).toEqual({
      at: 1,
      from: "host",
      to: "server",
      message: { id: 7, method: "tools/list" },
    });
  });

  test("a Rust test holds a stranger's words as a string that they cannot end", () => {
    const evil = read([
      said(
        "view",
        "gate",
        `{"method":"x","params":{"a":"\\"# ; \\"## panic!()"}}`,
        view,
      ),
    ]).rows[0]!;
    const test = asRustTest(evil);
    expect(test).toContain(`let text = r###"{"method"`);
    const call = asRustTest(rows[1]!);
    expect(call).toContain("fn m_tools_list_is_answered_as_it_was()");
    expect(call).toContain(`r#"{"tools":[1000]}"#`);
  });
});
