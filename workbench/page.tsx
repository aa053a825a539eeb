/**
 * The page that `transom run` serves: servers, their tools, the views they open, what people are asked,
 * and what happened. It has hands and no opinions: everything is judged in the host process.
 */
import { render } from "preact";
import { WebSocketChannel } from "../web/src/host.js";
import { useKey } from "./api.js";
import { show } from "./card.js";
import { followPage } from "./facts.js";
import { rememberLayout, setPanes } from "./layout.js";
import { PANES } from "./panes.js";
import { Workbench } from "./shell/workbench.js";
import { followRuns } from "./runs.js";
import { hearPalette } from "./shell/palette.js";
import { makeSpareSoon } from "./spare.js";
import type { State } from "./state.generated.js";
import { channel, followLog, followState, status } from "./state.js";
import { followTalk } from "./talk.js";

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

function start(key: string): void {
  useKey(key);
  const url = new URL("/ws", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  let reopened: (count: number) => void = () => {};
  const views = new Promise<number>((resolve) => (reopened = resolve));
  const socket = new WebSocketChannel({
    url: url.href,
    key,
    tab: tab(),
    onstate(state) {
      document.body.dataset["socket"] = state;
      if (state === "refused") sessionStorage.removeItem(KEY);
      status.value = SOCKET[state] ?? "";
    },
    onviews(views) {
      for (const view of views)
        if (!document.querySelector(`transom-view[view="${view}"]`))
          show(socket, view, "Shown again");
      reopened(views.length);
    },
  });
  channel.value = socket;
  // After the views that come back, which would stand above it.
  void views.then(() => makeSpareSoon(socket));
  followPage();
  void followState(opener(socket, views));
  void followLog();
  followRuns();
  void followTalk();
}

/** Opens the tool that a fresh page opens by itself, once, when its server is ready. */
function opener(socket: WebSocketChannel, views: Promise<number>) {
  let first = true;
  return async ({ servers, open }: State) => {
    const ready = servers.some(
      ({ name, state }) => name === open?.server && state === "ready",
    );
    if (!first || !ready || !open) return;
    first = false;
    // A page that was reloaded has its views back and needs no first one.
    if ((await views) > 0) return;
    show(socket, crypto.randomUUID(), `${open.server}: ${open.tool}`, {
      server: open.server,
      name: open.tool,
      arguments: {},
    });
  };
}

const KEY = "transom-key";
const TAB = "transom-tab";
const SOCKET: Record<string, string> = {
  lost: "The host process is not answering. Is transom still running? Trying again…",
  refused:
    "The host process does not know this page, because it was started again. Open the address that it printed, or press Enter in its terminal for a new one.",
  replaced:
    "This page was opened again in another place. Go on there, or reload this one.",
};

// Last, because everything above must be there when it starts.
setPanes(PANES);
rememberLayout();
hearPalette();
render(<Workbench />, document.getElementById("app")!);
const key = await exchange();
if (key === undefined)
  status.value =
    "Open the address that transom printed: it holds a token that is good once. If it was used already, press Enter in the terminal where transom runs: it prints a new one.";
else start(key);
