/** The bar at the foot of a narrow window, which shows one area at a time. */
import { area, panes, shown, type Area } from "../layout.js";
import { Icon } from "../parts/icon.js";

export function Narrow() {
  return (
    <div class="narrow" role="group" aria-label="Areas of the page">
      {(["left", "centre", "right"] as const).map((each) => (
        <Choice key={each} area={each} />
      ))}
    </div>
  );
}

function Choice({ area: which }: { area: Area }) {
  const pane = panes.value.find(({ id }) => id === shown[which].value);
  if (!pane) return null;
  return (
    <button
      type="button"
      aria-pressed={area.value === which}
      onClick={() => (area.value = which)}
    >
      <Icon name={pane.icon} />
      {pane.title}
    </button>
  );
}
