/**
 * JSON Schema as a form sees it. A stranger wrote it: it may be anything, point anywhere in itself, and be larger than it
 * looks. Nothing is fetched for it, and what no form can show is typed as JSON.
 */

export type Json =
  null | boolean | number | string | Json[] | { [name: string]: Json };
export type Schema = { [keyword: string]: unknown };

/** What one field is. */
export type Shape =
  | { kind: "object"; fields: Field[]; more: Schema | undefined }
  | {
      kind: "array";
      items: Schema;
      fixed: Schema[];
      least: number;
      most: number;
    }
  | { kind: "choice"; values: Json[]; names: string[] }
  | { kind: "union"; options: Option[] }
  | { kind: "boolean" }
  | { kind: "number"; whole: boolean }
  | { kind: "text"; lines: boolean; input: string }
  | { kind: "file"; url: boolean; accept: string }
  | { kind: "null" }
  | { kind: "json"; why: string };

export type Field = { name: string; schema: Schema; needed: boolean };
export type Option = { title: string; schema: Schema };

export const isObject = (
  value: unknown,
): value is { [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema that one stands for: references followed, and all of `allOf` in one. Nothing, if that never ends. */
export function resolve(given: unknown, root: Schema): Schema | undefined {
  return follow(given, root, 0);
}

function follow(
  given: unknown,
  root: Schema,
  depth: number,
): Schema | undefined {
  if (given === true) return {};
  if (!isObject(given) || depth > FOLLOWED) return undefined;
  const { $ref, allOf, ...own } = given;
  let merged: Schema = own;
  if (typeof $ref === "string") {
    const there = follow(lookUp($ref, root), root, depth + 1);
    if (!there) return undefined;
    merged = both(there, merged);
  }
  for (const part of Array.isArray(allOf) ? allOf : []) {
    const there = follow(part, root, depth + 1);
    if (!there) return undefined;
    merged = both(there, merged);
  }
  return merged;
}

/** Two schemas that hold at once, as far as a form shows them; the validator judges by the schema itself. */
function both(one: Schema, other: Schema): Schema {
  const merged: Schema = { ...one, ...other };
  if (isObject(one["properties"]) && isObject(other["properties"])) {
    const all = new Map(Object.entries(one["properties"]));
    for (const [name, schema] of Object.entries(other["properties"])) {
      const before = all.get(name);
      all.set(
        name,
        before === undefined ? schema : { allOf: [before, schema] },
      );
    }
    merged["properties"] = Object.fromEntries(all);
  }
  const needed = [one["required"], other["required"]].filter(Array.isArray);
  if (needed.length > 0) merged["required"] = [...new Set(needed.flat())];
  return merged;
}

/** What a reference within the schema names. Others name something that is not here. */
export function lookUp(ref: string, root: Schema): unknown {
  if (!ref.startsWith("#")) return undefined;
  if (ref !== "#" && !ref.startsWith("#/")) {
    const name = ref.slice(1);
    return Object.values(definitions(root)).find(
      (each) => isObject(each) && each["$anchor"] === name,
    );
  }
  let at: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    let name: string;
    try {
      name = decodeURIComponent(part)
        .replaceAll("~1", "/")
        .replaceAll("~0", "~");
    } catch {
      return undefined;
    }
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name))
      return undefined;
    at = (at as Schema)[name];
  }
  return at;
}

function definitions(root: Schema): Schema {
  const both = [root["$defs"], root["definitions"]].filter(isObject);
  return Object.assign({}, ...both) as Schema;
}

/** What a schema says of one field, once it is resolved. */
export function shapeOf(schema: Schema, root: Schema): Shape {
  if ("const" in schema) return choice([schema["const"] as Json], schema);
  if (Array.isArray(schema["enum"]))
    return schema["enum"].length > CHOICES
      ? json("There are too many values to choose from.")
      : choice(schema["enum"] as Json[], schema);
  const either = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(either)) return union(schema, either, root);
  const { type } = schema;
  if (Array.isArray(type)) {
    if (type.length === 1) return shapeOf({ ...schema, type: type[0] }, root);
    const options = type.map((each) => ({ ...schema, type: each as unknown }));
    return { kind: "union", options: options.map((each) => option(each)) };
  }
  return typed(schema, type ?? guess(schema));
}

function typed(schema: Schema, type: unknown): Shape {
  switch (type) {
    case "object":
      return objectOf(schema);
    case "array":
      return arrayOf(schema);
    case "boolean":
      return { kind: "boolean" };
    case "number":
    case "integer":
      return { kind: "number", whole: type === "integer" };
    case "string":
      return textOf(schema);
    case "null":
      return { kind: "null" };
    default:
      return json("Any JSON value.");
  }
}

