/** The servers with their tools, and what people decided about them. */
import type { WebSocketChannel } from "../web/src/host.js";
import { show } from "./card.js";
import { element, get, make, pause } from "./dom.js";
import { argumentsForm, whenOpened, write, type InputSchema } from "./form.js";
import { drawLeft } from "./left.js";
import { TOOLS } from "./offers.js";
import type {
  Decision,
  Remark,
  Server,
  State,
  Tool,
} from "./state.generated.js";

/** Draws the servers whenever something about them changed. */
export async function servers(
  key: string,
  channel: WebSocketChannel,
  known: Promise<number>,
): Promise<void> {
  let version = -1;
  let first = true;
  for (;;) {
    try {
      const state = await get<State>(`/api/state?after=${version}`, key);
      version = state.version;
      draw(state.servers, channel);
      drawDecisions(state.decisions, key);
      drawLeft(state.left, channel);
      const ready = state.servers.some(
        ({ name, state: is }) => name === state.open?.server && is === "ready",
      );
      if (first && ready && state.open) {
        first = false;
        // A page that was reloaded has its views back and needs no first one.
        if ((await known) > 0) continue;
        show(
          channel,
          crypto.randomUUID(),
          `${state.open.server}: ${state.open.tool}`,
          {
            server: state.open.server,
            name: state.open.tool,
            arguments: {},
          },
        );
      }
    } catch {
      await pause(2000);
    }
  }
}

/** Draws what changed of the servers; what is typed into the forms of their tools stays. */
function draw(servers: Server[], channel: WebSocketChannel): void {
  const boxes = servers.map((server) => {
    const drawn = DRAWN.get(server.name) ?? emptyBox();
    DRAWN.set(server.name, drawn);
    drawn.box.className = `server ${server.state}`;
    const { tools, ...about } = server;
    const text = JSON.stringify(about);
    if (text !== drawn.text) drawn.about.replaceChildren(...aboutOf(server));
    drawn.text = text;
    drawTools(drawn, server, channel);
    return drawn.box;
  });
  if (boxes.some((box, at) => element("servers").children[at] !== box))
    element("servers").replaceChildren(...boxes);
}

interface Drawn {
  box: HTMLElement;
  about: HTMLElement;
  /** What it says of the server, as JSON. */
  text?: string;
  tools: HTMLElement;
  /** The form of each tool, by its JSON. */
  forms: Map<string, HTMLElement>;
}

function emptyBox(): Drawn {
  const box = make("section", {});
  const [about, tools] = [make("div", {}), make("div", {})];
  box.append(about, tools);
  return { box, about, tools, forms: new Map() };
}

function drawTools(
  drawn: Drawn,
  { name: server, state, tools, more_tools: beyond = 0 }: Server,
  channel: WebSocketChannel,
): void {
  // While a server is started again nothing is known of its tools; the forms that a person fills in wait for it.
  if (state !== "ready" && !tools.length && drawn.forms.size) return;
  const forms = new Map<string, HTMLElement>();
  for (const tool of tools.slice(0, TOOLS)) {
    const text = JSON.stringify(tool);
    forms.set(text, drawn.forms.get(text) ?? toolForm(server, tool, channel));
  }
  const before = [...drawn.forms.values()];
  const now = [...forms.values()];
  drawn.forms = forms;
  if (
    before.length === now.length &&
    now.every((form, at) => form === before[at])
  )
    return;
  // A form that the person is filling in stays open.
  for (const form of before)
    if (form.hasAttribute("open") && !now.includes(form))
      now
        .find((other) => titleOf(other) === titleOf(form))
        ?.setAttribute("open", "");
  const more = Math.max(tools.length - TOOLS, 0) + beyond;
  if (more > 0)
    now.push(
      make("p", {
        className: "more",
        textContent: `… and ${more} more tools, which are not shown.`,
      }),
    );
  drawn.tools.replaceChildren(...now);
}

function titleOf(form: HTMLElement): string | undefined {
  return form.querySelector("summary")?.title;
}

