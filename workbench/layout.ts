/** Which panes are shown, how wide the areas beside the centre are, and what is kept of that from one visit to the next. */
import {
  effect,
  signal,
  type ReadonlySignal,
  type Signal,
} from "@preact/signals";
import type { ComponentType } from "preact";
import type { IconName } from "./parts/icon.js";

/** Where a pane stands: beside the centre on either side, or in it. */
export type Area = "left" | "centre" | "right";

export type Pane = {
  id: string;
  title: string;
  icon: IconName;
  area: Area;
  /** A short word or number on its tab, such as how much is new; nothing while it is empty. */
  badge?: ReadonlySignal<string | number | undefined>;
} & (
  | { component: ComponentType; load?: never }
  | { load: () => Promise<ComponentType>; component?: never }
);

export type Side = Exclude<Area, "centre">;

/** All panes, in the order of their tabs. */
export const panes = signal<readonly Pane[]>([]);
/** The pane that each area shows, by its id. */
export const shown: Record<Area, Signal<string>> = {
  left: signal(""),
  centre: signal(""),
  right: signal(""),
};
/** In pixels. */
export const width: Record<Side, Signal<number>> = {
  left: signal(300),
  right: signal(340),
};
export const folded: Record<Side, Signal<boolean>> = {
  left: signal(false),
  right: signal(false),
};
/** On a narrow window one area is shown at a time. */
export const area = signal<Area>("centre");

/** Takes the panes; each area shows its first. */
export function setPanes(list: readonly Pane[]): void {
  panes.value = list;
  for (const pane of [...list].reverse()) shown[pane.area].value = pane.id;
}

/** Shows a pane, wherever it stands. */
export function showPane(id: string): void {
  const pane = panes.value.find((each) => each.id === id);
  if (!pane) return;
  shown[pane.area].value = id;
  area.value = pane.area;
  if (pane.area !== "centre") folded[pane.area].value = false;
}

export function resize(side: Side, to: number): void {
  width[side].value = Math.round(Math.min(WIDEST, Math.max(NARROWEST, to)));
}

/** Goes on as the last visit ended, and keeps what changes from now on. */
export function rememberLayout(): void {
  const kept = read();
  for (const side of ["left", "right"] as const) {
    const was = kept[side];
    if (typeof was?.width === "number") resize(side, was.width);
    if (typeof was?.folded === "boolean") folded[side].value = was.folded;
  }
  effect(() => {
    const now = Object.fromEntries(
      (["left", "right"] as const).map((side) => [
        side,
        { width: width[side].value, folded: folded[side].value },
      ]),
    );
    try {
      localStorage.setItem(KEPT, JSON.stringify(now));
    } catch {
      // A browser that keeps nothing shows the page as it first was.
    }
  });
}

type Kept = Partial<Record<Side, { width?: unknown; folded?: unknown } | null>>;

function read(): Kept {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

const KEPT = "transom-layout";
export const NARROWEST = 200;
export const WIDEST = 640;
