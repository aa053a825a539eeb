/** The prompts of a server: filled in, and got as their messages. */
import { useState } from "preact/hooks";
import { isObject } from "../form/schema.js";
import { Button } from "../parts/button.js";
import { Empty } from "../parts/empty.js";
import { Block } from "../result/block.js";
import { askServer } from "../runs.js";
import { pages, useAsked, wordsOf, type Page } from "./asked.js";

type Argument = { name: string; about: string; needed: boolean };
type Listed = {
  name: string;
  title: string;
  about: string;
  arguments: Argument[];
};

export function Prompts({ server }: { server: string }) {
  const asked = useAsked(
    () =>
      pages(
        (params) => askServer<Page>(server, "prompts/list", params),
        "prompts",
      ),
    server,
  );
  if (!asked) return <p class="none">Asking…</p>;
  if (!asked.value) return <p class="fault">{asked.failed}</p>;
  const all = asked.value.map(listed).filter((each) => each !== undefined);
  return (
    <div class="prompts">
      {all.length === 0 && <Empty>It lists no prompts.</Empty>}
      {all.map((each) => (
        <Prompt key={each.name} server={server} prompt={each} />
      ))}
    </div>
  );
}

function listed(each: unknown): Listed | undefined {
  if (!isObject(each) || typeof each["name"] !== "string") return undefined;
  const text = (of: Page, name: string) =>
    typeof of[name] === "string" ? of[name] : "";
  const given = Array.isArray(each["arguments"]) ? each["arguments"] : [];
  return {
    name: each["name"],
    title: text(each, "title") || each["name"],
    about: text(each, "description"),
    arguments: given
      .filter(isObject)
      .slice(0, 100)
      .map((one) => ({
        name: text(one, "name"),
        about: text(one, "description"),
        needed: one["required"] === true,
      })),
  };
}

function Prompt({ server, prompt }: { server: string; prompt: Listed }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [got, setGot] = useState<
    { messages?: unknown; failed?: string } | undefined
  >(undefined);
  const get = () =>
    askServer<Page>(server, "prompts/get", {
      name: prompt.name,
      arguments: values,
    }).then(
      (answer) => setGot({ messages: answer["messages"] }),
      (error: unknown) => setGot({ failed: wordsOf(error) }),
    );
  // What is empty is not sent.
  const write = (name: string, value: string) =>
    setValues(({ [name]: _, ...others }) =>
      value === "" ? others : { ...others, [name]: value },
    );
  return (
    <details class="tool">
      <summary title={prompt.name}>
        <span class="name">{prompt.title}</span>
      </summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void get();
        }}
      >
        {prompt.about && <p>{prompt.about}</p>}
        {prompt.arguments.map(({ name, about, needed }) => (
          <label key={name}>
            {name + (needed ? " *" : "")}
            <textarea
              class="low"
              rows={1}
              required={needed}
              placeholder={needed ? "" : "not sent"}
              value={values[name] ?? ""}
              onInput={({ currentTarget }) => write(name, currentTarget.value)}
            />
            {about && <small>{about}</small>}
          </label>
        ))}
        <Button primary type="submit">
          Get it
        </Button>
        {got?.failed !== undefined && (
          <p class="fault" role="alert">
            {got.failed}
          </p>
        )}
        {Array.isArray(got?.messages) &&
          got.messages.map((message, at) => (
            <Message key={at} message={message} server={server} />
          ))}
      </form>
    </details>
  );
}

function Message({ message, server }: { message: unknown; server: string }) {
  if (!isObject(message)) return null;
  const { role, content } = message;
  return (
    <div class="prompt-message">
      <b>{typeof role === "string" ? role : "somebody"}</b>
      {[content].flat().map((block, at) => (
        <Block key={at} block={block} server={server} />
      ))}
    </div>
  );
}
