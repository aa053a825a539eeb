/**
 * The page that `transom run` serves: servers, their tools, the views they open, what people are asked,
 * and what happened. It has hands and no opinions: everything is judged in the host process.
 */
import {
  WebSocketChannel,
  type Called,
  type Deed,
  type Facts,
  type Offers,
  type TransomView,
  type TransomViewEvents,
} from "../web/src/host.js";
import { put, withdraw } from "./questions.js";

type Tool = {
  name: string;
  /** Its name as people may read it. */
  label: string;
  title?: string;
  description?: string;
  inputSchema?: { properties?: Record<string, Schema>; required?: string[] };
  view: boolean;
};
type Schema = {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
};
type Server = {
  name: string;
  state: "connecting" | "sign-in" | "ready" | "gone";
  words: string;
  tools: Tool[];
  findings: { severity: string; words: string }[];
  sign_in?: { url: string; place: string };
};
type Decision = {
  id: string;
  server: string;
  words: string;
  yes: boolean;
  kept: boolean;
};
/** What of a question is folded: how much, what, and how much there is even beyond that. */
type Entry = {
  n: number;
  at: string;
  kind: string;
  who: string;
  words: string;
};

/** The token in the fragment is good for one key, which stays in this tab. */
async function exchange(): Promise<string | undefined> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) {
    history.replaceState(null, "", location.pathname);
    const response = await fetch("/api/key", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (response.ok) {
      const { key } = (await response.json()) as { key: string };
      sessionStorage.setItem(KEY, key);
    }
  }
  return sessionStorage.getItem(KEY) ?? undefined;
}

/**
 * What names this tab from one load to the next. It is in the storage only between two loads: a tab that is
 * duplicated copies its storage, and must not find the name of a tab that lives.
 */
function tab(): string {
  const name = sessionStorage.getItem(TAB) ?? crypto.randomUUID();
  sessionStorage.removeItem(TAB);
  addEventListener("pagehide", () => sessionStorage.setItem(TAB, name));
  addEventListener("pageshow", () => sessionStorage.removeItem(TAB));
  return name;
}

/** What views are told about this page. Nothing covers a view in the page; in fullscreen something may. */
function facts(mode: TransomView["mode"] = "inline"): Facts {
  const has = (query: string) => matchMedia(query).matches;
  const style = getComputedStyle(document.documentElement);
  const inset = (side: string) =>
    mode === "fullscreen"
      ? parseFloat(style.getPropertyValue(`--inset-${side}`)) || 0
      : 0;
  return {
    theme: has(DARK) ? "dark" : "light",
    locale: navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    touch: has("(any-pointer: coarse)"),
    hover: has("(any-hover: hover)"),
    insets: {
      top: inset("top"),
      right: inset("right"),
      bottom: inset("bottom"),
      left: inset("left"),
    },
  };
}

/** Tells every view when something about this page changes. */
function followPage(): void {
  const views = () => document.querySelectorAll("transom-view");
  const tell = () =>
    views().forEach((view) => view.say({ context: facts(view.mode) }));
  for (const query of [DARK, "(any-pointer: coarse)", "(any-hover: hover)"])
    matchMedia(query).addEventListener("change", tell);
  addEventListener("languagechange", tell);
  addEventListener("resize", () => views().forEach((view) => view.fit()));
}

