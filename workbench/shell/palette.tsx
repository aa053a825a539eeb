/** Everything that can be done, found by a few letters: Ctrl-K (or ⌘K) opens it from everywhere on the page. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { folded, panes, shown, showPane } from "../layout.js";
import { asked } from "../panes/tools.js";
import { servers } from "../state.js";

type Action = { title: string; about: string; run: () => void };

export const paletteOpen = signal(false);

/** Hears the keys that open it. */
export function hearPalette(): void {
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey))
      return;
    event.preventDefault();
    // A question is answered before anything else is done.
    if (!document.querySelector("dialog.ask[open]"))
      paletteOpen.value = !paletteOpen.value;
  });
}

export function Palette() {
  const box = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  // Before anything else that is typed: it is meant for the palette.
  useLayoutEffect(() => {
    if (paletteOpen.value && !box.current?.open) {
      setWords("");
      setAt(0);
      box.current?.showModal();
    } else if (!paletteOpen.value) box.current?.close();
  }, [paletteOpen.value]);
  const found = paletteOpen.value ? find(words).slice(0, FOUND) : [];
  const chosen = Math.min(at, found.length - 1);
  const run = (action: Action | undefined) => {
    if (!action) return;
    paletteOpen.value = false;
    box.current?.close();
    action.run();
  };
  const move = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setAt((chosen + by + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={box}
      class="palette"
      aria-label="What to do"
      onClose={() => (paletteOpen.value = false)}
      onClick={({ target }) => target === box.current && box.current?.close()}
    >
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length ? `palette-${chosen}` : undefined}
        aria-label="What to do"
        placeholder="What to do: a tool, a pane, a server…"
        value={words}
        onInput={({ currentTarget }) => {
          setWords(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={move}
      />
      <Found found={found} chosen={chosen} run={run} />
      {found.length === 0 && <p class="none">Nothing has these letters.</p>}
    </dialog>
  );
}

/** What can be done, one line each. */
function Found({
  found,
  chosen,
  run,
}: {
  found: Action[];
  chosen: number;
  run: (action: Action) => void;
}) {
  return (
    <ul id="palette-list" role="listbox" aria-label="What can be done">
      {found.map((action, each) => (
        <li
          key={`${action.title} ${action.about}`}
          id={`palette-${each}`}
          role="option"
          aria-selected={each === chosen}
          onClick={() => run(action)}
        >
          <span>{action.title}</span>
          <small>{action.about}</small>
        </li>
      ))}
    </ul>
  );
}

/** Every word that is typed must be in the action. */
function find(words: string): Action[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  return actions().filter(({ title, about }) => {
    const text = `${title} ${about}`.toLowerCase();
    return parts.every((part) => text.includes(part));
  });
}

function actions(): Action[] {
  return [
    ...panes.value.map(({ id, title }) => ({
      title,
      about: "show this pane",
      run: () => goTo(id),
    })),
    ...(["left", "right"] as const).map((side) => ({
      title: `${folded[side].value ? "Show" : "Hide"} the ${side} area`,
      about: "room for the rest",
      run: () => void (folded[side].value = !folded[side].value),
    })),
    {
      title: "Add a server",
      about: "by address, command or file",
      run: openAdding,
    },
    ...servers.value.flatMap(({ name, tools }) =>
      tools.map((tool) => ({
        title: tool.title ?? tool.label,
        about: `tool of ${name}`,
        run: () => {
          goTo("servers");
          asked.value = { server: name, tool: tool.name };
        },
      })),
    ),
  ];
}

function goTo(id: string): void {
  showPane(id);
  const pane = panes.value.find((each) => each.id === id);
  requestAnimationFrame(() => {
    if (pane && shown[pane.area].value === id)
      document
        .querySelector<HTMLElement>(`#pane-tab-${id}, #area-${pane.area} h2`)
        ?.focus();
  });
}

function openAdding(): void {
  showPane("servers");
  requestAnimationFrame(() => {
    const box = document.querySelector<HTMLDetailsElement>("#add-server");
    if (!box) return;
    box.open = true;
    box.scrollIntoView({ block: "nearest" });
    box.querySelector<HTMLElement>("input")?.focus();
  });
}

const FOUND = 60;
