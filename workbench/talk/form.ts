/** The form of an elicitation: flat, with fields for texts, numbers, choices and yes or no, as the specification allows. */
type Schema = {
  type?: unknown;
  title?: unknown;
  description?: unknown;
  default?: unknown;
  enum?: unknown;
  oneOf?: unknown;
  format?: unknown;
};

type Field = {
  name: string;
  needed: boolean;
  schema: Schema;
  input: HTMLInputElement | HTMLSelectElement;
};

/** The form, its value, and whether the person has filled it in so that it can be sent. */
export function formOf(schema: unknown): {
  box: HTMLElement;
  value: () => Record<string, unknown>;
  check: () => boolean;
} {
  const { properties, required } = (schema ?? {}) as {
    properties?: unknown;
    required?: unknown;
  };
  const needed = new Set(Array.isArray(required) ? required : []);
  const known =
    typeof properties === "object" && properties !== null ? properties : {};
  const box = document.createElement("form");
  box.onsubmit = (event) => event.preventDefault();
  const fields = Object.entries(known)
    .slice(0, MOST)
    .map(([name, schema]) =>
      fieldOf(name, (schema ?? {}) as Schema, needed.has(name)),
    );
  for (const field of fields) box.append(labelOf(field));
  const value = () =>
    Object.fromEntries(fields.flatMap((field) => valueOf(field)));
  return { box, value, check: () => box.reportValidity() };
}

function fieldOf(name: string, schema: Schema, needed: boolean): Field {
  const choices = choicesOf(schema);
  const input = choices ? select(choices, needed) : plain(schema);
  const given = schema.default;
  if (input instanceof HTMLInputElement && input.type === "checkbox")
    input.checked = given === true;
  else {
    if (typeof given === "string" || typeof given === "number")
      input.value = String(given);
    input.required = needed;
  }
  return { name, needed, schema, input };
}

function choicesOf({
  enum: all,
  oneOf,
}: Schema): [string, string][] | undefined {
  if (Array.isArray(all))
    return all.map((each) => [String(each), String(each)]);
  if (!Array.isArray(oneOf)) return undefined;
  return oneOf.map((each: { const?: unknown; title?: unknown }) => [
    String(each?.const),
    String(each?.title ?? each?.const),
  ]);
}

function select(
  choices: [string, string][],
  needed: boolean,
): HTMLSelectElement {
  const box = document.createElement("select");
  if (!needed) box.append(new Option("", ""));
  for (const [value, words] of choices.slice(0, MOST))
    box.append(new Option(words, value));
  return box;
}

function plain({ type, format }: Schema): HTMLInputElement {
  const input = document.createElement("input");
  input.autocomplete = "off";
  if (type === "boolean") input.type = "checkbox";
  else if (type === "integer" || type === "number") {
    input.type = "number";
    input.step = type === "integer" ? "1" : "any";
  } else
    input.type =
      { email: "email", uri: "url", date: "date" }[String(format)] ?? "text";
  return input;
}

function labelOf({ name, needed, schema, input }: Field): HTMLElement {
  const label = document.createElement("label");
  const title = typeof schema.title === "string" ? schema.title : name;
  label.append(`${title}${needed ? "" : " (optional)"}`, input);
  if (typeof schema.description === "string") {
    const small = document.createElement("small");
    small.textContent = schema.description;
    label.append(small);
  }
  return label;
}

/** What is left empty is absent. */
function valueOf({ name, schema, input }: Field): [string, unknown][] {
  if (input instanceof HTMLInputElement && input.type === "checkbox")
    return [[name, input.checked]];
  if (input.value === "") return [];
  const number = schema.type === "integer" || schema.type === "number";
  return [[name, number ? Number(input.value) : input.value]];
}

const MOST = 100;
