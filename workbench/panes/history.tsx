/** What was run, newest first, each with a way to run it again, as it was or changed. */
import { useState } from "preact/hooks";
import { Answer } from "../answer.js";
import { showPane } from "../layout.js";
import { Button } from "../parts/button.js";
import { Empty } from "../parts/empty.js";
import { runs, wholeRun } from "../runs.js";
import type { Run } from "../state.generated.js";
import { servers } from "../state.js";
import { asked, openTool } from "./tools.js";

export function HistoryPane() {
  return (
    <section class="history-pane" aria-labelledby="history-title">
      <h2 id="history-title">What was run</h2>
      {runs.value.length === 0 && (
        <Empty icon="history">
          Run a tool: it is listed here with its answer, and can be run again.
        </Empty>
      )}
      <ol class="runs">
        {runs.value.map((run) => (
          <Line key={run.n} run={run} />
        ))}
      </ol>
    </section>
  );
}

function Line({ run }: { run: Run }) {
  const [fault, setFault] = useState("");
  const ready = servers.value.some(
    ({ name, state }) => name === run.server && state === "ready",
  );
  const withArguments =
    (
      then: (values: Awaited<ReturnType<typeof wholeRun>>["arguments"]) => void,
    ) =>
    () =>
      void wholeRun(run.n).then(
        ({ arguments: values }) => then(values),
        (error: unknown) =>
          setFault(error instanceof Error ? error.message : String(error)),
      );
  return (
    <li class={`run-${run.how}`}>
      <div class="run-head">
        <b>{run.label}</b> <span>{run.server}</span>{" "}
        <time>{run.at.slice(0, 8)}</time>
      </div>
      <p class="how">{how(run)}</p>
      {run.how === "answered" && <Answer run={run} />}
      <div class="run-row">
        <Button
          quiet
          icon="run"
          disabled={!ready || !run.again}
          onClick={withArguments(
            (values) =>
              void openTool(
                run.server,
                { name: run.tool, label: run.label },
                { arguments: values },
              ),
          )}
        >
          Run again
        </Button>
        <Button
          quiet
          icon="edit"
          disabled={!ready || !run.again}
          onClick={withArguments((values) => {
            asked.value = { server: run.server, tool: run.tool, values };
            showPane("servers");
          })}
        >
          Change and run
        </Button>
      </div>
      {fault && <p class="fault">{fault}</p>}
    </li>
  );
}

function how({ how, took, why }: Run): string {
  const time = took === undefined ? "" : ` after ${took} ms`;
  if (how === "running") return "Running…";
  if (how === "answered") return `Answered${time}`;
  return `${how === "failed" ? "Failed" : "Cancelled"}${time}${why ? `: ${why}` : ""}`;
}
