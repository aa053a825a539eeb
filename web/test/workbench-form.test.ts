/** Forms of the workbench: schemas that strangers wrote, and the values that come of them. */
import { expect, test } from "vitest";
import { draftOf, judgeOf } from "../../workbench/form/check.js";
import { resolve, shapeOf, type Schema } from "../../workbench/form/schema.js";
import {
  begin,
  exact,
  memberOf,
  read,
  withMember,
} from "../../workbench/form/value.js";
import { obstacle, withoutForm } from "../../workbench/form/weight.js";

const shape = (schema: Schema, root = schema) => {
  const whole = resolve(schema, root);
  return whole && shapeOf(whole, root);
};
const faults = (schema: Schema, value: unknown) =>
  Object.fromEntries(judgeOf(schema)(value as never).faults);

test("an optional argument of a Python server is not sent, and never the word null", () => {
  const schema = {
    type: "object",
    properties: {
      name: {
        anyOf: [{ type: "string" }, { type: "null" }],
        default: null,
        title: "Name",
      },
      count: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
      greeting: { type: "string", default: "hello" },
    },
  };
  expect(begin(schema, schema)).toEqual({ greeting: "hello" });
  expect(shape(schema.properties.name)).toMatchObject({
    kind: "union",
    options: [{ title: "text" }, { title: "null" }],
  });
});

test("null, nothing and an empty text are three values", () => {
  const none = {};
  expect(withMember(none, "a", null)).toEqual({ a: null });
  expect(withMember({ a: null, b: 1 }, "a", undefined)).toEqual({ b: 1 });
  expect(withMember({ a: 1, b: 2 }, "a", "")).toEqual({ a: "", b: 2 });
  expect(Object.keys(withMember({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
  const odd = withMember({}, "__proto__", "x");
  expect(JSON.stringify(odd)).toBe('{"__proto__":"x"}');
  expect(memberOf(odd, "__proto__")).toBe("x");
  expect(memberOf({}, "toString")).toBeUndefined();
});

test("references, allOf and kinds are followed to what a form can draw", () => {
  const root = {
    type: "object",
    $defs: {
      Colour: { enum: ["red", "blue"] },
      Point: {
        type: "object",
        properties: { x: { type: "number" }, y: { type: "number" } },
        required: ["x"],
      },
      "a/b~c": { type: "boolean" },
    },
    properties: {
      colour: { allOf: [{ $ref: "#/$defs/Colour" }], description: "Which" },
      place: {
        allOf: [{ $ref: "#/$defs/Point" }, { required: ["y"] }],
      },
      odd: { $ref: "#/$defs/a~1b~0c" },
      away: { $ref: "https://a.test/schema" },
      either: { oneOf: [{ const: 1, title: "one" }, { const: 2 }] },
      nullable: { type: ["string", "null"] },
    },
  };
  const of = (name: keyof typeof root.properties) =>
    shape(root.properties[name], root);
  expect(of("colour")).toMatchObject({
    kind: "choice",
    values: ["red", "blue"],
  });
  expect(of("place")).toMatchObject({
    kind: "object",
    fields: [
      { name: "x", needed: true },
      { name: "y", needed: true },
    ],
  });
  expect(of("odd")).toEqual({ kind: "boolean" });
  expect(of("away")).toBeUndefined();
  expect(of("either")).toMatchObject({ kind: "choice", names: ["one", "2"] });
  expect(of("nullable")).toMatchObject({ kind: "union" });
});

test("a schema in a circle, an enormous one and nonsense have no form, in words and in no time", () => {
  const wide: Schema = { type: "object", $defs: {} };
  const defs = wide["$defs"] as Schema;
  for (let n = 0; n < 30; n++) {
    const next = { $ref: `#/$defs/d${n + 1}` };
    defs[`d${n}`] = { anyOf: [next, next] };
  }
  defs["d30"] = {};
  wide["properties"] = { x: { $ref: "#/$defs/d0" } };
  const table: [unknown, RegExp][] = [
    [{ $ref: "#" }, /circle/],
    [{ anyOf: [{ $ref: "#/anyOf/0" }] }, /circle/],
    [
      {
        $defs: {
          a: {
            properties: { m: { $ref: "#/$defs/b" } },
            anyOf: [{ $ref: "#/$defs/b" }],
          },
          b: { $ref: "#/$defs/a" },
        },
        $ref: "#/$defs/a",
      },
      /circle/,
    ],
    [wide, /too large/],
    [{ properties: { a: { $id: "x", $ref: "y" } } }, /not in it/],
    [{ properties: { a: { $dynamicRef: "#x" } } }, /not in it/],
    [[], /none/],
    ["nonsense", /none/],
    [{ type: "string" }, /object/],
    [
      {
        type: "object",
        properties: Object.fromEntries([...Array(101)].map((_, n) => [n, {}])),
      },
      /too many/,
    ],
  ];
  for (const [schema, why] of table) expect(withoutForm(schema)).toMatch(why);
  // One that contains itself has a form: a value ends somewhere.
  const tree = {
    type: "object",
    properties: {
      name: { type: "string" },
      children: { type: "array", items: { $ref: "#" } },
    },
  };
  expect(withoutForm(tree)).toBeUndefined();
  expect(faults(tree, { children: [{ name: 1 }] })).toEqual({
    "/children/0/name": "This is another kind of value than is asked for.",
  });
  // A needed member of its own kind would never end: the form stops.
  const needy = {
    type: "object",
    properties: { in: { $ref: "#" } },
    required: ["in"],
  };
  expect(JSON.stringify(begin(needy, needy)).length).toBeLessThan(200);
  expect(
    obstacle({
      properties: { not: { type: "object" }, default: { anyOf: [] } },
    }),
  ).toBeUndefined();
});

test("what is wrong is said at its field", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 2 },
      "a/b": {
        type: "object",
        properties: { n: { type: "integer", maximum: 3 } },
        required: ["n"],
      },
      kind: { enum: ["x", "y"] },
      maybe: {
        anyOf: [
          {
            type: "object",
            properties: { z: { type: "number" } },
            required: ["z"],
          },
          { type: "null" },
        ],
      },
    },
    required: ["name"],
  };
  expect(faults(schema, {})).toEqual({ "/name": "This is needed." });
  expect(
    Object.keys(faults(schema, { name: "a", "a/b": { n: 4 }, kind: "z" })),
  ).toEqual(["/name", "/a~1b/n", "/kind"]);
  expect(faults(schema, { name: "ab", "a/b": {} })).toEqual({
    "/a~1b/n": "This is needed.",
  });
  expect(faults(schema, { name: "ab", maybe: null })).toEqual({});
  expect(faults(schema, { name: "ab", maybe: {} })).toEqual({
    "/maybe/z": "This is needed.",
  });
  expect(faults(schema, { name: "ab", maybe: 7 })).toEqual({
    "/maybe": "This fits none of the kinds that it may be.",
  });
});

