/**
 * The page that `transom run` serves: servers, their tools, the views they open, what people are asked,
 * and what happened. It has hands and no opinions: everything is judged in the host process.
 */
import { WebSocketChannel } from "../web/src/host.js";
import { show } from "./card.js";
import { say } from "./dom.js";
import { followPage } from "./facts.js";
import { log } from "./log.js";
import { servers } from "./servers.js";
import { makeSpareSoon } from "./spare.js";

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
          "The host process does not know this page, because it was started again. Open the address that it printed, or press Enter in its terminal for a new one.",
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
  // After the views that come back, which would stand above it.
  void known.then(() => makeSpareSoon(channel));
  followPage();
  void servers(key, channel, known);
  void log(key);
}

const KEY = "transom-key";
const TAB = "transom-tab";

// Last, because everything above must be there when it starts.
const key = await exchange();
if (key === undefined)
  say(
    "Open the address that transom printed: it holds a token that is good once. If it was used already, press Enter in the terminal where transom runs: it prints a new one.",
  );
else start(key);
