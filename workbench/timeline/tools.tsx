/** What the person can do with the timeline: look for something, stop it, save it, open another. */
import type { Signal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { Button } from "../parts/button.js";
import type { Wanted } from "./find.js";
import { paused } from "./live.js";
import type { Rows } from "./rows.js";

export function Tools({
  rows,
  shown,
  wanted,
  isLive,
  clear,
  open,
  compare,
  record,
}: {
  rows: Rows;
  shown: number;
  wanted: Signal<Wanted>;
  isLive: boolean;
  clear: () => void;
  open: (file: File) => void;
  compare: (file: File) => void;
  record: () => void;
}) {
  const count = rows.rows.length;
  return (
    <div class="timeline-tools" role="toolbar" aria-label="Timeline">
      <Filters rows={rows} wanted={wanted} />
      <span class="count" role="status">
        {shown === count ? `${count}` : `${shown} of ${count}`}
      </span>
      <span class="gap" />
      {isLive && (
        <>
          <Button
            icon={paused.value ? "run" : "stop"}
            aria-pressed={paused.value}
            onClick={() => (paused.value = !paused.value)}
          >
            {paused.value ? "Go on" : "Pause"}
          </Button>
          <Button onClick={clear}>Clear</Button>
          <Button
            icon="save"
            onClick={record}
            title="Everything that is kept, without secrets"
          >
            Save trace
          </Button>
        </>
      )}
      <Pick icon="page" words="Open trace" take={open} />
      <Pick icon="copy" words="Compare with…" take={compare} />
    </div>
  );
}

function Filters({ rows, wanted }: { rows: Rows; wanted: Signal<Wanted> }) {
  const change = (part: Partial<Wanted>) =>
    (wanted.value = { ...wanted.value, ...part });
  const { text, wire, view, bad, events } = wanted.value;
  const count = rows.rows.length;
  const views = useMemo(() => viewsOf(rows), [rows, Math.floor(count / 50)]);
  return (
    <>
      <input
        type="search"
        placeholder="Search methods and messages"
        aria-label="Search methods and messages"
        value={text}
        onInput={({ currentTarget }) => change({ text: currentTarget.value })}
      />
      <select
        aria-label="Wire"
        value={wire}
        onChange={({ currentTarget }) =>
          change({ wire: currentTarget.value as Wanted["wire"] })
        }
      >
        <option value="both">Both wires</option>
        <option value="view">Views and gate</option>
        <option value="server">Gate and servers</option>
      </select>
      <select
        aria-label="View"
        value={view}
        onChange={({ currentTarget }) => change({ view: currentTarget.value })}
      >
        <option value="">All views</option>
        {[...views].map(([id, title]) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
      <Button aria-pressed={bad} onClick={() => change({ bad: !bad })}>
        Problems
      </Button>
      <Button aria-pressed={events} onClick={() => change({ events: !events })}>
        Events
      </Button>
    </>
  );
}

/** A button that lets the person choose a file. */
function Pick({
  icon,
  words,
  take,
}: {
  icon: "page" | "copy";
  words: string;
  take: (file: File) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon={icon} onClick={() => input.current?.click()}>
        {words}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".jsonl,.ndjson,application/jsonl"
        class="pick"
        tabIndex={-1}
        aria-label={words}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          // The same file can be chosen again.
          currentTarget.value = "";
          if (file) take(file);
        }}
      />
    </>
  );
}

/** The views that something was said about, with the tool that each is of. */
function viewsOf({ rows }: Rows): Map<string, string> {
  const views = new Map<string, string>();
  for (const { moment } of rows) {
    const { view, server, tool, kind } = moment;
    if (view === undefined) continue;
    if (kind === "opened") views.set(view, `${server ?? ""} ${tool ?? ""}`);
    else if (!views.has(view))
      views.set(view, `${server ?? ""} ${view.slice(0, 8)}`);
    if (views.size > MOST) break;
  }
  return views;
}

const MOST = 200;
