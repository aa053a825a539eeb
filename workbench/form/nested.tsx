/** Values with values in them: the members of an object, and the items of a list. */
import { useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import { below, type Change, type WriterProps } from "./sheet.js";
import { isObject, type Json, type Shape } from "./schema.js";
import { begin, memberOf, withMember, type Value } from "./value.js";

type ObjectShape = Extract<Shape, { kind: "object" }>;
type ArrayShape = Extract<Shape, { kind: "array" }>;

export function Members({
  shape: { fields, more },
  ...props
}: WriterProps & { shape: ObjectShape }) {
  const { Field } = props.sheet;
  const { sheet, at, id, name, schema, needed, value, set, change, depth } =
    props;
  const member = (of: string) => (update: Change) =>
    change((now) => withMember(now, of, update(memberOf(now, of))));
  if (value === undefined && !needed && depth > 0)
    return (
      <Button
        icon="add"
        quiet
        id={id}
        onClick={() => set(begin(schema, sheet.root) ?? {})}
      >
        {`Add ${name}`}
      </Button>
    );
  const known = new Set(fields.map((each) => each.name));
  const others = Object.keys(isObject(value) ? value : {}).filter(
    (each) => !known.has(each),
  );
  return (
    <div class="nested" id={id} tabIndex={-1}>
      {fields.map((each) => (
        <Field
          key={each.name}
          sheet={sheet}
          at={below(at, each.name)}
          name={each.name}
          schema={each.schema}
          needed={each.needed}
          value={memberOf(value, each.name)}
          change={member(each.name)}
          depth={depth + 1}
        />
      ))}
      {others.map((other) => (
        <Field
          key={`other ${other}`}
          sheet={sheet}
          at={below(at, other)}
          name={other}
          schema={more ?? {}}
          needed={false}
          value={memberOf(value, other)}
          change={member(other)}
          depth={depth + 1}
        />
      ))}
      {more && (
        <More add={(to) => member(to)(() => begin(more, sheet.root) ?? "")} />
      )}
    </div>
  );
}

/** A member whose name the person gives. */
function More({ add }: { add: (name: string) => void }) {
  const [name, setName] = useState("");
  const put = () => {
    if (!name) return;
    add(name);
    setName("");
  };
  return (
    <div class="more-members">
      <input
        aria-label="Name of another member"
        placeholder="Another member"
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          put();
        }}
      />
      <Button icon="add" disabled={!name} onClick={put}>
        Add
      </Button>
    </div>
  );
}

export function Many({
  shape: { items, fixed, most },
  ...props
}: WriterProps & { shape: ArrayShape }) {
  const { Field } = props.sheet;
  const { sheet, at, id, name, needed, value, change, depth } = props;
  const list = listOf(value);
  const item = (place: number) => (update: Change) =>
    change((now) =>
      listOf(now).map((each, n) =>
        n === place ? (update(each) ?? null) : each,
      ),
    );
  const remove = (place: number) => {
    // What was typed and is no value moves with its item.
    for (const key of [...sheet.unread.keys()])
      if (key.startsWith(`${at}/`)) sheet.unread.delete(key);
    change((now) => listOf(now).filter((_, n) => n !== place));
  };
  const next = fixed[list.length] ?? items;
  return (
    <div class="nested" id={id} tabIndex={-1}>
      {list.map((each, place) => (
        <div class="item" key={place}>
          <Field
            sheet={sheet}
            at={below(at, place)}
            name={`${place + 1}`}
            schema={fixed[place] ?? items}
            needed={true}
            value={each}
            change={item(place)}
            depth={depth + 1}
          />
          <Button
            quiet
            icon="remove"
            aria-label={`Remove item ${place + 1} of ${name}`}
            title="Remove"
            onClick={() => remove(place)}
          />
        </div>
      ))}
      {list.length < most && (
        <Button
          icon="add"
          quiet
          onClick={() =>
            change((now) => [
              ...listOf(now),
              begin(next, sheet.root) ?? blank(next),
            ])
          }
        >
          {`Add ${list.length || !needed ? "an item" : "the first item"}`}
        </Button>
      )}
    </div>
  );
}

const listOf = (value: Value): Json[] => (Array.isArray(value) ? value : []);

/** What stands in a list until something is written there. */
function blank({ type }: { [keyword: string]: unknown }): Json {
  return type === "string" || type === undefined ? "" : null;
}
