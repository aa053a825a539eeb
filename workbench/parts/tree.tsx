/** A JSON value as a tree that unfolds. A stranger wrote it: it may be deep, wide and long, and is drawn as far as it is opened. */
import { useState } from "preact/hooks";

export function Tree({
  value,
  name,
  open = 1,
}: {
  value: unknown;
  /** What the value is called, before its first line. */
  name?: string;
  /** How many levels are open at first. */
  open?: number;
}) {
  return (
    <ul class="tree" role="tree" aria-label={name ?? "Value"}>
      <Node name={name} value={value} open={open} />
    </ul>
  );
}

function Node({
  name,
  value,
  open,
}: {
  name?: string | undefined;
  value: unknown;
  open: number;
}) {
  const [unfolded, setUnfolded] = useState(open > 0);
  const [many, setMany] = useState(MANY);
  const entries = entriesOf(value);
  if (!entries)
    return (
      <li role="treeitem" class="leaf">
        {name !== undefined && <Name name={name} />}
        <Leaf value={value} />
      </li>
    );
  const fold = () => setUnfolded(!unfolded);
  return (
    <li role="treeitem" aria-expanded={unfolded}>
      <button type="button" class="fold" onClick={fold}>
        {name !== undefined && <Name name={name} />}
        <span class="count">{countOf(value, entries.length)}</span>
      </button>
      {unfolded && (
        <ul role="group">
          {entries.slice(0, many).map(([key, each]) => (
            <Node key={key} name={key} value={each} open={open - 1} />
          ))}
          {entries.length > many && (
            <li role="treeitem">
              <button
                type="button"
                class="fold more"
                onClick={() => setMany(many * 10)}
              >
                {`${entries.length - many} more…`}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

const Name = ({ name }: { name: string }) => <b class="name">{name}</b>;

function Leaf({ value }: { value: unknown }) {
  const [whole, setWhole] = useState(false);
  const text = JSON.stringify(value) ?? "undefined";
  const kind = value === null ? "null" : typeof value;
  if (text.length <= LONG || whole) return <span class={kind}>{text}</span>;
  return (
    <>
      <span class={kind}>{text.slice(0, LONG)}</span>
      <button type="button" class="fold more" onClick={() => setWhole(true)}>
        {`… ${text.length - LONG} more characters`}
      </button>
    </>
  );
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value);
}

function countOf(value: unknown, count: number): string {
  return Array.isArray(value) ? `[${count}]` : `{${count}}`;
}

/** How many members of a value are drawn at first. */
const MANY = 100;
/** How many characters of a text are drawn at first. */
const LONG = 400;
