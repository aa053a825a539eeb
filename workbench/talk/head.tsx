/** Above a conversation: which one it is, the others, the model, and what can be done with all of it. */
import { request } from "../api.js";
import { Button } from "../parts/button.js";
import {
  conversations,
  model,
  open,
  openTalk,
  trouble,
  wish,
} from "../talk.js";

export function TalkHead() {
  const id = open.value;
  const all = conversations.value;
  return (
    <header class="talk-head">
      <select
        aria-label="Conversations"
        value={id ?? ""}
        onChange={({ currentTarget: { value } }) =>
          openTalk(value || undefined)
        }
      >
        <option value="">New conversation</option>
        {all.map(({ id, title, running }) => (
          <option key={id} value={id}>
            {running ? `● ${title}` : title}
          </option>
        ))}
      </select>
      <span class="model" title={model.value?.place}>
        {model.value?.name ?? "…"}
      </span>
      <Button
        icon="add"
        quiet
        aria-label="New conversation"
        title="New conversation"
        onClick={() => openTalk(undefined)}
      />
      {id !== undefined && (
        <>
          <Button quiet onClick={() => void save(id, "md")}>
            Markdown
          </Button>
          <Button quiet onClick={() => void save(id, "json")}>
            JSON
          </Button>
          <Button
            icon="remove"
            quiet
            aria-label="Delete this conversation"
            title="Delete this conversation"
            onClick={() => void remove(id)}
          />
        </>
      )}
    </header>
  );
}

async function remove(id: string): Promise<void> {
  const title = conversations.value.find((it) => it.id === id)?.title;
  if (!confirm(`Delete “${title ?? "this conversation"}” for good?`)) return;
  if (await wish({ remove: { id } })) openTalk(undefined);
}

async function save(id: string, form: "md" | "json"): Promise<void> {
  try {
    const response = await request(`/api/talk/export?id=${id}&form=${form}`);
    const href = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    Object.assign(link, {
      href,
      download: `conversation-${id.slice(0, 8)}.${form}`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  } catch (error) {
    trouble.value =
      error instanceof Error ? error.message : "It cannot be saved.";
  }
}
