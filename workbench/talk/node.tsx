/** One thing that was said, with what can be done about it. */
import { useState } from "preact/hooks";
import { Button } from "../parts/button.js";
import { Markdown } from "../parts/markdown.js";
import { older, open, running, siblings, wish } from "../talk.js";
import type { TalkNode } from "../talk.generated.js";
import { Call } from "./call.js";

export function Node({ node, last }: { node: TalkNode; last: boolean }) {
  const [editing, setEditing] = useState(false);
  const { role, text, from, context, calls, state, note } = node;
  const who =
    role === "assistant" ? "Model" : from ? `${from}, for you` : "You";
  return (
    <article class={`said ${role}`} aria-label={who}>
      <header>
        <b>{who}</b>
        <Branches node={node} />
        {!editing && (
          <Deeds node={node} last={last} edit={() => setEditing(true)} />
        )}
      </header>
      {context?.map((it) => (
        <details key={it.from} class="context">
          <summary>Context of {it.from}</summary>
          <pre tabIndex={0}>{it.text}</pre>
        </details>
      ))}
      {editing ? (
        <Editor node={node} done={() => setEditing(false)} />
      ) : role === "assistant" ? (
        text && <Markdown text={text} />
      ) : (
        // A person's words are shown as they are, and so are those of a view.
        <p class="words">{text}</p>
      )}
      {calls?.map((call) => (
        <Call key={call.id} call={call} old={older.value.has(node.id)} />
      ))}
      {state === "writing" && !text && !calls && <p class="waits">…</p>}
      {state === "stopped" && !note && <p class="how">You stopped this.</p>}
      {note && (
        <p
          class={`how ${state}`}
          role={state === "failed" ? "alert" : undefined}
        >
          {note}
        </p>
      )}
    </article>
  );
}

/** Where something else was said in the same place: which of them this is, and the way to the others. */
function Branches({ node }: { node: TalkNode }) {
  const id = open.value;
  const all = siblings(node);
  if (all.length < 2 || id === undefined) return null;
  const at = all.findIndex((it) => it.id === node.id);
  const go = (to: number) => {
    const other = all[to];
    if (other) void wish({ branch: { id, node: other.id } });
  };
  return (
    <span class="branches" role="group" aria-label="Branches">
      <Button
        quiet
        aria-label="Branch before"
        disabled={at <= 0 || running.value}
        onClick={() => go(at - 1)}
      >
        ‹
      </Button>
      <span>
        {at + 1} of {all.length}
      </span>
      <Button
        quiet
        aria-label="Branch after"
        disabled={at >= all.length - 1 || running.value}
        onClick={() => go(at + 1)}
      >
        ›
      </Button>
    </span>
  );
}

function Deeds({
  node,
  last,
  edit,
}: {
  node: TalkNode;
  last: boolean;
  edit: () => void;
}) {
  const id = open.value;
  if (id === undefined || running.value) return null;
  if (node.role === "user")
    return node.from ? null : (
      <Button
        icon="edit"
        quiet
        aria-label="Edit and send again"
        title="Edit and send again"
        onClick={edit}
      />
    );
  return last ? (
    <Button
      icon="again"
      quiet
      aria-label="Answer again"
      title="Answer again"
      onClick={() => void wish({ again: { id, node: node.id } })}
    />
  ) : null;
}

function Editor({ node, done }: { node: TalkNode; done: () => void }) {
  const [text, setText] = useState(node.text);
  const id = open.value;
  const send = async () => {
    if (id !== undefined && (await wish({ edit: { id, node: node.id, text } })))
      done();
  };
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        aria-label="Your words, changed"
        value={text}
        rows={3}
        ref={(box) => box?.focus()}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && done()}
      />
      <div class="row">
        <Button primary type="submit" disabled={!text.trim()}>
          Send again
        </Button>
        <Button onClick={done}>Cancel</Button>
      </div>
    </form>
  );
}
