/** On a view's card: all that its tool answered, when the person wants to see it. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Result } from "./result/result.js";
import { runs, wholeRun } from "./runs.js";
import { isObject } from "./form/schema.js";
import type { Run } from "./state.generated.js";
import { make } from "./dom.js";

/** Shows it below a view, from when its tool has answered. */
export function showAnswer(box: HTMLElement, view: string): void {
  const place = make("section", { className: "answers" });
  box.append(place);
  render(<Answers view={view} />, place);
}

function Answers({ view }: { view: string }) {
  const run = runs.value.find(
    (each) => each.view === view && each.how === "answered",
  );
  return run ? <Answer key={run.n} run={run} /> : null;
}

export function Answer({ run }: { run: Run }) {
  const [result, setResult] = useState<
    { value?: unknown; failed?: string } | undefined
  >(undefined);
  const [open, setOpen] = useState(false);
  const load = () =>
    wholeRun(run.n).then(
      ({ result }) => setResult({ value: result }),
      (error: unknown) =>
        setResult({
          failed: error instanceof Error ? error.message : String(error),
        }),
    );
  useEffect(() => {
    // What the card does not show by itself is shown at once: pictures, data, and that it went wrong.
    if (!run.kept || (run.bytes ?? 0) > SMALL) return;
    void wholeRun(run.n).then(
      ({ result }) => {
        setResult({ value: result });
        if (says(result)) setOpen(true);
      },
      () => {},
    );
  }, [run.n]);
  return (
    <details
      class="whole"
      open={open}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
        if (currentTarget.open && !result) void load();
      }}
    >
      <summary>{`All of the answer (${size(run.bytes ?? 0)}, ${run.took ?? 0} ms)`}</summary>
      {!run.kept && (
        <p class="none">It is too large, or too long ago, to be kept.</p>
      )}
      {result?.failed !== undefined && <p class="fault">{result.failed}</p>}
      {open && run.kept && result && result.failed === undefined && (
        <Result value={result.value} server={run.server} name={run.tool} />
      )}
    </details>
  );
}

/** Whether an answer holds something that its text alone does not say; a view says it by itself. */
function says(result: unknown): boolean {
  if (!isObject(result)) return true;
  const { content, isError } = result;
  return (
    isError === true ||
    (Array.isArray(content) &&
      content.some((block) => isObject(block) && block["type"] !== "text"))
  );
}

export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const SMALL = 1_000_000;