test("the draft is the one that the schema names", () => {
  expect(draftOf({})).toBe("2020-12");
  expect(draftOf({ $schema: "http://json-schema.org/draft-07/schema#" })).toBe(
    "7",
  );
  expect(draftOf({ $schema: "http://json-schema.org/draft-04/schema#" })).toBe(
    "4",
  );
  // In draft 7 a list of schemas for items is a tuple; in 2020-12 it is nonsense.
  const tuple = {
    $schema: "http://json-schema.org/draft-07/schema#",
    properties: { t: { items: [{ type: "string" }] } },
  };
  expect(Object.keys(faults(tuple, { t: [1] }))).toEqual(["/t/0"]);
});

test("no pattern of a stranger stops the page", () => {
  for (const pattern of [
    "^(a+)+$",
    "^(a|a)*$",
    "(.*)*x",
    "^(\\w+\\s?)*$",
    "a*a*a*a*b",
    "((a+))+$",
    "(a)\\1+",
  ]) {
    const { faults: found, note } = judgeOf({ properties: { x: { pattern } } })(
      { x: `${"a".repeat(200)}!` },
    );
    expect([pattern, found.size, note]).toEqual([
      pattern,
      0,
      "A pattern of its schema is judged by the server alone.",
    ]);
  }
  expect(
    faults({ properties: { x: { pattern: "^[a-z]{2,8}$" } } }, { x: "A" }),
  ).toEqual({
    "/x": "This does not match the pattern that is asked for.",
  });
});

test("no number loses digits on its way", () => {
  for (const text of [
    "1",
    "1.50",
    "-0.1e3",
    "1e21",
    "9007199254740991",
    '{"a":"12345678901234567890"}',
    "100000000000000000000",
  ])
    expect([text, exact(text)]).toEqual([text, true]);
  for (const text of [
    "12345678901234567890",
    "0.1234567890123456789",
    "[1,9007199254740993]",
    "1e400",
  ])
    expect([text, exact(text)]).toEqual([text, false]);
  expect(() => read("12345678901234567891")).toThrow("digits");
});