/** What people decided for longer than once, each with a way back. */
function drawDecisions(decisions: Decision[], key: string): void {
  const lines = decisions.map(({ id, server, words, yes, kept }) => {
    const line = make("li", { className: yes ? "yes" : "no" });
    const text = `Views of ${server} may ${yes ? "always" : "never"} ${words}${kept ? "" : ", until Transom ends"}.`;
    const button = make("button", {
      textContent: "Forget",
      ariaLabel: `Forget: ${text}`,
    });
    button.onclick = () => {
      button.disabled = true;
      // What is left is drawn when the host process says so; if it does not answer, the button can be pressed again.
      void forget(id, key).catch(() => (button.disabled = false));
    };
    line.append(make("span", { textContent: text }), button);
    return line;
  });
  element("decided").hidden = !lines.length;
  element("decisions").replaceChildren(...lines);
}

async function forget(id: string, key: string): Promise<void> {
  await fetch("/api/forget", {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ id }),
  });
}

function aboutOf(server: Server): HTMLElement[] {
  const about: HTMLElement[] = [
    make("h2", { textContent: server.name }),
    make("p", { className: "state", textContent: stateOf(server) }),
  ];
  if (server.sign_in) about.push(signIn(server.sign_in));
  for (const finding of server.findings)
    about.push(
      make("p", {
        className: `finding ${finding.severity}`,
        textContent: `${SEVERITY[finding.severity]}: ${finding.words}`,
      }),
    );
  if (server.output) about.push(written(server.output));
  return about;
}

/** Its words, and how many of its views have not been looked at yet. */
function stateOf({ words, unseen }: Server): string {
  if (!unseen) return words;
  return `${words}; ${unseen === 1 ? "1 is" : `${unseen} are`} still being looked at`;
}

/** What a program that is not there any more wrote to its standard error. */
function written(lines: string[]): HTMLElement {
  const details = make("details", { className: "output" });
  details.append(
    make("summary", { textContent: `What it wrote (${lines.length} lines)` }),
    make("pre", { textContent: lines.join("\n"), tabIndex: 0 }),
  );
  return details;
}

/** Opens in a window of its own, which learns nothing of this one. */
function signIn({ url, place }: { url: string; place: string }): HTMLElement {
  const link = make("a", {
    className: "sign-in",
    textContent: `Sign in at ${place}`,
    target: "_blank",
  });
  link.rel = "noopener noreferrer";
  // The host has checked it; a script here would be the end of it all, so the page looks as well.
  if (/^https?:/.test(url)) link.href = url;
  return link;
}

function toolForm(
  server: string,
  tool: Tool,
  channel: WebSocketChannel,
): HTMLElement {
  const details = make("details", { className: "tool" });
  const summary = make("summary", { textContent: tool.title ?? tool.label });
  summary.title = tool.label;
  if (tool.view)
    summary.append(make("span", { className: "badge", textContent: "view" }));
  const open = (how: Record<string, unknown>) =>
    show(
      channel,
      crypto.randomUUID(),
      `${server}: "${tool.label.replaceAll('"', '\\"')}"`,
      { server, name: tool.name, ...how },
    );
  details.append(summary);
  whenOpened(details, () => {
    const { form, read } = argumentsForm(tool, (values) =>
      open({ arguments: values }),
    );
    if (
      tool.view &&
      Object.keys((tool.inputSchema as InputSchema)?.properties ?? {}).length >
        0
    ) {
      const slowly = make("button", {
        textContent: "Run as it is written",
        className: "slowly",
        type: "button",
      });
      slowly.title =
        "Sends the arguments piece by piece, as a model writes them; the tool is called at their end.";
      slowly.onclick = () => {
        const values = read();
        if (values) void write(open({ writing: true }), JSON.stringify(values));
      };
      form.append(slowly);
    }
    return form;
  });
  return details;
}

const DRAWN = new Map<string, Drawn>();
const SEVERITY: Record<Remark["severity"], string> = {
  danger: "Danger",
  warning: "Warning",
  note: "Note",
};
