/** A call of a tool: what was asked, what came of it, and its view, which sees its arguments while they are written. */
import { useEffect, useRef, useState } from "preact/hooks";
import { show } from "../card.js";
import { Button } from "../parts/button.js";
import { open, wish } from "../talk.js";
import { channel } from "../state.js";
import type { TalkCall } from "../talk.generated.js";

export function Call({ call, old }: { call: TalkCall; old: boolean }) {
  const {
    server,
    tool,
    name,
    arguments: given,
    answer,
    state,
    of,
    view,
  } = call;
  const [closed, setClosed] = useState(false);
  // Calls that were there before the page was are shown again when the person wants it: each view is a frame.
  const [wanted, setWanted] = useState(!old);
  const title = tool ? `${server}: ${tool}` : name;
  return (
    <div class={`call ${state}`}>
      <details open={state === "failed" || state === "refused"}>
        <summary>
          <b>{title}</b>
          {of !== undefined && <span class="badge">offered by a view</span>}
          <span class="stage">{STATES[state]}</span>
        </summary>
        <h4>Arguments</h4>
        <pre tabIndex={0}>{given || "…"}</pre>
        {answer && (
          <>
            <h4>What the model was told</h4>
            <pre tabIndex={0}>{answer}</pre>
          </>
        )}
      </details>
      {view && !closed && state !== "refused" && wanted && (
        <Frame call={call} gone={() => setClosed(true)} />
      )}
      {view &&
        (!wanted || closed) &&
        !OPEN.has(state) &&
        state !== "refused" && (
          <Button
            icon="view"
            onClick={() => {
              setWanted(true);
              setClosed(false);
            }}
          >
            Show its view
          </Button>
        )}
    </div>
  );
}

/** The view's place. It is no component's business after that: a frame that a renderer moves loads anew. */
function Frame({ call, gone }: { call: TalkCall; gone: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let ended = false;
    let close = () => {};
    const mount = async () => {
      const socket = channel.value;
      const id = open.value;
      if (!socket || id === undefined) return;
      // What the host process does not keep at hand is made ready there first.
      if (!OPEN.has(call.state)) await wish({ show: { id, call: call.id } });
      if (ended || !box.current) return;
      const { server, tool: name } = call;
      const tool = { server, name, call: call.id };
      const view = show(
        socket,
        crypto.randomUUID(),
        `${server}: ${name}`,
        tool,
        box.current,
      );
      view.addEventListener("transom-close", ({ detail }) => {
        if (detail.reason === "teardown") gone();
      });
      close = () => view.close();
    };
    void mount();
    return () => {
      ended = true;
      close();
    };
  }, []);
  return <div ref={box} class="call-view" />;
}

const OPEN: ReadonlySet<string> = new Set([
  "writing",
  "waiting",
  "asked",
  "running",
]);
const STATES: Record<TalkCall["state"], string> = {
  writing: "being written…",
  waiting: "waits…",
  asked: "you are asked…",
  running: "running…",
  done: "done",
  failed: "failed",
  refused: "not called",
  stopped: "stopped",
};
