// Debian's Firefox ESR, driven over WebDriver BiDi. What it cannot do here is said, and no test is left out quietly.
import { execFileSync } from "node:child_process";
import puppeteer from "puppeteer-core";

/** Where Firefox is, if it is installed. */
export function findFirefox() {
  if (process.env.FIREFOX) return process.env.FIREFOX;
  try {
    return execFileSync("sh", ["-c", "command -v firefox-esr"], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}

/** Firefox with a profile of its own. Nothing leaves the machine: what is not loopback goes to a proxy that is not there. */
export const startFirefox = () =>
  puppeteer.launch({
    browser: "firefox",
    executablePath: findFirefox(),
    headless: true,
    extraPrefsFirefox: {
      "network.proxy.type": 1,
      "network.proxy.http": "127.0.0.1",
      "network.proxy.http_port": 9,
      "network.proxy.ssl": "127.0.0.1",
      "network.proxy.ssl_port": 9,
      "network.proxy.no_proxies_on": "localhost, .localhost, 127.0.0.1",
      "network.proxy.allow_hijacking_localhost": false,
    },
  });

/** Waits until something is true; `what` names it when it never is. */
export async function until(what, look, limit = 60_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found) return found;
    if (Date.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
