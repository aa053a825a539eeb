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
  /** The item that has to be in sight, such as the one that was chosen by a key. */
  at?: number | undefined;
};

export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, keyOf, draw, label, role = "list", follow, at } = props;
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
  useFollow(virtual, follow ? items.length : 0, atEnd);
  useInSight(virtual, at, atEnd);
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

/** Brings an item into sight when another one is chosen. */
function useInSight(
  virtual: Virtualizer<HTMLDivElement, HTMLElement>,
  at: number | undefined,
  atEnd: { current: boolean },
): void {
  useLayoutEffect(() => {
    if (at === undefined || at < 0) return;
    atEnd.current = false;
    virtual.scrollToIndex(at, { align: "auto" });
  }, [at]);
}

/** Goes to the end when something was added there, unless the person has scrolled away from it. */
function useFollow(
  virtual: Virtualizer<HTMLDivElement, HTMLElement>,
  count: number,
  atEnd: { current: boolean },
): void {
  useLayoutEffect(() => {
    if (atEnd.current && count)
      virtual.scrollToIndex(count - 1, { align: "end" });
  }, [count]);
}
