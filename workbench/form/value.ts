/** Values of a form: what it begins with, and values with one member changed. A value that is not sent is `undefined`, which is not `null`. */
import {
  isObject,
  resolve,
  shapeOf,
  type Json,
  type Schema,
} from "./schema.js";

export type Value = Json | undefined;
export type Fields = { [name: string]: Json };

/** What a form begins with: defaults, and what is needed and can only be one thing. */
export function begin(given: unknown, root: Schema, depth = 0): Value {
  const schema = resolve(given, root);
  if (!schema || depth > DEEP) return undefined;
  // Many servers say `null` of whatever may be left out: it is left out.
  if (schema["default"] !== undefined && schema["default"] !== null)
    return structuredClone(schema["default"]) as Json;
  const shape = shapeOf(schema, root);
  if (shape.kind === "object") {
    const value: Fields = {};
    for (const { name, schema: each, needed } of shape.fields) {
      const inner = resolve(each, root);
      const has = inner?.["default"] !== undefined && inner["default"] !== null;
      const begun = needed || has ? begin(each, root, depth + 1) : undefined;
      if (begun !== undefined) put(value, name, begun);
    }
    return value;
  }
  if (shape.kind === "choice" && shape.values.length === 1)
    return shape.values[0];
  if (shape.kind === "null") return null;
  if (shape.kind === "array" && shape.least === 0) return [];
  if (shape.kind === "boolean") return false;
  return undefined;
}

/** The object with one member set, or without it. */
export function withMember(object: Value, name: string, value: Value): Fields {
  const fields: Fields = {};
  for (const [key, each] of Object.entries(isObject(object) ? object : {}))
    if (key !== name) put(fields, key, each as Json);
    else if (value !== undefined) put(fields, key, value);
  if (value !== undefined && !Object.hasOwn(fields, name))
    put(fields, name, value);
  return fields;
}

/** A stranger names the members, `__proto__` too. */
function put(object: Fields, name: string, value: Json): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

export const memberOf = (value: Value, name: string): Value =>
  isObject(value) && Object.hasOwn(value, name)
    ? (value[name] as Json)
    : undefined;

/** Reads what was typed as JSON; an error where it is none, or where a number would lose digits. */
export function read(text: string): Json {
  const value = JSON.parse(text) as Json;
  if (exact(text)) return value;
  throw new Error(LOSSY);
}

/** Whether every number of a JSON text is the same number after it was read. */
export function exact(text: string): boolean {
  const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  return (outside.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? []).every(
    (number) => same(number, String(Number(number))),
  );
}

/** Whether two numbers are written with the same digits, whatever the spelling. */
const same = (one: string, other: string) => digits(one) === digits(other);

function digits(number: string): string {
  const [mantissa = "", exponent = "0"] = number.toLowerCase().split("e");
  const [whole = "", part = ""] = mantissa.replace("-", "").split(".");
  const all = (whole + part).replace(/^0+/, "");
  const kept = all.replace(/0+$/, "");
  if (kept === "") return "0";
  const places = Number(exponent) - part.length + (all.length - kept.length);
  return `${number.startsWith("-") ? "-" : ""}${kept}e${places}`;
}

export const LOSSY =
  "A number has more digits than this page can carry exactly.";
/** How deep values are begun that are needed within one another. */
const DEEP = 6;
