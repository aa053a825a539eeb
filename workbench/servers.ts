/** The servers with their tools, and what people decided about them. */
import type { WebSocketChannel } from "../web/src/host.js";
import { show } from "./card.js";
import { element, get, make, pause } from "./dom.js";
import { argumentsForm, whenOpened, write, type InputSchema } from "./form.js";
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

/** Draws the servers that changed; what is typed into the forms of the others stays. */
function draw(servers: Server[], channel: WebSocketChannel): void {
  const boxes = servers.map((server) => {
    const text = JSON.stringify(server);
    const drawn = DRAWN.get(server.name);
    const box = drawn?.text === text ? drawn.box : serverBox(server, channel);
    // A form that the person is filling in stays open.
    for (const tool of box === drawn?.box
      ? []
      : (drawn?.box.querySelectorAll("details[open] summary") ?? []))
      box
        .querySelector(
          `summary[title="${CSS.escape((tool as HTMLElement).title)}"]`,
        )
        ?.parentElement?.setAttribute("open", "");
    DRAWN.set(server.name, { text, box });
    return box;
  });
  if (boxes.some((box, at) => element("servers").children[at] !== box))
    element("servers").replaceChildren(...boxes);
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

function serverBox(server: Server, channel: WebSocketChannel): HTMLElement {
  const box = make("section", { className: `server ${server.state}` });
  box.append(
    make("h2", { textContent: server.name }),
    make("p", { className: "state", textContent: server.words }),
  );
  if (server.sign_in) box.append(signIn(server.sign_in));
  for (const finding of server.findings)
    box.append(
      make("p", {
        className: `finding ${finding.severity}`,
        textContent: `${SEVERITY[finding.severity]}: ${finding.words}`,
      }),
    );
  for (const tool of server.tools.slice(0, TOOLS))
    box.append(toolForm(server.name, tool, channel));
  const more = server.tools.length - TOOLS;
  if (more > 0)
    box.append(
      make("p", {
        className: "more",
        textContent: `… and ${more} more tools, which are not shown.`,
      }),
    );
  return box;
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

const DRAWN = new Map<string, { text: string; box: HTMLElement }>();
const SEVERITY: Record<Remark["severity"], string> = {
  danger: "Danger",
  warning: "Warning",
  note: "Note",
};
