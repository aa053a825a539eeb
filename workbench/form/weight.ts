/**
 * How much a schema is with every reference followed. A short text can be very large, or without end, and who wrote it is a
 * stranger: so it is weighed before a form is drawn from it, and before anything is judged by it.
 */
import { isObject, lookUp, resolve, type Schema } from "./schema.js";

/** Why there is no form for a schema, in words; nothing where there is one. */
export function withoutForm(schema: unknown): string | undefined {
  if (schema === undefined) return undefined;
  if (!isObject(schema)) return "Its schema is none: it is no JSON object.";
  const why = obstacle(schema);
  if (why) return why;
  const top = resolve(schema, schema);
  if (!top) return "Its schema cannot be followed to its end.";
  const { type } = top;
  if (type !== undefined && ![type].flat().includes("object"))
    return "Its schema is not for an object, and arguments are one.";
  if (
    isObject(top["properties"]) &&
    Object.keys(top["properties"]).length > FIELDS
  )
    return "It takes too many arguments for a form.";
  return undefined;
}

/** Why nothing can be judged by a schema, in words. */
export function obstacle(root: Schema): string | undefined {
  const known = new Map<Schema, number>();
  const busy = new Set<Schema>();
  let why: string | undefined;
  let visits = 0;
  const visit = (given: unknown, chain: readonly Schema[]): number => {
    if (why || !isObject(given)) return 1;
    if (chain.includes(given)) why = CIRCLE;
    const before = known.get(given);
    // What was weighed below a member may still lead back to where this chain began.
    if (before !== undefined && chain.length === 0) return before;
    if (busy.has(given) && chain.length === 0) return 1;
    if (++visits > VISITS || chain.length > DEEP || busy.size > DEEP)
      why = HEAVY_WORDS;
    if (given !== root && "$id" in given) why = ELSEWHERE;
    if (why) return 1;
    const was = busy.has(given);
    busy.add(given);
    let weight = 1;
    const own = [...chain, given];
    for (const part of inPlace(given, root)) {
      if (part === undefined) why = ELSEWHERE;
      weight += visit(part, own);
    }
    if (before === undefined && !was)
      for (const part of below(given)) weight += visit(part, []);
    if (!was) busy.delete(given);
    if (weight > HEAVY) why = HEAVY_WORDS;
    const all = Math.max(weight, before ?? 0);
    known.set(given, all);
    return all;
  };
  visit(root, []);
  return why;
}

/** The schemas that hold for the same value; `undefined` for one that is not there. */
function inPlace(schema: Schema, root: Schema): unknown[] {
  const parts: unknown[] = [];
  for (const name of ["anyOf", "oneOf", "allOf"])
    if (Array.isArray(schema[name])) parts.push(...(schema[name] as unknown[]));
  for (const name of ["not", "if", "then", "else"])
    if (name in schema) parts.push(schema[name] ?? {});
  for (const name of ["dependentSchemas", "dependencies"])
    if (isObject(schema[name])) parts.push(...Object.values(schema[name]));
  if (typeof schema["$ref"] === "string")
    parts.push(lookUp(schema["$ref"], root));
  if ("$dynamicRef" in schema || "$recursiveRef" in schema)
    parts.push(undefined);
  return parts;
}

/** The schemas that hold for what is in the value. */
function below(schema: Schema): unknown[] {
  const parts: unknown[] = [];
  for (const name of ["properties", "patternProperties"])
    if (isObject(schema[name])) parts.push(...Object.values(schema[name]));
  for (const name of ["items", "prefixItems"])
    parts.push(...[schema[name]].flat());
  for (const name of MEMBERS) parts.push(schema[name]);
  return parts;
}

const MEMBERS = [
  "additionalProperties",
  "additionalItems",
  "contains",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const CIRCLE = "Its schema goes in a circle.";
const ELSEWHERE = "Its schema refers to something that is not in it.";
const HEAVY_WORDS = "Its schema is too large for a form.";
/** How many parts a schema may have, and how deep they may lie. */
const HEAVY = 20_000;
const DEEP = 200;
/** How often a part is looked at: it counts anew in every chain of parts that hold for the same value. */
const VISITS = 100_000;
/** How many arguments a form has at most. */
const FIELDS = 100;
