/** What all fields of one form share, and what each is given. */
import type { ComponentType } from "preact";
import { escape, type Faults } from "./check.js";
import type { Schema } from "./schema.js";
import type { Value } from "./value.js";

/** What all fields of one form share. */
export type Sheet = {
  /** Before the ids of its elements. */
  id: string;
  root: Schema;
  /** What draws a field: values with values in them have fields of their own. */
  Field: ComponentType<FieldProps>;
  faults: Faults;
  /** Fields with a text that is no value, and why; nothing is run while there is one. */
  unread: Map<string, string>;
  /** Which of several kinds a value is to be, where it does not say that itself. */
  chosen: Map<string, number>;
};

export type Change = (now: Value) => Value;

export type FieldProps = {
  sheet: Sheet;
  /** The place in the whole value, as JSON Pointer writes it. */
  at: string;
  name: string;
  schema: Schema;
  needed: boolean;
  value: Value;
  /** Changes the value from what it is by then: several fields may change before any is drawn again. */
  change: (change: Change) => void;
  depth: number;
};

/** What writes one value. */
export type WriterProps = FieldProps & {
  set: (value: Value) => void;
  /** The id of what the label is for. */
  id: string;
  /** What is spoken of beside it. */
  about: { "aria-describedby": string; "aria-invalid": boolean };
};

/** The place of a member. */
export const below = (at: string, name: string | number) =>
  `${at}/${escape(String(name))}`;
