/** One field of a form: its name, the way to write its value, what is said of it, and what is wrong with it. */
import { useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import { Many, Members } from "./nested.js";
import {
  examplesOf,
  resolve,
  shapeOf,
  shown,
  titleOf,
  type Option,
  type Schema,
  type Shape,
} from "./schema.js";
import type { FieldProps, WriterProps } from "./sheet.js";
import { begin, type Value } from "./value.js";
import { Choice, File, JsonText, Num, Switch, Text } from "./writers.js";

export function Field(props: FieldProps) {
  const { sheet, at } = props;
  const schema = resolve(props.schema, sheet.root);
  const shape = schema ? shapeAt(schema, sheet.root, props.depth) : UNFOLLOWED;
  const id = `${sheet.id}${at}`;
  const fault = sheet.unread.get(at) ?? sheet.faults.get(at);
  const about = {
    "aria-describedby": `${id}-about ${id}-fault`,
    "aria-invalid": fault !== undefined,
  };
  const set = (to: Value) => props.change(() => to);
  const own = { ...props, set, schema: schema ?? {}, id, about };
  // The whole of the arguments needs no name.
  if (at === "" && shape.kind !== "union")
    return <Writer {...own} shape={shape} />;
  const group = isGroup(shape) && {
    role: "group" as const,
    "aria-label": labelOf(own),
  };
  return (
    <div class={`field ${shape.kind}`} data-at={at} {...group}>
      <Head {...own} shape={shape} />
      <Writer {...own} shape={shape} />
      <About id={`${id}-about`} schema={own.schema} shape={shape} />
      <p class="fault" id={`${id}-fault`} role={fault ? "alert" : undefined}>
        {fault}
      </p>
    </div>
  );
}

const shapeAt = (schema: Schema, root: Schema, depth: number): Shape =>
  depth > DEEP
    ? { kind: "json", why: "It lies too deep for a form." }
    : shapeOf(schema, root);

const UNFOLLOWED: Shape = {
  kind: "json",
  why: "Its schema cannot be followed to its end.",
};
const isGroup = ({ kind }: Shape) => kind === "object" || kind === "array";
const labelOf = ({ schema, name }: WriterProps) => titleOf(schema) ?? name;

/** The name of a field, which kind of value it is to be, and the way to send none. */
function Head({ shape, ...props }: WriterProps & { shape: Shape }) {
  const { sheet, at, id, name, needed, value, set } = props;
  const label = labelOf(props);
  // What holds fields is a group of that name, and no field.
  const Name = isGroup(shape) ? "span" : "label";
  const clear = () => {
    sheet.unread.delete(at);
    set(undefined);
  };
  return (
    <div class="field-head">
      <Name
        {...(Name === "label" && { for: id })}
        title={label === name ? undefined : name}
      >
        {label}
        {needed && (
          <span class="needed" title="This is needed">
            {" *"}
          </span>
        )}
      </Name>
      {shape.kind === "union" && (
        <Union {...props} options={shape.options} part="kinds" />
      )}
      {!needed && (value !== undefined || sheet.unread.has(at)) && (
        <Button
          quiet
          icon="close"
          class="clear"
          aria-label={`Do not send ${name}`}
          title="Do not send it"
          onClick={clear}
        />
      )}
    </div>
  );
}

/** The way to write a value of one shape. */
function Writer({ shape, ...props }: WriterProps & { shape: Shape }) {
  switch (shape.kind) {
    case "object":
      return <Members {...props} shape={shape} />;
    case "array":
      return <Many {...props} shape={shape} />;
    case "choice":
      return <Choice {...props} values={shape.values} names={shape.names} />;
    case "boolean":
      return <Switch {...props} />;
    case "number":
      return <Num {...props} whole={shape.whole} />;
    case "text":
      return <Text {...props} lines={shape.lines} input={shape.input} />;
    case "file":
      return <File {...props} url={shape.url} accept={shape.accept} />;
    case "null":
      return <code id={props.id}>null</code>;
    case "union":
      return <Union {...props} options={shape.options} part="value" />;
    case "json":
      return <JsonText {...props} why={shape.why} />;
  }
}

/** A value of one of several kinds: which one, and the value of that kind. */
function Union({
  options,
  part,
  ...props
}: WriterProps & { options: Option[]; part: "kinds" | "value" }) {
  const { sheet, at, value, set } = props;
  const [, draw] = useState(0);
  const asked = sheet.chosen.get(at);
  const fitting = options.findIndex(({ schema }) =>
    fits(value, shapeOf(schema, sheet.root)),
  );
  const now =
    asked !== undefined &&
    asked < options.length &&
    (value === undefined ||
      fits(value, shapeOf(options[asked]!.schema, sheet.root)))
      ? asked
      : Math.max(0, fitting);
  if (part === "kinds") {
    const choose = (to: number) => {
      sheet.chosen.set(at, to);
      sheet.unread.delete(at);
      set(begin(options[to]!.schema, sheet.root));
      draw((n) => n + 1);
    };
    return (
      <select
        class="kinds"
        aria-label={`Kind of ${props.name}`}
        value={String(now)}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        {options.map(({ title }, each) => (
          <option key={each} value={String(each)}>
            {title}
          </option>
        ))}
      </select>
    );
  }
  const schema = options[now]?.schema ?? {};
  return (
    <Writer
      key={now}
      {...props}
      schema={schema}
      shape={shapeOf(schema, sheet.root)}
    />
  );
}

/** Whether a value is of a shape, at first sight. */
function fits(value: Value, shape: Shape): boolean {
  switch (shape.kind) {
    case "null":
      return value === null;
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return (
        typeof value === "number" && (!shape.whole || Number.isInteger(value))
      );
    case "text":
    case "file":
      return typeof value === "string";
    case "array":
      return Array.isArray(value);
    case "object":
      return (
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        shape.fields.every(
          ({ name, needed }) => !needed || Object.hasOwn(value, name),
        )
      );
    case "choice":
      return shape.values.some((each) => shown(each) === shown(value));
    case "union":
    case "json":
      return value !== undefined;
  }
}

/** What the schema says of a field beside its name. */
function About({
  id,
  schema,
  shape,
}: {
  id: string;
  schema: Schema;
  shape: Shape;
}) {
  const { description } = schema;
  const said = [
    typeof description === "string" ? description : "",
    limits(schema),
  ];
  if (shape.kind === "json") said.push(shape.why);
  if (schema["default"] === null)
    said.push("The server takes it for null if it is not sent.");
  const examples = examplesOf(schema).map((each) => shown(each).slice(0, 60));
  if (examples.length) said.push(`For example: ${examples.join(", ")}`);
  if (schema["deprecated"] === true) said.push("Deprecated.");
  return <small id={id}>{said.filter(Boolean).join(" ")}</small>;
}

/** The limits of a schema in words. */
function limits(schema: Schema): string {
  const is = (name: string) =>
    typeof schema[name] === "number" ? (schema[name] as number) : undefined;
  const range = (
    least: number | undefined,
    most: number | undefined,
    of: string,
  ) => {
    if (least !== undefined && most !== undefined)
      return `From ${least} to ${most}${of}.`;
    if (least !== undefined) return `At least ${least}${of}.`;
    return most === undefined ? "" : `At most ${most}${of}.`;
  };
  return [
    range(is("minimum"), is("maximum"), ""),
    is("exclusiveMinimum") === undefined
      ? ""
      : `More than ${is("exclusiveMinimum")}.`,
    is("exclusiveMaximum") === undefined
      ? ""
      : `Less than ${is("exclusiveMaximum")}.`,
    is("multipleOf") === undefined ? "" : `In steps of ${is("multipleOf")}.`,
    range(is("minLength") || undefined, is("maxLength"), " characters"),
    range(is("minItems") || undefined, is("maxItems"), " items"),
  ]
    .filter(Boolean)
    .join(" ");
}

/** How deep fields are drawn within one another. */
const DEEP = 8;
