/** The views that are on this page, by name, and the one whose facts are shown. */
import { signal } from "@preact/signals";

export type ShownView = { id: string; title: string };

export const shownViews = signal<readonly ShownView[]>([]);
export const viewOfFacts = signal("");

/** A view has come, or has another title. */
export function noteView(id: string, title: string): void {
  const others = shownViews.value.filter((view) => view.id !== id);
  shownViews.value = [{ id, title }, ...others];
}

/** Its card is gone. */
export function dropView(id: string): void {
  shownViews.value = shownViews.value.filter((view) => view.id !== id);
}
