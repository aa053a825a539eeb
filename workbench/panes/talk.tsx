/** The conversation: what was said, the views of the tools that were called, and the place to say more. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { branch, model, open, running, trouble } from "../talk.js";
import { Composer } from "../talk/composer.js";
import { TalkHead } from "../talk/head.js";
import { Node } from "../talk/node.js";

export function TalkPane() {
  const path = branch.value;
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    const thread = box.current;
    if (thread && atEnd.current) thread.scrollTop = thread.scrollHeight;
  });
  return (
    <section class="talk" aria-label="Conversation">
      <TalkHead />
      <div
        ref={box}
        class="thread"
        role="region"
        aria-label="What was said"
        tabIndex={0}
        onScroll={({
          currentTarget: { scrollTop, scrollHeight, clientHeight },
        }) => (atEnd.current = scrollHeight - scrollTop - clientHeight < 48)}
      >
        {path.length === 0 && <Beginning />}
        {path.map((node) => (
          <Node
            key={`${open.value} ${node.id}`}
            node={node}
            last={node === path.at(-1)}
          />
        ))}
      </div>
      <Spoken />
      {trouble.value && (
        <p class="trouble" role="alert">
          {trouble.value}
        </p>
      )}
      <Composer />
    </section>
  );
}

function Beginning() {
  return (
    <Empty icon="talk" title="Say something">
      {model.value?.real === false
        ? "No model is set, so a built-in script answers: it calls tools by simple words, such as “show the weather in Lisbon”. Start transom with --model NAME --model-url URL for a real one."
        : "The model can use the tools of your servers. You are asked before one changes something."}
    </Empty>
  );
}

/** For who hears the page: that an answer has begun, and what it says once it is there; not each piece of it. */
function Spoken() {
  const [words, setWords] = useState("");
  const last = branch.value.at(-1);
  const busy = running.value;
  const was = useRef(busy);
  useEffect(() => {
    if (busy && !was.current) setWords("The model is answering.");
    else if (!busy && was.current)
      setWords(
        last?.role === "assistant"
          ? last.text.slice(0, SPOKEN) || (last.note ?? "Done.")
          : "",
      );
    was.current = busy;
  }, [busy, last]);
  return (
    <p class="unseen" role="status" aria-live="polite">
      {words}
    </p>
  );
}

const SPOKEN = 600;
