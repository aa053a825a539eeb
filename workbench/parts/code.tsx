/** Text as it is: JSON printed for people, or code. Long ones are folded; all of it can be copied. */
import { useState } from "preact/hooks";
import { Button } from "./button.js";
import { Copy } from "./copy.js";

export function Code({ text, label }: { text: string; label: string }) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > LONG;
  return (
    <div class="code">
      <Copy text={text} label={label} />
      <pre tabIndex={0} aria-label={label}>
        {cut ? text.slice(0, LONG) : text}
      </pre>
      {cut && (
        <Button quiet onClick={() => setWhole(true)}>
          {`Show ${text.length - LONG} more characters`}
        </Button>
      )}
    </div>
  );
}

/** A value as JSON, indented. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return <Code text={JSON.stringify(value, null, 2) ?? ""} label={label} />;
}

const LONG = 20_000;
