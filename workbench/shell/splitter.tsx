/** The edge of an area: dragged, or moved with the arrow keys; a double click or Enter folds the area. */
import { useRef } from "preact/hooks";
import {
  folded,
  NARROWEST,
  resize,
  WIDEST,
  width,
  type Side,
} from "../layout.js";

export function Splitter({ side, label }: { side: Side; label: string }) {
  const from = useRef<{ x: number; width: number } | undefined>(undefined);
  // To the right makes the left area wider, and the right one narrower.
  const sign = side === "left" ? 1 : -1;
  if (folded[side].value) return null;
  return (
    <div
      class={`splitter ${side}`}
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-controls={`area-${side}`}
      aria-valuenow={width[side].value}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, width: width[side].value };
      }}
      onPointerMove={({ clientX }) => {
        const { current } = from;
        if (current) resize(side, current.width + sign * (clientX - current.x));
      }}
      onLostPointerCapture={() => (from.current = undefined)}
      onDblClick={() => (folded[side].value = true)}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by) resize(side, width[side].value + sign * by * STEP);
        else if (event.key === "Enter") folded[side].value = true;
        else return;
        event.preventDefault();
      }}
    />
  );
}

const STEP = 16;
