/** What passes on both wires: between views and the gate, and between the gate and servers. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { request } from "../api.js";
import { Button } from "../parts/button.js";
import { Empty } from "../parts/empty.js";
import { VirtualList } from "../parts/list.js";
import { Details } from "../timeline/details.js";
import { EVERYTHING, Found, type Wanted } from "../timeline/find.js";
import {
  clear,
  forgotten,
  grown,
  live,
  trouble,
  watch,
} from "../timeline/live.js";
import { openTrace, type Trace } from "../timeline/open.js";
import { Overview } from "../timeline/overview.js";
import { Line } from "../timeline/line.js";
import type { Row, Rows } from "../timeline/rows.js";
import { save } from "../timeline/save.js";
import { Tools } from "../timeline/tools.js";
import { Differences } from "../timeline/differences.js";

/** What the person looks for. */
const wanted = signal<Wanted>(EVERYTHING);
const chosen = signal<Row | undefined>(undefined);
/** A trace from a file, which is shown in place of this run. */
const opened = signal<Trace | undefined>(undefined);
/** Another one, which it is compared with. */
const beside = signal<Trace | undefined>(undefined);
const failed = signal("");

export function TimelinePane() {
  useEffect(watch, []);
  const rows = opened.value?.rows ?? live.rows;
  // This run grows.
  void [grown.value, forgotten.value];
  const found = useFound(rows, wanted.value);
  const range = rangeOf(rows, wanted.value);
  const key = (event: KeyboardEvent) => {
    const by = STEPS[event.key];
    if (by === undefined || event.target instanceof HTMLInputElement) return;
    const at = chosen.value ? found.indexOf(chosen.value) : -1;
    const next = found[Math.min(found.length - 1, Math.max(0, at + by))];
    if (!next) return;
    event.preventDefault();
    chosen.value = next;
  };
  return (
    <section class="timeline" aria-label="Timeline" onKeyDown={key}>
      <Tools
        rows={rows}
        shown={found.length}
        wanted={wanted}
        isLive={opened.value === undefined}
        clear={() => {
          chosen.value = undefined;
          clear();
        }}
        open={(file) => void open(file, opened)}
        compare={(file) => void open(file, beside)}
        record={() => void saveTrace()}
      />
      <Notices />
      {beside.value ? (
        <Differences
          one={rows}
          other={beside.value}
          name={opened.value?.name ?? "this run"}
          close={() => (beside.value = undefined)}
        />
      ) : (
        <>
          <Overview rows={rows} range={range} wanted={wanted} />
          {found.length === 0 ? (
            <Nothing any={rows.rows.length > 0} />
          ) : (
            <Body found={found} range={range} />
          )}
        </>
      )}
    </section>
  );
}

/** The list, and what was chosen in it. */
function Body({
  found,
  range,
}: {
  found: readonly Row[];
  range: [number, number];
}) {
  return (
    <div class="timeline-body">
      <VirtualList
        class="timeline-list"
        items={found}
        keyOf={(row) => row.moment.n}
        height={26}
        label="Messages"
        follow={opened.value === undefined}
        at={chosen.value ? found.indexOf(chosen.value) : undefined}
        draw={(row) => (
          <Line
            row={row}
            range={range}
            chosen={row === chosen.value}
            choose={() =>
              (chosen.value = row === chosen.value ? undefined : row)
            }
          />
        )}
      />
      {chosen.value && (
        <Details
          key={chosen.value.moment.n}
          row={chosen.value}
          isLive={opened.value === undefined}
          choose={(row) => (chosen.value = row)}
          close={() => (chosen.value = undefined)}
        />
      )}
    </div>
  );
}

function Nothing({ any }: { any: boolean }) {
  return any ? (
    <Empty icon="search" title="Nothing fits">
      No message fits what you look for.
    </Empty>
  ) : (
    <Empty icon="time" title="Nothing has passed yet">
      From now on every message between views, Transom and servers is shown
      here. Run a tool, or open a trace that somebody recorded.
    </Empty>
  );
}

/** What the person should know about what is shown. */
function Notices() {
  const troubles = [
    ...(opened.value?.troubles ?? []),
    ...(opened.value || trouble.value === "" ? [] : [trouble.value]),
    ...(failed.value === "" ? [] : [failed.value]),
  ];
  if (!opened.value && troubles.length === 0) return null;
  return (
    <div class="notices" role="status">
      {opened.value && (
        <p>
          <b>{opened.value.name}</b>: {opened.value.rows.rows.length} moments,
          recorded {recordedAt(opened.value.rows)}.{" "}
          <Button quiet onClick={() => leave()}>
            Back to this run
          </Button>
        </p>
      )}
      {troubles.map((each) => (
        <p key={each} class="warning">
          {each}
        </p>
      ))}
    </div>
  );
}

function recordedAt(rows: Rows): string {
  const began = rows.head?.began;
  return typeof began === "number" && Math.abs(began) < 8e15
    ? new Date(began).toLocaleString()
    : "at an unknown time";
}

function leave() {
  opened.value = undefined;
  chosen.value = undefined;
  wanted.value = EVERYTHING;
}

async function open(file: File, into: typeof opened) {
  failed.value = "";
  try {
    if (file.size > LARGEST)
      throw new Error("it is larger than this page can hold (512 MB)");
    const trace = await openTrace(file.name, await file.text());
    chosen.value = undefined;
    if (into === opened) wanted.value = EVERYTHING;
    into.value = trace;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    failed.value = `${file.name} could not be opened: ${why}.`;
  }
}

async function saveTrace() {
  failed.value = "";
  try {
    const response = await request("/api/trace");
    const name = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
    save(`transom-${name}.jsonl`, await response.blob());
  } catch {
    failed.value = "The trace could not be saved: the host process is gone.";
  }
}

/** The rows that fit, found some thousand at a time. */
function useFound(rows: Rows, looked: Wanted): readonly Row[] {
  const [, again] = useState(0);
  const kept = useRef<{ found: Found; key: unknown[] } | undefined>(undefined);
  const key = [rows, looked, forgotten.value];
  const same = kept.current?.key.every((each, at) => each === key[at]);
  if (!kept.current || !same)
    kept.current = { found: new Found(rows.rows, looked), key };
  const { found } = kept.current;
  const more = found.more();
  useEffect(() => {
    if (!more) return;
    const timer = setTimeout(() => again((n) => n + 1));
    return () => clearTimeout(timer);
  });
  return found.shown;
}

/** From when to when what is shown goes, in microseconds. */
function rangeOf({ rows }: Rows, { from, to }: Wanted): [number, number] {
  const first = rows[0]?.moment.at ?? 0;
  const last = rows[rows.length - 1]?.moment.at ?? 0;
  return [from ?? first, Math.max(to ?? last, (from ?? first) + 1)];
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
const LARGEST = 512e6;
