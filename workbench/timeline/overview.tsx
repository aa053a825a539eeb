/** All of the time at a glance: how much passed when. A part of it can be chosen, by dragging or with the arrow keys. */
import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../parts/button.js";
import { colourOf } from "../parts/colour.js";
import type { Wanted } from "./find.js";
import type { Rows } from "./rows.js";
import { atOf } from "./units.js";

export function Overview({
  rows,
  range,
  wanted,
}: {
  rows: Rows;
  range: [number, number];
  wanted: Signal<Wanted>;
}) {
  const box = useRef<HTMLCanvasElement>(null);
  const drag = useRef<number | undefined>(undefined);
  const first = rows.rows[0]?.moment.at ?? 0;
  const last = rows.rows[rows.rows.length - 1]?.moment.at ?? 0;
  const count = rows.rows.length;
  useEffect(() => {
    if (box.current) paint(box.current, rows, first, last, wanted.value);
  }, [rows, count, first, last, wanted.value]);
  if (count < 2 || last === first) return null;
  const { at, choose } = chooser(box, first, last, wanted);
  const isPart =
    wanted.value.from !== undefined || wanted.value.to !== undefined;
  const step = (event: KeyboardEvent) => {
    const by = KEYS[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const [from, to] = by(range, [first, last]);
    choose(Math.max(first, from), Math.min(last, to));
  };
  return (
    <div class="overview">
      <canvas
        ref={box}
        tabIndex={0}
        role="slider"
        aria-label="Part of the time that is shown: plus and minus make it smaller and larger, the arrow keys move it"
        aria-valuemin={0}
        aria-valuemax={Math.round((last - first) / 1000)}
        aria-valuenow={Math.round((range[0] - first) / 1000)}
        aria-valuetext={`${atOf(range[0])} to ${atOf(range[1])}`}
        onKeyDown={step}
        {...dragged(box, at, choose, drag)}
      />
      <span class="from">{atOf(range[0])}</span>
      <span class="to">{atOf(range[1])}</span>
      {isPart && (
        <Button quiet onClick={() => choose(first, first)}>
          All of the time
        </Button>
      )}
    </div>
  );
}

/** What the person chooses of the time. */
function chooser(
  box: { current: HTMLCanvasElement | null },
  first: number,
  last: number,
  wanted: Signal<Wanted>,
) {
  const at = (event: PointerEvent) => {
    const { left, width } = box.current!.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - left) / width));
    return first + part * (last - first);
  };
  const choose = (one: number, other: number) => {
    const [from, to] = one < other ? [one, other] : [other, one];
    const { from: _f, to: _t, ...rest } = wanted.value;
    // A click without a drag shows everything again.
    wanted.value =
      to - from < (last - first) / 500 ? rest : { ...rest, from, to };
  };
  return { at, choose };
}

/** A part is chosen by dragging over it. */
function dragged(
  box: { current: HTMLCanvasElement | null },
  at: (event: PointerEvent) => number,
  choose: (one: number, other: number) => void,
  drag: { current: number | undefined },
) {
  return {
    onPointerDown(event: PointerEvent) {
      drag.current = at(event);
      box.current!.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent) {
      if (drag.current !== undefined && event.buttons)
        choose(drag.current, at(event));
    },
    onPointerUp(event: PointerEvent) {
      if (drag.current !== undefined) choose(drag.current, at(event));
      drag.current = undefined;
    },
  };
}

function paint(
  box: HTMLCanvasElement,
  { rows }: Rows,
  first: number,
  last: number,
  { from, to }: Wanted,
): void {
  const ratio = devicePixelRatio || 1;
  const { clientWidth, clientHeight } = box;
  box.width = Math.round(clientWidth * ratio);
  box.height = Math.round(clientHeight * ratio);
  const pen = box.getContext("2d");
  if (!pen || box.width === 0) return;
  const columns = Math.max(1, Math.floor(clientWidth / 3));
  const count = [0, 1, 2].map(() => new Float64Array(columns));
  const span = Math.max(1, last - first);
  for (const row of rows) {
    const part = (row.moment.at - first) / span;
    const column = Math.min(
      columns - 1,
      Math.max(0, Math.floor(part * columns)),
    );
    count[row.bad ? 2 : row.moment.view === undefined ? 1 : 0]![column]! += 1;
  }
  const most = Math.max(
    1,
    ...count[0]!.map((_, at) => count.reduce((sum, of) => sum + of[at]!, 0)),
  );
  const colours = ["--of-view", "--of-server", "--of-bad"].map((name) =>
    colourOf(box, name),
  );
  const width = box.width / columns;
  for (let at = 0; at < columns; at++) {
    let foot = box.height;
    count.forEach((of, kind) => {
      // A few among thousands are seen too.
      const height = Math.ceil(Math.sqrt(of[at]! / most) * box.height);
      pen.fillStyle = colours[kind]!;
      pen.fillRect(
        at * width,
        foot - height,
        Math.max(1, width - ratio),
        height,
      );
      foot -= height;
    });
  }
  if (from === undefined && to === undefined) return;
  const x = (time: number) => ((time - first) / span) * box.width;
  pen.fillStyle = colourOf(box, "--of-rest");
  pen.fillRect(0, 0, x(from ?? first), box.height);
  pen.fillRect(x(to ?? last), 0, box.width, box.height);
}

type Range = [number, number];
const KEYS: Record<string, (part: Range, all: Range) => Range> = {
  ArrowLeft: ([from, to]) => [from - (to - from) / 10, to - (to - from) / 10],
  ArrowRight: ([from, to]) => [from + (to - from) / 10, to + (to - from) / 10],
  "+": ([from, to]) => [from + (to - from) / 8, to - (to - from) / 8],
  "-": ([from, to]) => [from - (to - from) / 6, to + (to - from) / 6],
  Escape: (_, all) => [all[0], all[0]],
};
