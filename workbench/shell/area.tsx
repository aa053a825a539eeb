/** One area of the page: its tabs, where it has several panes, and the pane that is shown. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  panes,
  shown,
  showPane,
  type Area as AreaName,
  type Pane,
} from "../layout.js";
import { Empty } from "../parts/empty.js";
import { Guard } from "../parts/guard.js";
import { Tabs } from "../parts/tabs.js";

export function Area({ area }: { area: AreaName }) {
  const here = panes.value.filter((pane) => pane.area === area);
  const chosen = shown[area].value;
  const tabbed = here.length > 1;
  return (
    <>
      {tabbed && (
        <Tabs
          tabs={here.map(({ badge, ...tab }) => ({
            ...tab,
            badge: badge?.value,
          }))}
          chosen={chosen}
          choose={showPane}
          label={TITLES[area]}
          prefix="pane"
        />
      )}
      <div class="panels">
        {here.map((pane) => (
          <Panel
            key={pane.id}
            pane={pane}
            active={pane.id === chosen}
            tabbed={tabbed}
          />
        ))}
      </div>
    </>
  );
}

/**
 * A pane is drawn when it is first shown, and stays: a frame that leaves the page loads anew. One that is not shown is
 * laid out behind the others, so that the views in it keep their size.
 */
function Panel({
  pane,
  active,
  tabbed,
}: {
  pane: Pane;
  active: boolean;
  tabbed: boolean;
}) {
  const [drawn, setDrawn] = useState(active);
  useEffect(() => {
    if (active) setDrawn(true);
  }, [active]);
  if (!drawn && !active) return null;
  return (
    <div
      class={`panel ${active ? "" : "behind"}`}
      id={`pane-panel-${pane.id}`}
      inert={!active}
      {...(tabbed && {
        role: "tabpanel",
        "aria-labelledby": `pane-tab-${pane.id}`,
      })}
    >
      <Guard name={pane.title}>
        {pane.component ? <pane.component /> : <Lazy pane={pane} />}
      </Guard>
    </div>
  );
}

/** A pane whose code is brought when it is first shown. */
function Lazy({ pane }: { pane: Pane & { load: object } }) {
  const [Loaded, setLoaded] = useState<ComponentType | undefined>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (Loaded || failed) return;
    pane.load().then(
      (component) => setLoaded(() => component),
      () => setFailed(true),
    );
  }, [failed]);
  if (Loaded) return <Loaded />;
  if (!failed) return <Empty title="Loading…" />;
  return (
    <div class="broke" role="alert">
      <p>
        This part of the page could not be loaded. Is transom still running?
      </p>
      <button type="button" class="button" onClick={() => setFailed(false)}>
        Try again
      </button>
    </div>
  );
}

const TITLES: Record<AreaName, string> = {
  left: "Servers",
  centre: "Work",
  right: "What happened",
};
