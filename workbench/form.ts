/** Forms for the arguments of tools, and arguments that are written piece by piece. */
import type { TransomView } from "../web/src/host.js";
import { make, pause } from "./dom.js";
import type { Form } from "./state.generated.js";

/** The part of a schema that a form is drawn from. A stranger wrote it. */
type Schema = {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
};
export type InputSchema = {
  properties?: Record<string, Schema>;
  required?: string[];
};

/**
 * Draws what is in a box when the person opens it, or at once where it is open: a server says what that is, and may say much
 * of it every second. Returns how to stop waiting for that.
 */
export function whenOpened(
  details: HTMLDetailsElement,
  content: () => HTMLElement,
): () => void {
  const stop = new AbortController();
  const draw = () => {
    stop.abort();
    details.append(content());
  };
  if (details.open) draw();
  else details.addEventListener("toggle", draw, { signal: stop.signal });
  return () => stop.abort();
}

/** A form for the arguments of a tool; what is in it, or nothing while something is wrong with it. */
export function argumentsForm(
  tool: Pick<Form, "description" | "inputSchema">,
  run: (values: Record<string, unknown>) => void,
) {
  const form = make("form", {});
  if (tool.description)
    form.append(make("p", { textContent: tool.description }));
  const schema = tool.inputSchema as InputSchema | undefined;
  const properties = Object.entries(schema?.properties ?? {});
  // The host process leaves out a schema that is too large.
  const whole =
    !schema || properties.length > FIELDS
      ? field("All arguments", { type: "object" }, false)
      : undefined;
  const fields = whole
    ? []
    : properties.map(([name, property]) =>
        field(name, property, schema?.required?.includes(name) ?? false),
      );
  form.append(
    ...(whole ? [whole] : fields).map(({ label }) => label),
    make("button", { textContent: "Run" }),
  );
  const read = () => {
    const values = {
      ...(whole?.read() as Record<string, unknown> | undefined),
    };
    for (const { name, read } of fields) {
      const value = read();
      if (value !== undefined) values[name] = value;
    }
    return form.reportValidity() ? values : undefined;
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    const values = read();
    if (values) run(values);
  };
  return { form, read };
}

/**
 * Writes arguments into a view piece by piece, from when it is there to see the first of them: a view says so by its lane or
 * its size, if it says anything. A view that has gone hears nothing of the rest.
 */
export async function write(view: TransomView, text: string): Promise<void> {
  const signs = [
    "transom-lane",
    "transom-resize",
    "transom-text",
    "transom-close",
  ] as const;
  const there = signs.map(
    (sign) =>
      new Promise((done) => view.addEventListener(sign, done, { once: true })),
  );
  await Promise.race([...there, pause(VIEW_PAUSE)]);
  for (let at = 0; at < text.length; at += PIECE) {
    const done = at + PIECE >= text.length;
    view.say({
      arguments: { text: text.slice(at, at + PIECE), ...(done && { done }) },
    });
    await pause(PIECE_PAUSE);
  }
}

type Field = { name: string; label: HTMLElement; read: () => unknown };

/** Objects and arrays are typed as JSON; everything else as what it is. */
function field(name: string, schema: Schema, required: boolean): Field {
  // An optional value is often "this or null"; here it is left out instead.
  const type = [schema.type].flat().find((each) => each !== "null");
  const label = make("label", { textContent: name + (required ? " *" : "") });
  const read =
    type === "boolean"
      ? checkbox(label, schema)
      : schema.enum
        ? choice(label, schema, required)
        : typed(label, schema, required, type);
  if (schema.description)
    label.append(make("small", { textContent: schema.description }));
  return { name, label, read };
}

function checkbox(label: HTMLElement, schema: Schema): Field["read"] {
  const input = make("input", {
    type: "checkbox",
    checked: schema.default === true,
  });
  label.prepend(input);
  return () => input.checked;
}

function choice(
  label: HTMLElement,
  schema: Schema,
  required: boolean,
): Field["read"] {
  const select = make("select", {});
  if (!required && schema.default === undefined)
    select.append(make("option", { textContent: "–", value: "" }));
  for (const value of schema.enum ?? [])
    select.append(
      make("option", {
        textContent: String(value),
        value: JSON.stringify(value),
      }),
    );
  if (schema.default !== undefined)
    select.value = JSON.stringify(schema.default);
  label.append(select);
  return () =>
    select.value ? (JSON.parse(select.value) as unknown) : undefined;
}

function typed(
  label: HTMLElement,
  schema: Schema,
  required: boolean,
  type: string | undefined,
): Field["read"] {
  const number = type === "number" || type === "integer";
  const structured = type === "object" || type === "array";
  const input = structured
    ? make("textarea", { placeholder: "JSON" })
    : make("input", { type: number ? "number" : "text" });
  if (input instanceof HTMLInputElement && number) input.step = "any";
  input.required = required;
  if (schema.default !== undefined)
    input.value = structured
      ? JSON.stringify(schema.default)
      : String(schema.default);
  label.append(input);
  input.oninput = () => input.setCustomValidity("");
  return () => {
    if (input.value === "") return undefined;
    if (!number && !structured) return input.value;
    try {
      const value: unknown = JSON.parse(input.value);
      if (type !== "object" || isObject(value)) return value;
      input.setCustomValidity("Write a JSON object.");
    } catch {
      input.setCustomValidity(
        structured ? "Write this as JSON." : "Write a number.",
      );
    }
    return undefined;
  };
}

const isObject = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** How many fields a form has at most. */
const FIELDS = 100;
/** About as fast as a model writes. */
const PIECE = 4;
const PIECE_PAUSE = 40;
/** How long a view that gives no sign of being there is waited for. */
const VIEW_PAUSE = 3_000;
