/** The resources of a server and its templates: each can be read. */
import { useState } from "preact/hooks";
import { isObject } from "../form/schema.js";
import { Button } from "../parts/button.js";
import { Empty } from "../parts/empty.js";
import { Read } from "../result/block.js";
import { askServer } from "../runs.js";
import { pages, useAsked, wordsOf, type Page } from "./asked.js";

type Listed = { uri: string; title: string; about: string; template: boolean };

export function Resources({ server }: { server: string }) {
  const [words, setWords] = useState("");
  const asked = useAsked(() => list(server), server);
  if (!asked) return <p class="none">Asking…</p>;
  if (!asked.value) return <p class="fault">{asked.failed}</p>;
  const all = asked.value;
  const found = all.filter(({ uri, title }) =>
    `${title} ${uri}`.toLowerCase().includes(words.toLowerCase()),
  );
  return (
    <div class="resources">
      {all.length > 8 && (
        <input
          type="search"
          class="find"
          aria-label="Find a resource"
          placeholder={`Find among ${all.length}`}
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      )}
      {all.length === 0 && <Empty>It lists no resources.</Empty>}
      {found.slice(0, SHOWN).map((each) => (
        <Resource
          key={`${each.template} ${each.uri}`}
          server={server}
          listed={each}
        />
      ))}
      {found.length > SHOWN && (
        <p class="more">{`… and ${found.length - SHOWN} more.`}</p>
      )}
    </div>
  );
}

async function list(server: string): Promise<Listed[]> {
  const of = (method: string) => (params: object) =>
    askServer<Page>(server, method, { ...params });
  const resources = await pages(of("resources/list"), "resources");
  // A server may have the one list and not the other.
  const templates = await pages(
    of("resources/templates/list"),
    "resourceTemplates",
  ).catch(() => []);
  return [
    ...resources.map((each) => listed(each, "uri")),
    ...templates.map((each) => listed(each, "uriTemplate")),
  ].filter((each) => each !== undefined);
}

function listed(each: unknown, member: string): Listed | undefined {
  if (!isObject(each) || typeof each[member] !== "string") return undefined;
  const text = (name: string) =>
    typeof each[name] === "string" ? each[name] : "";
  return {
    uri: each[member],
    title: text("title") || text("name") || each[member],
    about: [text("description"), text("mimeType")].filter(Boolean).join(" · "),
    template: member === "uriTemplate",
  };
}

function Resource({
  server,
  listed: { uri, title, about, template },
}: {
  server: string;
  listed: Listed;
}) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [read, setRead] = useState<
    { contents?: unknown; failed?: string } | undefined
  >(undefined);
  const names = template ? namesOf(uri) : [];
  const address = template ? filled(uri, values) : uri;
  const ask = () =>
    askServer<Page>(server, "resources/read", { uri: address }).then(
      (answer) => setRead({ contents: answer["contents"] }),
      (error: unknown) => setRead({ failed: wordsOf(error) }),
    );
  return (
    <details class="tool">
      <summary title={uri}>
        <span class="name">{title}</span>
        {template && <span class="badge">template</span>}
      </summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        {about && <p>{about}</p>}
        <code class="uri">{address}</code>
        {names.map((name) => (
          <label key={name}>
            {name}
            <input
              value={values[name] ?? ""}
              onInput={({ currentTarget: { value } }) =>
                setValues((now) => ({ ...now, [name]: value }))
              }
            />
          </label>
        ))}
        <Button primary type="submit">
          Read
        </Button>
        {read?.failed !== undefined && (
          <p class="fault" role="alert">
            {read.failed}
          </p>
        )}
        {read && <Read contents={read.contents} />}
      </form>
    </details>
  );
}

const PART = /\{[+#./;?&]?([^{}]*)\}/g;
/** The names in a template; `*` and a length are said of a name and no part of it. */
const namesIn = (part: string) =>
  part.split(",").map((name) => name.replace(/[*:].*$/, ""));
const namesOf = (template: string) => [
  ...new Set(
    [...template.matchAll(PART)].flatMap(([, part]) => namesIn(part!)),
  ),
];
const filled = (template: string, values: Record<string, string>) =>
  template.replaceAll(PART, (_, part: string) =>
    namesIn(part)
      .map((name) => encodeURIComponent(values[name] ?? ""))
      .join(","),
  );
const SHOWN = 200;
