/** The tools of a server, each with the form for its arguments. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { show } from "../card.js";
import { ArgumentsForm } from "../form/form.js";
import type { Fields } from "../form/value.js";
import { SPEEDS, write } from "../form/write.js";
import { showPane } from "../layout.js";
import { TOOLS } from "../offers.js";
import { Button } from "../parts/button.js";
import { Empty } from "../parts/empty.js";
import type { Tool } from "../state.generated.js";
import { channel } from "../state.js";

/** A form that is to be filled in anew, with arguments of an earlier run. */
export const asked = signal<
  { server: string; tool: string; values?: Fields } | undefined
>(undefined);

export function ToolList({
  server,
  tools,
  beyond,
  own,
}: {
  server: string;
  tools: Tool[];
  beyond: number;
  /** The tools that only its views may call. */
  own: string[];
}) {
  const [words, setWords] = useState("");
  const more = Math.max(tools.length - TOOLS, 0) + beyond;
  const found = tools.slice(0, TOOLS).filter((tool) => matches(tool, words));
  return (
    <div class="tools">
      {tools.length > SEARCHED && (
        <input
          type="search"
          class="find"
          placeholder={`Find among ${tools.length} tools`}
          aria-label={`Find a tool of ${server}`}
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      )}
      {found.map((tool) => (
        <ToolBox key={tool.name} server={server} tool={tool} />
      ))}
      {words && found.length === 0 && (
        <Empty>No tool has these words in its name or description.</Empty>
      )}
      {own.length > 0 && !words && (
        <details class="own">
          <summary>{`For its views alone (${own.length})`}</summary>
          <p>Neither a person nor a model may call these; its views do.</p>
          <ul>
            {own.map((name) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </details>
      )}
      {more > 0 && !words && (
        <p class="more">{`… and ${more} more tools, which are not shown.`}</p>
      )}
    </div>
  );
}

const matches = ({ label, title, description }: Tool, words: string) => {
  const text = `${label} ${title ?? ""} ${description ?? ""}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

/** The box stays with its tool's name; its form is drawn anew when its schema is another. */
function ToolBox({ server, tool }: { server: string; tool: Tool }) {
  const box = useRef<HTMLDetailsElement>(null);
  const [open, setOpen] = useState(false);
  const [start, setStart] = useState<Fields | undefined>(undefined);
  const wanted = asked.value;
  useEffect(() => {
    if (wanted?.server !== server || wanted.tool !== tool.name) return;
    asked.value = undefined;
    if (wanted.values) setStart(wanted.values);
    setOpen(true);
    if (!box.current) return;
    box.current.open = true;
    box.current.scrollIntoView({ block: "nearest" });
    box.current.querySelector<HTMLElement>("summary")?.focus();
  }, [wanted]);
  const key = JSON.stringify(tool.inputSchema) ?? "";
  return (
    <details
      class="tool"
      ref={box}
      onToggle={({ currentTarget }) => currentTarget.open && setOpen(true)}
    >
      <summary title={tool.label}>
        <span class="name">{tool.title ?? tool.label}</span>
        {tool.view && <span class="badge">view</span>}
      </summary>
      {open && (
        <ArgumentsForm
          key={key}
          schema={tool.inputSchema}
          about={tool.description}
          start={start}
          run={(values) => void openTool(server, tool, { arguments: values })}
          more={
            tool.view
              ? (read) => <Slowly server={server} tool={tool} read={read} />
              : undefined
          }
        />
      )}
    </details>
  );
}

/** Runs it with arguments that are written piece by piece. */
function Slowly({
  server,
  tool,
  read,
}: {
  server: string;
  tool: Tool;
  read: () => Fields | undefined;
}) {
  const [rate, setRate] = useState(100);
  const run = () => {
    const values = read();
    if (values)
      void write(
        openTool(server, tool, { writing: true }),
        JSON.stringify(values),
        rate,
      );
  };
  return (
    <span class="slow">
      <Button
        class="slowly"
        title="Sends the arguments piece by piece, as a model writes them; the tool is called at their end."
        onClick={run}
      >
        Run as it is written
      </Button>
      <select
        aria-label="How fast the arguments are written"
        value={String(rate)}
        onChange={({ currentTarget }) => setRate(Number(currentTarget.value))}
      >
        {SPEEDS.map(({ name, rate: each }) => (
          <option key={each} value={String(each)}>
            {name}
          </option>
        ))}
      </select>
    </span>
  );
}

/** Runs a tool on a card of its own. */
export function openTool(
  server: string,
  tool: Pick<Tool, "name" | "label">,
  how: { arguments: Fields } | { writing: true },
) {
  const title = `${server}: "${tool.label.replaceAll('"', '\\"')}"`;
  const view = show(channel.value!, crypto.randomUUID(), title, {
    server,
    name: tool.name,
    ...how,
  });
  showPane("views");
  return view;
}

/** From how many tools on there is a search. */
const SEARCHED = 8;
