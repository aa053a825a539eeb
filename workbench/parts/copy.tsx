/** A button that copies a text, and says that it did. */
import { useState } from "preact/hooks";
import { Button } from "./button.js";

export function Copy({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState("");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setDone("Copied"),
      () => setDone("This browser does not let the page copy."),
    );
  return (
    <Button
      quiet
      class="copy"
      icon={done === "Copied" ? "check" : "copy"}
      aria-label={`Copy ${label}`}
      title={done || "Copy"}
      onClick={() => void copy()}
      onBlur={() => setDone("")}
    >
      <span role="status" class="said">
        {done}
      </span>
    </Button>
  );
}
