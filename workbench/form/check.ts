/** Judges a value by its schema, in words beside the field that is wrong. The server judges again; this spares a round. */
import {
  Validator,
  type OutputUnit,
  type SchemaDraft,
} from "@cfworker/json-schema";
import { isObject, type Json, type Schema } from "./schema.js";
import { obstacle } from "./weight.js";

/** What is wrong, by the place in the value: `` for all of it, `/a/0` for a member. */
export type Faults = ReadonlyMap<string, string>;

/** What is wrong with a value; `notes` says what could not be judged. */
export type Judge = (value: Json) => { faults: Faults; note?: string };

/** Makes a judge of a schema. What a schema cannot be judged by, is left to the server. */
export function judgeOf(schema: Schema): Judge {
  const none: Faults = new Map();
  const why = obstacle(schema);
  if (why)
    return () => ({
      faults: none,
      note: `${why} Only the server judges what you write.`,
    });
  const left: string[] = [];
  let validator: Validator;
  try {
    const safe = withoutPatterns(schema, left) as Schema;
    validator = new Validator(safe, draftOf(schema), false);
  } catch {
    return () => ({
      faults: none,
      note: "Its schema cannot be read. Only the server judges what you write.",
    });
  }
  const note = left.length
    ? { note: "A pattern of its schema is judged by the server alone." }
    : {};
  return (value) => {
    try {
      const { valid, errors } = validator.validate(value);
      return { faults: valid ? none : faultsOf(errors), ...note };
    } catch {
      return {
        faults: none,
        note: "Its schema cannot be followed. Only the server judges what you write.",
      };
    }
  };
}

/** The draft that a schema names; MCP's own where it names none. */
export function draftOf(schema: Schema): SchemaDraft {
  const named = typeof schema["$schema"] === "string" ? schema["$schema"] : "";
  if (named.includes("draft-04")) return "4";
  if (named.includes("draft-06") || named.includes("draft-07")) return "7";
  return named.includes("2019-09") ? "2019-09" : "2020-12";
}

/**
 * The schema without the patterns that may take a browser for ever: a stranger wrote them, and they run in this page. What repeats a
 * group may be such a pattern.
 */
function withoutPatterns(part: unknown, left: string[]): unknown {
  if (Array.isArray(part))
    return part.map((each) => withoutPatterns(each, left));
  if (!isObject(part)) return part;
  const entries = Object.entries(part).flatMap(([name, value]) => {
    if (name === "pattern" && typeof value === "string" && !isTame(value)) {
      left.push(value);
      return [];
    }
    if (name === "patternProperties" && isObject(value)) {
      const wild = Object.keys(value).filter((each) => !isTame(each));
      left.push(...wild);
      // Without one of them, what is an additional property cannot be told.
      if (wild.length) return [];
    }
    if (["const", "enum", "default", "examples"].includes(name))
      return [[name, value]];
    return [[name, withoutPatterns(value, left)]];
  });
  return Object.fromEntries(entries);
}

function isTame(pattern: string): boolean {
  if (pattern.length > 200 || REPEATED_GROUP.test(pattern)) return false;
  // Several that repeat without end take the square, the cube and so on of the time.
  if ((pattern.match(/[*+]|\{\d+,\}/g) ?? []).length > 3) return false;
  try {
    return RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function faultsOf(errors: OutputUnit[]): Faults {
  const faults = new Map<string, string>();
  const say = (at: string, words: string) => {
    if (!faults.has(at)) faults.set(at, words);
  };
  const either = errors.filter(
    ({ keyword }) => keyword === "anyOf" || keyword === "oneOf",
  );
  const within = (error: OutputUnit) =>
    either.find(
      ({ keywordLocation: at }) =>
        error !== undefined && error.keywordLocation.startsWith(`${at}/`),
    );
  for (const error of errors) {
    if (SUMMARIES.has(error.keyword)) continue;
    const at = error.instanceLocation.slice(1);
    const union = within(error);
    // Of the kinds that a value may be, the one counts that it was meant to be: the one that a member of it is wrong for.
    if (
      union &&
      at === union.instanceLocation.slice(1) &&
      error.keyword === "type"
    )
      continue;
    const missing =
      error.keyword === "required" ? MISSING.exec(error.error)?.[1] : undefined;
    if (missing !== undefined)
      say(`${at}/${escape(missing)}`, "This is needed.");
    else say(at, wordsOf(error));
  }
  for (const { instanceLocation } of either) {
    const at = instanceLocation.slice(1);
    if (
      ![...faults.keys()].some(
        (each) => each === at || each.startsWith(`${at}/`),
      )
    )
      say(at, "This fits none of the kinds that it may be.");
  }
  if (faults.size === 0) say("", "This does not fit the schema.");
  return faults;
}

/** A step of a place in a value, as JSON Pointer writes it, and the validator too. */
export const escape = (name: string) =>
  encodeURI(name.replaceAll("~", "~0").replaceAll("/", "~1")).replaceAll(
    "#",
    "%23",
  );

function wordsOf({ keyword, error }: OutputUnit): string {
  const simple = WORDS.get(keyword);
  if (simple) return simple;
  // The validator's own words name the value and the limit.
  return error
    .replace(/^Instance /, "The value ")
    .replace(/^String /, "The text ");
}

const SUMMARIES = new Set([
  "properties",
  "items",
  "prefixItems",
  "allOf",
  "anyOf",
  "oneOf",
  "$ref",
  "additionalItems",
  "if",
  "then",
  "else",
  "patternProperties",
  "dependentSchemas",
  "contains",
]);
const WORDS = new Map([
  ["type", "This is another kind of value than is asked for."],
  ["enum", "Choose one of the values."],
  ["const", "This can be one value only."],
  ["format", "This is not written in the form that is asked for."],
  ["pattern", "This does not match the pattern that is asked for."],
  ["additionalProperties", "There is a member that may not be there."],
  ["false", "This may not be there."],
]);
const MISSING = /required property "(.*)"\.$/s;
/** A group that repeats, or a reference to what one matched. */
const REPEATED_GROUP = /\)(?:[*+]|\{)|\\[1-9k]/;
