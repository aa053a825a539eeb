/** The form for the arguments of a tool: fields and JSON are two ways to write one value. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Tabs } from "../parts/tabs.js";
import {
  useArguments,
  WHOLE,
  type Arguments,
  type Given,
} from "./arguments.js";
import type { Faults } from "./check.js";
import { Editor } from "./editor.js";
import { Field } from "./field.js";
import type { Sheet } from "./sheet.js";
import type { Fields } from "./value.js";

export type FormProps = Given & {
  about?: string | undefined;
  run: (values: Fields) => void;
  /** Other ways to run it; what they are given reads the form, or says what is wrong and returns nothing. */
  more?: ((read: () => Fields | undefined) => ComponentChildren) | undefined;
};

export function ArgumentsForm({ about, run, more, ...given }: FormProps) {
  const box = useRef<HTMLFormElement>(null);
  const it = useArguments(given);
  const collect = () => {
    const values = it.collect();
    if (!values)
      requestAnimationFrame(() =>
        box.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(),
      );
    return values;
  };
  return (
    <form
      ref={box}
      noValidate
      class="arguments"
      onSubmit={(event) => {
        event.preventDefault();
        const values = collect();
        if (values) run(values);
      }}
    >
      {about && <p>{about}</p>}
      <Tabs
        tabs={it.why ? [JSON_TAB] : [FORM_TAB, JSON_TAB]}
        chosen={it.tab}
        choose={it.choose}
        label="How to write the arguments"
        prefix={it.id}
      />
      <Panel it={it} run={() => box.current?.requestSubmit()} />
      <FaultList faults={faultsLeft(it.faults, box.current, it.tab)} />
      {it.note && <p class="why">{it.note}</p>}
      <div class="run-row">
        <button class="button primary run">Run</button>
        {more?.(collect)}
      </div>
    </form>
  );
}

/** The value, as fields or as JSON. */
function Panel({ it, run }: { it: Arguments; run: () => void }) {
  const { id, tab, why, unread } = it;
  const sheet: Sheet = { ...it, Field };
  return (
    <div
      role="tabpanel"
      id={`${id}-panel-${tab}`}
      aria-labelledby={`${id}-tab-${tab}`}
      class="arguments-panel"
    >
      {why && <p class="why">{`${why} Write the arguments as JSON.`}</p>}
      {tab === "json" ? (
        <Editor
          text={it.text}
          label="The arguments as JSON"
          fault={unread.get(WHOLE)}
          change={it.typeText}
          run={run}
        />
      ) : (
        <Field
          sheet={sheet}
          at=""
          name=""
          schema={it.root}
          needed
          value={it.value}
          change={it.change}
          depth={0}
        />
      )}
      {tab === "form" && it.empty && <p class="why">It takes no arguments.</p>}
    </div>
  );
}

function FaultList({ faults }: { faults: [string, string][] }) {
  if (faults.length === 0) return null;
  return (
    <ul class="faults" role="alert">
      {faults.map(([at, words]) => (
        <li key={at}>{at ? `${decodeURI(at.slice(1))}: ${words}` : words}</li>
      ))}
    </ul>
  );
}

/** What is wrong and has no field that is drawn: in the JSON tab all of it. */
function faultsLeft(
  faults: Faults,
  box: HTMLFormElement | null,
  tab: string,
): [string, string][] {
  const all = [...faults];
  if (tab === "json" || !box) return all.slice(0, FAULTS);
  const has = (at: string) =>
    at !== "" &&
    box.querySelector(`.field[data-at="${CSS.escape(at)}"]`) !== null;
  return all.filter(([at]) => !has(at)).slice(0, FAULTS);
}

const FORM_TAB = { id: "form", title: "Form" };
const JSON_TAB = { id: "json", title: "JSON" };
const FAULTS = 8;
