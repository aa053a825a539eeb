/** One server: how it is, what was found about it, and what it has, each behind a tab. */
import { useRef, useState } from "preact/hooks";
import { Tabs } from "../parts/tabs.js";
import type { Remark, Server, SignIn, Tool } from "../state.generated.js";
import { AboutServer } from "./about.js";
import { Deeds } from "./deeds.js";
import { Prompts } from "./prompts.js";
import { Resources } from "./resources.js";
import { ToolList } from "./tools.js";

export function ServerBox({ server }: { server: Server }) {
  const { name, state, sign_in, findings, output } = server;
  return (
    <section class={`server ${state}`}>
      <div class="server-head">
        <h2>{name}</h2>
        <Deeds server={server} />
      </div>
      <p class="state">{stateOf(server)}</p>
      {sign_in && <SignInLink {...sign_in} />}
      {findings.map(({ severity, words }, at) => (
        <p key={at} class={`finding ${severity}`}>
          {`${SEVERITY[severity]}: ${words}`}
        </p>
      ))}
      {output && <Output lines={output} />}
      <Parts server={server} />
    </section>
  );
}

/** What it has; the forms of its tools stay while somebody looks at the rest. */
function Parts({ server }: { server: Server }) {
  const { name, lists } = server;
  const tools = useTools(server);
  const [tab, setTab] = useState("tools");
  const ready = server.state === "ready";
  const tabs = [
    { id: "tools", title: "Tools" },
    ...OTHERS.filter(({ id }) => id === "about" || lists.includes(id)),
  ];
  const chosen = ready && tabs.some(({ id }) => id === tab) ? tab : "tools";
  const prefix = `server-${encodeURIComponent(name)}`;
  const panel = (id: string) =>
    ready && {
      role: "tabpanel" as const,
      id: `${prefix}-panel-${id}`,
      "aria-labelledby": `${prefix}-tab-${id}`,
    };
  const Shown = OTHERS.find(({ id }) => id === chosen)?.component;
  return (
    <>
      {ready && (
        <Tabs
          tabs={tabs.map(({ id, title }) => ({ id, title }))}
          chosen={chosen}
          choose={setTab}
          label={`What ${name} has`}
          prefix={prefix}
        />
      )}
      <div hidden={chosen !== "tools"} {...panel("tools")}>
        <ToolList
          server={name}
          tools={tools.list}
          beyond={tools.beyond}
          own={server.private_tools ?? []}
        />
      </div>
      {Shown && (
        <div {...panel(chosen)}>
          <Shown server={name} />
        </div>
      )}
    </>
  );
}

const OTHERS = [
  { id: "resources", title: "Resources", component: Resources },
  { id: "prompts", title: "Prompts", component: Prompts },
  { id: "about", title: "About", component: AboutServer },
];

/** While a server is started again nothing is known of its tools; the forms that a person fills in wait for it. */
function useTools({ state, tools, more_tools: beyond = 0 }: Server) {
  const last = useRef<{ list: Tool[]; beyond: number }>({
    list: [],
    beyond: 0,
  });
  if (state === "ready" || tools.length > 0)
    last.current = { list: tools, beyond };
  return last.current;
}

/** Its words, and how many of its views have not been looked at yet. */
function stateOf({ words, unseen }: Server): string {
  if (!unseen) return words;
  return `${words}; ${unseen === 1 ? "1 is" : `${unseen} are`} still being looked at`;
}

/** What a program that is not there any more wrote to its standard error. */
function Output({ lines }: { lines: string[] }) {
  return (
    <details class="output">
      <summary>{`What it wrote (${lines.length} lines)`}</summary>
      <pre tabIndex={0}>{lines.join("\n")}</pre>
    </details>
  );
}

/** Opens in a window of its own, which learns nothing of this one. */
function SignInLink({ url, place }: SignIn) {
  // The host has checked it; a script here would be the end of it all, so the page looks as well.
  const href = /^https?:/.test(url) ? { href: url } : {};
  return (
    <a class="sign-in" target="_blank" rel="noopener noreferrer" {...href}>
      {`Sign in at ${place}`}
    </a>
  );
}

const SEVERITY: Record<Remark["severity"], string> = {
  danger: "Danger",
  warning: "Warning",
  note: "Note",
};
