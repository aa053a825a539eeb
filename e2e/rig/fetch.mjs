// A view whose requests are carried, and a tab with the same page and the same backend.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startBrowser } from "./browser.mjs";
import { bundle, page } from "./bundle.mjs";
import { example, openBench, startHost } from "./host.mjs";

/** Starts the host with the backend's server, or with one that asks `upstream`, shows its view, and opens a tab of the backend's own. */
export async function openFetch({ toml = '[policy]\nother-tools = "allow"\n', view = "fetch.view.js", script = "fetch.xhr.js", upstream } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "transom-fetch-"));
  const [document, place] = ["page.html", "place"].map((name) => path.join(folder, name));
  writeFileSync(document, page({ scripts: [await bundle(view)] }));
  const host = await startHost({ servers: { fetch: { command: example("fetch"), args: [document, place, ...(upstream ? [upstream] : [])] } }, toml });
  const browser = await startBrowser();
  const bench = await openBench(browser, host);
  const card = await bench.run("fetch", "show");
  const guest = await card.frame();
  const origin = readFileSync(place, "utf8");
  const tab = await bench.context.newPage();
  await tab.goto(origin);
  await tab.addScriptTag({ content: await bundle(script) });
  return {
    host,
    bench,
    card,
    guest,
    tab,
    origin,
    async stop() {
      await browser.close();
      await host.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** How many slow requests the backend has begun, and how many ended before their time. */
export const countsOf = async (origin) => (await (await fetch(`${origin}/api/counts`)).text()).split(" ").map(Number);

export async function until(condition) {
  while (!(await condition())) await new Promise((done) => setTimeout(done, 10));
}

/** The same, when no request of a test before is under way any more: it would be counted as one of the next. */
export async function settled(origin) {
  let counts;
  await until(async () => (counts = await countsOf(origin))[0] === counts[1]);
  return counts;
}

/** ERR-5: a view takes a request back, and the backend learns of it. */
export async function abortReaches(origin, guest) {
  const [begun, ended] = await settled(origin);
  const error = guest.evaluate(() => {
    globalThis.controller = new AbortController();
    return fetch("/api/slow", { signal: controller.signal }).catch((error) => error);
  });
  await until(async () => (await countsOf(origin))[0] === begun + 1);
  await guest.evaluate(() => controller.abort("enough"));
  assert.equal(await error, "enough");
  await until(async () => (await countsOf(origin))[1] === ended + 1);
}
