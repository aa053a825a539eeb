// Starts Debian's Chromium in two ways. Playwright's own start denies cross-site storage and switches timer throttling
// off, so what touches storage or timers runs on a plain one: fresh profile, our few flags, attached over CDP.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "playwright-core";

/** Chromium as Playwright starts it. */
export async function startBrowser() {
  return chromium.launch({ executablePath: findChromium(), args: FLAGS });
}

/** Chromium as a person starts it, with a profile of its own; `close` ends it and deletes the profile. */
export async function startPlainBrowser() {
  const profile = mkdtempSync(path.join(tmpdir(), "transom-e2e-"));
  const flags = [
    "--headless",
    ...FLAGS,
    `--user-data-dir=${profile}`,
    "--remote-debugging-port=0",
  ];
  const child = spawn(findChromium(), [...flags, "about:blank"], {
    stdio: "ignore",
    detached: true,
  });
  const exited = new Promise((done) => child.once("exit", done));
  const port = await debuggingPort(profile, exited);
  // Without the defaults: they keep every tab visible and focused.
  const connect = () =>
    chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true });
  let browser = await connect();
  return {
    browser,
    context: browser.contexts()[0],
    /** Lets go of the browser while `work` lasts, so that nobody looks on; returns the page it then finds. */
    async unwatched(work) {
      await browser.close();
      await work;
      browser = await connect();
      return browser.contexts()[0].pages()[0];
    },
    async close() {
      const session = await browser.newBrowserCDPSession();
      await session.send("Browser.close").catch(() => {});
      await Promise.race([exited, delay(5_000, undefined, { ref: false })]);
      // The group is ours: the child was started detached. Helpers that outlive the browser hold the profile open.
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // Nobody left.
      }
      rmSync(profile, {
        recursive: true,
        force: true,
        maxRetries: 10,
        retryDelay: 100,
      });
    },
  };
}

export function findChromium() {
  return (
    process.env.CHROMIUM ??
    execFileSync("sh", ["-c", "command -v chromium"], {
      encoding: "utf8",
    }).trim()
  );
}

// Chromium writes the port it chose into its profile, and nothing announces it.
async function debuggingPort(profile, exited) {
  let gone = false;
  exited.then(() => (gone = true));
  for (;;) {
    try {
      const [port] = readFileSync(
        path.join(profile, "DevToolsActivePort"),
        "utf8",
      ).split("\n");
      if (port) return port;
    } catch {
      // Not yet.
    }
    if (gone)
      throw new Error("chromium ended before it opened its debugging port");
    await delay(25);
  }
}

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Nothing leaves the machine: every other name fails to resolve.
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE *.localhost , EXCLUDE 127.* , EXCLUDE [::1]",
];
