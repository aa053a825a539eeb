/** The state of a form: one value, and what is wrong with it. */
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { judgeOf, type Faults } from "./check.js";
import { isObject, type Schema } from "./schema.js";
import type { Change } from "./sheet.js";
import { begin, LOSSY, read, type Fields, type Value } from "./value.js";
import { withoutForm } from "./weight.js";

export type Given = {
  /** A stranger's; nothing where the host process found it too large. */
  schema: unknown;
  /** What the form is filled in with at first, in place of the schema's defaults. */
  start?: Fields | undefined;
};

export type Arguments = ReturnType<typeof useArguments>;

export function useArguments({ schema: given, start }: Given) {
  const id = useId();
  const of = useMemo(() => schemaOf(given), [given]);
  const { why, root, judge } = of;
  // The newest value, also for who reads it before it is drawn.
  const value = useRef<Fields>(undefined as unknown as Fields);
  value.current ??= start ?? asFields(why ? {} : begin(root, root));
  const [text, setText] = useState(() => printed(value.current));
  const [tab, setTab] = useState(why ? "json" : "form");
  const [faults, setFaults] = useState<Faults>(NONE);
  const tried = useRef(false);
  const [, draw] = useState(0);
  const unread = useRef(new Map<string, string>()).current;
  const chosen = useRef(new Map<string, number>()).current;
  const put = (to: Fields) => {
    value.current = to;
    if (tried.current) setFaults(judge(to).faults);
    draw((n) => n + 1);
  };
  useEffect(() => {
    if (!start) return;
    unread.clear();
    setText(printed(start));
    put(start);
  }, [start]);
  const typeText = (to: string) => {
    setText(to);
    unread.delete(WHOLE);
    const { fields, why: wrong } = readFields(to);
    if (wrong) unread.set(WHOLE, wrong);
    put(fields ?? value.current);
  };
  const choose = (to: string) => {
    // What is no value yet stays to be seen where it was written.
    if (to === "form" && unread.has(WHOLE)) return;
    if (to === "json") setText(printed(value.current));
    setTab(to);
  };
  /** The value, if there is nothing wrong with it. */
  const collect = (): Fields | undefined => {
    tried.current = true;
    const { faults: found } = judge(value.current);
    setFaults(found);
    return unread.size === 0 && found.size === 0 ? value.current : undefined;
  };
  const change = (update: Change) => put(asFields(update(value.current)));
  const state = { id, tab, text, faults, unread, chosen, value: value.current };
  return { ...of, ...state, typeText, choose, collect, change };
}

/** What a form needs to know of a schema. */
function schemaOf(given: unknown) {
  const why = given === undefined ? TOO_LARGE : withoutForm(given);
  const root: Schema = isObject(given) ? given : {};
  const judge = judgeOf(root);
  const { note } = given === undefined ? {} : judge({});
  const members = ["properties", "$ref", "allOf", "anyOf", "oneOf"];
  const empty = !members.some((name) => name in root);
  return { why, root, judge, note, empty };
}

function readFields(text: string): { fields?: Fields; why?: string } {
  try {
    const value = read(text);
    return isObject(value)
      ? { fields: value as Fields }
      : { why: "Write a JSON object." };
  } catch (error) {
    const lossy = error instanceof Error && error.message === LOSSY;
    return { why: lossy ? LOSSY : "Write a JSON object." };
  }
}

const printed = (value: Fields) => JSON.stringify(value, null, 2);
const asFields = (value: Value): Fields =>
  isObject(value) ? (value as Fields) : {};

const NONE: Faults = new Map();
const TOO_LARGE = "Its schema is too large to be shown here.";
/** Where it is kept what is wrong with the whole text. */
export const WHOLE = "#";