function start(key: string): void {
  const url = new URL("/ws", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  let reopened: (count: number) => void = () => {};
  const known = new Promise<number>((resolve) => (reopened = resolve));
  const channel = new WebSocketChannel({
    url: url.href,
    key,
    tab: tab(),
    onstate(state) {
      document.body.dataset.socket = state;
      if (state === "lost")
        say(
          "The host process is not answering. Is transom still running? Trying again…",
        );
      else if (state === "refused") {
        sessionStorage.removeItem(KEY);
        say(
          "The host process does not know this page, because it was started again. Open the address that it printed.",
        );
      } else if (state === "replaced")
        say(
          "This page was opened again in another place. Go on there, or reload this one.",
        );
      else say("");
    },
    onviews(views) {
      for (const view of views)
        if (!document.querySelector(`transom-view[view="${view}"]`))
          show(channel, view, "Shown again");
      reopened(views.length);
    },
  });
  followPage();
  void servers(key, channel, known);
  void log(key);
}

async function get<T>(path: string, key: string): Promise<T> {
  const response = await fetch(path, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as T;
}

/** Draws the servers whenever something about them changed. */
async function servers(
  key: string,
  channel: WebSocketChannel,
  known: Promise<number>,
): Promise<void> {
  let version = -1;
  let first = true;
  for (;;) {
    try {
      const state = await get<{
        version: number;
        servers: Server[];
        decisions: Decision[];
        open?: { server: string; tool: string };
      }>(`/api/state?after=${version}`, key);
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
    // A form that somebody is in the middle of stays open.
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
        textContent: `${SEVERITY[finding.severity] ?? finding.severity}: ${finding.words}`,
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
      Object.keys(tool.inputSchema?.properties ?? {}).length > 0
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

/** Draws what is in a box when somebody opens it: a stranger says what that is, and how much, and may say it again every second. */
function whenOpened(
  details: HTMLDetailsElement,
  content: () => HTMLElement,
): void {
  details.addEventListener("toggle", () => details.append(content()), {
    once: true,
  });
}

/** A form for the arguments of a tool; what is in it, or nothing while something is wrong with it. */
function argumentsForm(
  tool: Pick<Tool, "description" | "inputSchema">,
  run: (values: Record<string, unknown>) => void,
) {
  const form = make("form", {});
  if (tool.description)
    form.append(make("p", { textContent: tool.description }));
  const properties = Object.entries(tool.inputSchema?.properties ?? {});
  // The host process leaves out a schema that is too large.
  const whole =
    !tool.inputSchema || properties.length > FIELDS
      ? field("All arguments", { type: "object" }, false)
      : undefined;
  const fields = whole
    ? []
    : properties.map(([name, schema]) =>
        field(
          name,
          schema,
          tool.inputSchema?.required?.includes(name) ?? false,
        ),
      );
  form.append(
    ...(whole ? [whole] : fields).map(({ label }) => label),
    make("button", { textContent: "Run" }),
  );
  const read = () => {
    const values = {
      ...(whole?.read() as Record<string, unknown> | undefined),
    };
    for (const { name, read } of fields) {
      const value = read();
      if (value !== undefined) values[name] = value;
    }
    return form.reportValidity() ? values : undefined;
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    const values = read();
    if (values) run(values);
  };
  return { form, read };
}

/**
 * Writes arguments into a view piece by piece, from when it is there to see the first of them: a view says so by its lane or
 * its size, if it says anything. A view that has gone hears nothing of the rest.
 */
async function write(view: TransomView, text: string): Promise<void> {
  const signs = [
    "transom-lane",
    "transom-resize",
    "transom-text",
    "transom-close",
  ] as const;
  const there = signs.map(
    (sign) =>
      new Promise((done) => view.addEventListener(sign, done, { once: true })),
  );
  await Promise.race([...there, pause(VIEW_PAUSE)]);
  for (let at = 0; at < text.length; at += PIECE) {
    const done = at + PIECE >= text.length;
    view.say({
      arguments: { text: text.slice(at, at + PIECE), ...(done && { done }) },
    });
    await pause(PIECE_PAUSE);
  }
}

type Field = { name: string; label: HTMLElement; read: () => unknown };

/** Objects and arrays are typed as JSON; everything else as what it is. */
function field(name: string, schema: Schema, required: boolean): Field {
  // An optional value is often "this or null"; here it is left out instead.
  const type = [schema.type].flat().find((each) => each !== "null");
  const label = make("label", { textContent: name + (required ? " *" : "") });
  const explain = () =>
    schema.description &&
    label.append(make("small", { textContent: schema.description }));
  if (type === "boolean") {
    const input = make("input", {
      type: "checkbox",
      checked: schema.default === true,
    });
    label.prepend(input);
    explain();
    return { name, label, read: () => input.checked };
  }
  if (schema.enum) {
    const select = make("select", {});
    if (!required && schema.default === undefined)
      select.append(make("option", { textContent: "–", value: "" }));
    for (const value of schema.enum)
      select.append(
        make("option", {
          textContent: String(value),
          value: JSON.stringify(value),
        }),
      );
    if (schema.default !== undefined)
      select.value = JSON.stringify(schema.default);
    label.append(select);
    explain();
    return {
      name,
      label,
      read: () =>
        select.value ? (JSON.parse(select.value) as unknown) : undefined,
    };
  }
  const number = type === "number" || type === "integer";
  const structured = type === "object" || type === "array";
  const input = structured
    ? make("textarea", { placeholder: "JSON" })
    : make("input", { type: number ? "number" : "text" });
  if (input instanceof HTMLInputElement && number) input.step = "any";
  input.required = required;
  if (schema.default !== undefined)
    input.value = structured
      ? JSON.stringify(schema.default)
      : String(schema.default);
  label.append(input);
  explain();
  input.oninput = () => input.setCustomValidity("");
  const read = (): unknown => {
    if (input.value === "") return undefined;
    if (!number && !structured) return input.value;
    try {
      const value: unknown = JSON.parse(input.value);
      if (
        type !== "object" ||
        (typeof value === "object" && value && !Array.isArray(value))
      )
        return value;
      input.setCustomValidity("Write a JSON object.");
    } catch {
      input.setCustomValidity(
        structured ? "Write this as JSON." : "Write a number.",
      );
    }
    return undefined;
  };
  return { name, label, read };
}

/** Makes a place for a view; with a tool, the host process calls it and opens what it links to. */
function show(
  channel: WebSocketChannel,
  view: string,
  title: string,
  tool?: NonNullable<TransomView["tool"]>,
): TransomView {
  const card = make("article", { className: "view" });
  const element_ = document.createElement("transom-view") as TransomView;
  const close = make("button", { textContent: "Close", className: "close" });
  const head = make("header", {});
  const heading = make("h3", { textContent: title });
  head.append(heading, close);
  close.ariaLabel = `Close ${title}`;
  card.ariaLabel = title;
  const note = make("p", { className: "note", textContent: "Opening…" });
  note.setAttribute("role", "status");
  element_.setAttribute("view", view);
  element_.setAttribute("label", title);
  if (tool) element_.tool = tool;
  element_.facts = facts();
  element_.addEventListener("transom-open", ({ detail }) => {
    note.textContent = "";
    if (!tool && detail.title)
      card.ariaLabel = heading.textContent = detail.title;
  });
  element_.addEventListener("transom-mode", () =>
    element_.say({ context: facts(element_.mode) }),
  );
  element_.addEventListener("transom-ask", (event) => {
    event.preventDefault();
    note.textContent = "";
    const { answer, ...ask } = (event as TransomViewEvents["transom-ask"])
      .detail;
    put({ view: element_, ask, answer });
  });
  element_.addEventListener("transom-withdraw", ({ detail }) =>
    withdraw(element_, detail.id),
  );
  element_.addEventListener("transom-do", ({ detail }) =>
    element_.say({ did: { id: detail.id, done: carryOut(detail) } }),
  );
  element_.addEventListener(
    "transom-note",
    ({ detail }) => (note.textContent = detail.text),
  );
  element_.addEventListener("transom-text", ({ detail }) => {
    note.textContent = detail.why;
    close.textContent = "Remove";
    withdraw(element_);
    card.querySelectorAll(".answer, .offers").forEach((each) => each.remove());
    card.append(
      detail.text === undefined
        ? make("p", {
            className: "answer",
            textContent: "Waiting for the tool's answer…",
          })
        : make("pre", {
            className: "answer",
            textContent: detail.text || "The tool's answer has no text.",
            tabIndex: 0,
          }),
    );
  });
  element_.addEventListener("transom-tools", ({ detail }) =>
    offers(card, element_, detail.tools),
  );
  element_.addEventListener("transom-called", ({ detail }) =>
    called(card, detail),
  );
  element_.addEventListener("transom-close", (event) => {
    const { reason } = (event as TransomViewEvents["transom-close"]).detail;
    withdraw(element_);
    card.querySelectorAll(".offers").forEach((each) => each.remove());
    // No answer comes any more; why there is no view has been said.
    const answer = card.querySelector(".answer");
    if (answer?.matches("p")) answer.remove();
    if (!answer)
      note.textContent = CLOSED[reason] ?? `The view ended: ${reason}.`;
    close.textContent = "Remove";
    close.onclick = () => card.remove();
    if (reason === "teardown") card.remove();
  });
  close.onclick = () => element_.close();
  card.append(head, element_, note);
  element("views").prepend(card);
  element_.channel = channel;
  return element_;
}

/** The tools that the view itself offers, apart from its server's (H-114); here a person calls them in the model's place. */
function offers(
  card: HTMLElement,
  view: TransomView,
  tools: Offers["tools"],
): void {
  const before = card.querySelector(".offers");
  const box = make("section", {
    className: "offers",
    ariaLabel: "Tools of this view",
  });
  box.append(
    make("p", {
      className: "note",
      textContent: "This view offers tools to the model:",
    }),
  );
  for (const tool of tools.slice(0, TOOLS) as (Offers["tools"][number] &
    Tool)[]) {
    // What is as it was stays: somebody may be filling it in, or waiting for its answer.
    const same = JSON.stringify(tool);
    const kept = [
      ...(before?.querySelectorAll<HTMLElement>("details") ?? []),
    ].find(({ dataset }) => dataset["tool"] === same);
    if (kept) {
      box.append(kept);
      continue;
    }
    const details = make("details", { className: "tool" });
    details.dataset["tool"] = same;
    const summary = make("summary", { textContent: tool.title ?? tool.name });
    summary.title = tool.name;
    const id = crypto.randomUUID();
    const answer = make("pre", {
      className: "answer",
      hidden: true,
      tabIndex: 0,
    });
    answer.dataset["call"] = id;
    details.append(summary);
    whenOpened(details, () => {
      const { form } = argumentsForm(tool, (values) => {
        answer.hidden = false;
        answer.textContent = "Waiting for the view…";
        view.say({ call: { id, name: tool.name, arguments: values } });
      });
      form.append(answer);
      return form;
    });
    box.append(details);
  }
  for (const open of before?.querySelectorAll("details[open] summary") ?? [])
    box
      .querySelector(
        `summary[title="${CSS.escape((open as HTMLElement).title)}"]`,
      )
      ?.parentElement?.setAttribute("open", "");
  if (tools.length === 0) before?.remove();
  else if (before) before.replaceWith(box);
  else card.append(box);
}

function called(card: HTMLElement, { id, text, failed }: Called): void {
  const answer = card.querySelector<HTMLElement>(
    `.answer[data-call="${CSS.escape(id)}"]`,
  );
  if (!answer) return;
  answer.textContent = text || "The answer has no text.";
  answer.classList.toggle("failed", failed);
}

/**
 * Does what the host process has judged and now orders. The click that allowed it still counts for some
 * seconds; without one the browser would quietly block a window, so that is said instead.
 */
function carryOut(deed: Deed): boolean {
  if (!navigator.userActivation.isActive) return false;
  if (deed.kind === "link" && deed.url)
    open(deed.url, "_blank", "noopener,noreferrer");
  for (const file of deed.contents ?? []) save(file);
  return true;
}

function save(file: {
  name: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}): void {
  const bytes =
    file.blob === undefined
      ? (file.text ?? "")
      : Uint8Array.from(atob(file.blob), (c) => c.charCodeAt(0));
  const href = URL.createObjectURL(
    new Blob([bytes], { type: file.mimeType ?? "application/octet-stream" }),
  );
  make("a", { href, download: file.name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** What happened, newest first. */
async function log(key: string): Promise<void> {
  let next = 0;
  const lines = element("log");
  for (;;) {
    try {
      const { entries } = await get<{ entries: Entry[] }>(
        `/api/log?after=${next}`,
        key,
      );
      // Every message of every view passes through this page: drawing a line for each as it comes would make them wait,
      // and the first line of a view is written when its frames are about to be loaded.
      await pause(LOG_PAUSE);
      next = entries.at(-1)?.n ?? next;
      const fresh = entries.slice(-LOG_LINES).map((entry) => {
        const line = make("li", { className: `line-${entry.kind}` });
        line.append(
          make("time", { textContent: entry.at }),
          make("b", { textContent: entry.who }),
          make("span", { textContent: entry.words }),
        );
        return line;
      });
      lines.prepend(...fresh.reverse());
      while (lines.childElementCount > LOG_LINES)
        lines.lastElementChild?.remove();
    } catch {
      await pause(2000);
    }
  }
}

function say(words: string): void {
  element("status").textContent = words;
}

function element(id: string): HTMLElement {
  return document.getElementById(id)!;
}

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(name), properties);
}

const pause = (time: number) =>
  new Promise((resolve) => setTimeout(resolve, time));

const DRAWN = new Map<string, { text: string; box: HTMLElement }>();
const KEY = "transom-key";
const TAB = "transom-tab";
const DARK = "(prefers-color-scheme: dark)";
const LOG_PAUSE = 200;
/** As many as are drawn in a few milliseconds: every view on the page waits for that. */
const LOG_LINES = 200;
/** About as fast as a model writes. */
/** How many tools are listed, and how many fields a form has at most. */
const TOOLS = 500;
const FIELDS = 100;

const PIECE = 4;
const PIECE_PAUSE = 40;
/** How long a view that gives no sign of being there is waited for. */
const VIEW_PAUSE = 3_000;
const SEVERITY: Record<string, string> = {
  danger: "Danger",
  warning: "Warning",
  note: "Note",
};
const CLOSED: Record<string, string> = {
  unknown: "The host process no longer has this view.",
  lost: "The connection to the host process was lost and the view with it.",
  overrun:
    "The view was stopped: it sent more than the host process could take.",
};

// Last, because everything above must be there when it starts.
const key = await exchange();
if (key === undefined)
  say(
    "Open the address that transom printed: it holds a token that is good once. If it was used already, start transom again.",
  );
else start(key);
