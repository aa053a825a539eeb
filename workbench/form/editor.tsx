/** A text as JSON: plain at once, and with colours, folding and search when the editor has been brought, which is done when one is first needed. */
import type { RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Handle } from "./codemirror.js";

type EditorProps = {
  text: string;
  label: string;
  fault: string | undefined;
  change: (text: string) => void;
  run: () => void;
};

/** Brings the editor into a place; whether it is there. */
function useCode(
  place: RefObject<HTMLDivElement | null>,
  props: EditorProps,
): boolean {
  const handle = useRef<Handle | undefined>(undefined);
  const newest = useRef(props);
  newest.current = props;
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let gone = false;
    import("./codemirror.js").then(
      ({ openEditor }) => {
        if (gone || !place.current) return;
        handle.current = openEditor(place.current, {
          text: newest.current.text,
          label: newest.current.label,
          change: (to) => newest.current.change(to),
          run: () => newest.current.run(),
        });
        setReady(true);
      },
      // Without it the plain field goes on.
      () => {},
    );
    return () => {
      gone = true;
      handle.current?.close();
    };
  }, []);
  useEffect(() => handle.current?.put(props.text), [props.text]);
  return ready;
}

export function Editor(props: EditorProps) {
  const { text, label, fault, change, run } = props;
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const ready = useCode(place, props);
  return (
    <div class="editor">
      <textarea
        class="json"
        hidden={ready}
        aria-label={label}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-fault`}
        spellcheck={false}
        rows={8}
        value={text}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey))
            return;
          event.preventDefault();
          run();
        }}
      />
      <div ref={place} class="code-editor" hidden={!ready} />
      <p class="fault" id={`${id}-fault`} role={fault ? "alert" : undefined}>
        {fault}
      </p>
    </div>
  );
}
