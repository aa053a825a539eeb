/** A long list of which only what is in sight is drawn. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export type VirtualListProps<T> = {
  items: readonly T[];
  /** What tells one item from all others, as long as it is in the list. */
  keyOf: (item: T, at: number) => string | number;
  draw: (item: T, at: number) => ComponentChildren;
  /** The height of an item that was not drawn yet, in pixels. */
  height: number;
  label: string;
  class?: string;
  role?: "list" | "log" | "listbox" | "grid";
  /** Follows what is added at the end, for as long as the person has not scrolled away from it. */
  follow?: boolean;
};

export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, keyOf, draw, label, role = "list", follow } = props;
  const box = useRef<HTMLDivElement>(null);
  const [, again] = useState(0);
  const [virtual] = useState(
    () => new Virtualizer<HTMLDivElement, HTMLElement>(options()),
  );
  function options() {
    return {
      count: items.length,
      getScrollElement: () => box.current,
      estimateSize: () => props.height,
      getItemKey: (at: number) => keyOf(items[at]!, at),
      overscan: 8,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: () => again((n) => n + 1),
    };
  }
  virtual.setOptions(options());
  useEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (follow && atEnd.current && items.length)
      virtual.scrollToIndex(items.length - 1, { align: "end" });
  }, [items.length, follow]);
  return (
    <div
      ref={box}
      class={`virtual ${props.class ?? ""}`}
      role={role}
      aria-label={label}
      tabIndex={0}
      onScroll={({
        currentTarget: { scrollTop, scrollHeight, clientHeight },
      }) => (atEnd.current = scrollHeight - scrollTop - clientHeight < 24)}
    >
      <div
        class="virtual-all"
        role="presentation"
        style={{ height: `${virtual.getTotalSize()}px` }}
      >
        {virtual.getVirtualItems().map(({ index, key, start }) => (
          <div
            key={key}
            class="virtual-item"
            role={role === "list" ? "listitem" : undefined}
            data-index={index}
            ref={(item) => virtual.measureElement(item)}
            style={{ transform: `translateY(${start}px)` }}
          >
            {draw(items[index]!, index)}
          </div>
        ))}
      </div>
    </div>
  );
}
