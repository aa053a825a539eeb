/** CodeMirror for JSON, in a shadow root: its styles are sheets of that root, which the page's policy allows. */
import {
  defaultKeymap,
  history,
  historyKeymap,
  indentWithTab,
} from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export type Handle = { put: (text: string) => void; close: () => void };

export function openEditor(
  place: HTMLElement,
  {
    text,
    label,
    change,
    run,
  }: {
    text: string;
    label: string;
    change: (text: string) => void;
    run: () => void;
  },
): Handle {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  root.replaceChildren();
  const view: EditorView = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: extensions(label, change, run),
    }),
  });
  return {
    put(to) {
      if (view.state.doc.toString() === to) return;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: to },
      });
    },
    close: () => view.destroy(),
  };
}

const extensions = (
  label: string,
  change: (text: string) => void,
  run: () => void,
) => [
  keymap.of([
    { key: "Mod-Enter", run: () => (run(), true) },
    // The way out of the editor by keyboard: Escape, then Tab.
    {
      key: "Escape",
      run: (view) => (view.setTabFocusMode(2_000), false),
    },
    ...defaultKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...searchKeymap,
    indentWithTab,
  ]),
  history(),
  lineNumbers(),
  foldGutter(),
  bracketMatching(),
  indentOnInput(),
  search({ top: true }),
  json(),
  linter(jsonParseLinter()),
  syntaxHighlighting(COLOURS),
  LOOK,
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ "aria-label": label }),
  EditorView.updateListener.of((update) => {
    if (update.docChanged) change(update.state.doc.toString());
  }),
];

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--color-text-info)" },
  { tag: tags.string, color: "var(--color-text-success)" },
  {
    tag: [tags.number, tags.bool, tags.null],
    color: "var(--color-text-warning)",
  },
]);

const LOOK = EditorView.theme({
  "&": { color: "inherit", backgroundColor: "transparent", maxHeight: "50vh" },
  ".cm-scroller": {
    font: "var(--font-text-sm-size)/1.5 var(--font-mono)",
    overflow: "auto",
  },
  ".cm-content": { caretColor: "var(--color-text-primary)", minHeight: "7em" },
  ".cm-cursor": { borderLeftColor: "var(--color-text-primary)" },
  ".cm-gutters": {
    color: "var(--color-text-tertiary)",
    backgroundColor: "transparent",
    border: "0",
  },
  "&.cm-focused": {
    outline: "2px solid var(--color-ring-primary)",
    outlineOffset: "1px",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    {
      background:
        "color-mix(in srgb, var(--color-ring-primary) 30%, transparent)",
    },
  ".cm-panels, .cm-tooltip": {
    color: "inherit",
    backgroundColor: "var(--color-background-secondary)",
  },
});
