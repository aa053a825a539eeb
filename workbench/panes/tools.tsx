/** The tools of a server, each with the form for its arguments. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { show } from "../card.js";
import { argumentsForm, whenOpened, write, type InputSchema } from "../form.js";
import { TOOLS } from "../offers.js";
import type { Tool } from "../state.generated.js";
import { channel } from "../state.js";

export function ToolList({
  server,
  tools,
  beyond,
}: {
  server: string;
  tools: Tool[];
  beyond: number;
}) {
  const more = Math.max(tools.length - TOOLS, 0) + beyond;
  return (
    <div>
      {tools.slice(0, TOOLS).map((tool) => (
        <ToolBox key={tool.name} server={server} tool={tool} />
      ))}
      {more > 0 && (
        <p class="more">{`… and ${more} more tools, which are not shown.`}</p>
      )}
    </div>
  );
}

/** The box stays with its tool's name; its form is drawn anew when anything about the tool is another. */
function ToolBox({ server, tool }: { server: string; tool: Tool }) {
  const box = useRef<HTMLDetailsElement>(null);
  const text = JSON.stringify(tool);
  useLayoutEffect(() => {
    const details = box.current!;
    const stop = whenOpened(details, () => formOf(server, tool));
    return () => {
      stop();
      details.querySelector("form")?.remove();
    };
  }, [server, text]);
  return (
    <details class="tool" ref={box}>
      <summary title={tool.label}>
        {tool.title ?? tool.label}
        {tool.view && <span class="badge">view</span>}
      </summary>
    </details>
  );
}

function formOf(server: string, tool: Tool): HTMLElement {
  const open = (how: Record<string, unknown>) =>
    show(
      channel.value!,
      crypto.randomUUID(),
      `${server}: "${tool.label.replaceAll('"', '\\"')}"`,
      { server, name: tool.name, ...how },
    );
  const { form, read } = argumentsForm(tool, (values) =>
    open({ arguments: values }),
  );
  const properties = (tool.inputSchema as InputSchema | undefined)?.properties;
  if (tool.view && Object.keys(properties ?? {}).length > 0) {
    const slowly = document.createElement("button");
    slowly.textContent = "Run as it is written";
    slowly.className = "slowly";
    slowly.type = "button";
    slowly.title =
      "Sends the arguments piece by piece, as a model writes them; the tool is called at their end.";
    slowly.onclick = () => {
      const values = read();
      if (values) void write(open({ writing: true }), JSON.stringify(values));
    };
    form.append(slowly);
  }
  return form;
}