function union(schema: Schema, either: unknown[], root: Schema): Shape {
  const {
    anyOf: _a,
    oneOf: _o,
    default: _d,
    title: _t,
    description: _w,
    ...around
  } = schema;
  const options: Schema[] = [];
  for (const each of either.slice(0, OPTIONS)) {
    const there = resolve(each, root);
    if (!there) return json("One of its kinds cannot be followed.");
    options.push(both(around, there));
  }
  if (either.length > OPTIONS)
    return json("It can be too many kinds of value.");
  // Values that are named one by one are one choice.
  if (options.length > 0 && options.every((each) => "const" in each))
    return {
      kind: "choice",
      values: options.map((each) => each["const"] as Json),
      names: options.map((each) => titleOf(each) ?? shown(each["const"])),
    };
  // Around it are limits for objects, such as "this or that is needed": the fields are those of all.
  if (
    schema["properties"] &&
    options.every((each) => !("type" in each) || each["type"] === "object")
  )
    return objectOf(schema);
  if (options.length === 1) return shapeOf(options[0]!, root);
  return { kind: "union", options: options.map(option) };
}

const option = (schema: Schema): Option => ({
  title: titleOf(schema) ?? nameOf(schema),
  schema,
});

function choice(values: Json[], schema: Schema): Shape {
  const given = schema["enumNames"];
  const names = Array.isArray(given) ? given : [];
  return {
    kind: "choice",
    values,
    names: values.map((value, at) =>
      typeof names[at] === "string" ? names[at] : shown(value),
    ),
  };
}

function objectOf(schema: Schema): Shape {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const needed = new Set(
    Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [],
  );
  const entries = Object.entries(properties);
  if (entries.length > FIELDS)
    return json("It has too many fields for a form.");
  const fields = entries.map(([name, each]) => ({
    name,
    schema: isObject(each) ? each : {},
    needed: needed.has(name),
  }));
  const { additionalProperties: more } = schema;
  const open = isObject(more)
    ? more
    : entries.length === 0 && more !== false
      ? {}
      : undefined;
  return { kind: "object", fields, more: open };
}

function arrayOf(schema: Schema): Shape {
  const { prefixItems, items } = schema;
  const tuple = Array.isArray(prefixItems)
    ? prefixItems
    : Array.isArray(items)
      ? items
      : [];
  if (tuple.length > FIELDS) return json("It has too many fields for a form.");
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  const number = (name: string, other: number) =>
    typeof schema[name] === "number" ? schema[name] : other;
  return {
    kind: "array",
    items: isObject(rest) ? rest : {},
    fixed: tuple.map((each) => (isObject(each) ? each : {})),
    least: number("minItems", 0),
    most: rest === false ? tuple.length : number("maxItems", Infinity),
  };
}

function textOf(schema: Schema): Shape {
  const { format, contentEncoding, contentMediaType: media } = schema;
  const accept =
    typeof media === "string" && /^[\w.+*/-]+$/.test(media) ? media : "";
  if (
    contentEncoding === "base64" ||
    format === "binary" ||
    format === "byte" ||
    format === "data-url"
  )
    return { kind: "file", url: format === "data-url", accept };
  const samples = [schema["default"], ...examplesOf(schema)];
  const long =
    typeof schema["maxLength"] === "number" && schema["maxLength"] > 200;
  const lines =
    long ||
    /^text\//.test(accept) ||
    ["multiline", "textarea", "markdown"].includes(String(format)) ||
    samples.some((each) => typeof each === "string" && each.includes("\n"));
  const input =
    INPUTS.get(String(format)) ??
    (schema["writeOnly"] === true ? "password" : "text");
  return { kind: "text", lines: lines && input === "text", input };
}

const json = (why: string): Shape => ({ kind: "json", why });

/** Where a schema names no type, what it says of its members tells it. */
function guess(schema: Schema): string | undefined {
  if ("properties" in schema || "required" in schema) return "object";
  if ("items" in schema || "prefixItems" in schema) return "array";
  if ("pattern" in schema || "maxLength" in schema || "format" in schema)
    return "string";
  if ("minimum" in schema || "maximum" in schema) return "number";
  return undefined;
}

/** What a field is called, and what is said of it. */
export const titleOf = (schema: Schema): string | undefined =>
  typeof schema["title"] === "string" && schema["title"].trim()
    ? schema["title"]
    : undefined;

export function examplesOf(schema: Schema): Json[] {
  const { examples, example } = schema;
  if (Array.isArray(examples)) return (examples as Json[]).slice(0, 5);
  return example === undefined ? [] : [example as Json];
}

/** The kind of value that a schema is for, in a word. */
function nameOf(schema: Schema): string {
  if ("const" in schema) return shown(schema["const"]);
  if (Array.isArray(schema["enum"])) return "one of a list";
  const type = schema["type"] ?? guess(schema);
  return typeof type === "string" ? (TYPES.get(type) ?? type) : "any value";
}

export const shown = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

const TYPES = new Map([
  ["string", "text"],
  ["integer", "whole number"],
  ["boolean", "yes or no"],
  ["array", "list"],
  ["null", "null"],
]);
const INPUTS = new Map([
  ["date", "date"],
  ["email", "email"],
  ["uri", "url"],
  ["url", "url"],
  ["password", "password"],
  ["time", "text"],
]);
/** How many fields an object has at most, and how many values or kinds there are to choose from. */
const FIELDS = 100;
const CHOICES = 1_000;
const OPTIONS = 20;
/** How far references are followed. */
const FOLLOWED = 32;
