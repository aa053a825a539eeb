/** Tabs by the pattern of ARIA: the arrow keys go from one to the next, Tab goes into what is shown. */
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.js";

export type Tab = {
  id: string;
  title: string;
  icon?: IconName;
  badge?: ComponentChildren;
};

export function Tabs({
  tabs,
  chosen,
  choose,
  label,
  prefix,
}: {
  tabs: readonly Tab[];
  chosen: string;
  choose: (id: string) => void;
  label: string;
  /** Before the ids of the tabs (`<prefix>-tab-<id>`) and of what they show (`<prefix>-panel-<id>`). */
  prefix: string;
}) {
  const move = (event: KeyboardEvent) => {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === chosen);
    const next = tabs[by(at, tabs.length)];
    if (!next) return;
    choose(next.id);
    document.getElementById(`${prefix}-tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ id, title, icon, badge }) => (
        <button
          key={id}
          type="button"
          role="tab"
          id={`${prefix}-tab-${id}`}
          aria-selected={id === chosen}
          aria-controls={`${prefix}-panel-${id}`}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => choose(id)}
        >
          {icon && <Icon name={icon} />}
          <span>{title}</span>
          {badge !== undefined && badge !== "" && badge !== 0 && (
            <span class="badge">{badge}</span>
          )}
        </button>
      ))}
    </div>
  );
}

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowLeft: (at, count) => (at + count - 1) % count,
  ArrowRight: (at, count) => (at + 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};
