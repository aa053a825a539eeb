// A view that floods beside ten that call their tool: how long their calls take. Prints; asserts nothing. Nobody is attached to the
// browser while it is measured: a debugger is told of every frame of a socket, and takes a third of a core for that.
//   node flood.mjs [--rounds=5]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startPlainBrowser } from "../../e2e/rig/browser.mjs";
import { bundle, page as document } from "../../e2e/rig/bundle.mjs";
import { atOnce, flooder as flooderOf, FLOODS, steadily } from "../../e2e/hostile/floods.mjs";
import { benchOf, hostile, startHost } from "../../e2e/rig/host.mjs";

process.env.TRANSOM ??= fileURLToPath(new URL("../../target/release/transom", import.meta.url));
const rounds = Number(/^--rounds=(\d+)$/.exec(process.argv[2] ?? "--rounds=5")[1]);

const CALM = 2_000;
const LENGTH = 3_000;
const SILENT = "nothing at all";
/** What any busy view costs the others where cores are few; what a flood costs is the rest. */
const COMPUTING = "nothing, but computing";
const compute = () => {
  for (const end = performance.now() + 0.02; performance.now() < end; );
};
const KINDS = { [SILENT]: () => {}, [COMPUTING]: compute, ...FLOODS };
const WAYS = {
  "5,000 a second": (one) => steadily(5, one),
  "50,000 at once": (one) => atOnce(50_000, one),
};

const folder = mkdtempSync(path.join(tmpdir(), "transom-flood-"));
const file = path.join(folder, "neighbour.html");
writeFileSync(file, document({ body: "<p>A neighbour</p>", scripts: [await bundle("neighbour.view.js")] }));
const host = await startHost({ servers: { stranger: hostile("suite", "stranger"), neighbour: hostile("library", file) } });
const chromium = await startPlainBrowser();
let page = chromium.context.pages()[0];
await page.setViewportSize({ width: 1280, height: 900 });
await page.goto(host.url);

const open = async (server, tool) => {
  const card = await benchOf(page).run(server, tool);
  await card.guest.locator("body[data-ready]").waitFor();
  return card;
};
for (let left = 10; left > 0; left--) await open("neighbour", "steady");
await page.evaluate(() => {
  new MutationObserver(() => {
    if (document.querySelector("#views .note")?.textContent.startsWith("The view was stopped")) globalThis.stopped ??= Date.now();
  }).observe(document.querySelector("#views"), { childList: true, subtree: true, characterData: true });
});

/** Runs in each of the ten: calls until `end`, about as often as a view that follows a slider. */
function measure({ begin, end }) {
  const now = () => performance.timeOrigin + performance.now();
  globalThis.times = [];
  const next = async () => {
    const from = now();
    if (from > end) return;
    await call("steady");
    times.push({ from, took: now() - from });
    setTimeout(next, 50);
  };
  setTimeout(next, begin - now());
}

const found = new Map();
const add = (name, times) => found.set(name, [...(found.get(name) ?? []), ...times]);
for (let round = 0; round < rounds; round++)
  for (const [way, body] of Object.entries(WAYS))
    for (const [kind, one] of Object.entries(KINDS)) {
      const card = await open(...flooderOf(kind));
      const flooder = await card.frame();
      const frames = page.frames().filter((frame) => frame !== flooder);
      const begin = Date.now() + 3_000;
      const flood = begin + CALM;
      const end = flood + LENGTH;
      for (const frame of frames) await frame.evaluate(`typeof call === "function" && (${measure})({ begin: ${begin}, end: ${end} })`).catch(() => {});
      await flooder.evaluate(`setTimeout(() => { ${body(one)} }, ${flood} - Date.now())`);
      await page.evaluate(() => delete globalThis.stopped);
      page = await chromium.unwatched(delay(end + 500 - Date.now()));
      const stopped = (await page.evaluate(() => globalThis.stopped)) ?? end;
      const times = [];
      for (const frame of page.frames()) times.push(...((await frame.evaluate(() => globalThis.times).catch(() => undefined)) ?? []));
      add("calm", times.filter(({ from, took }) => from + took < flood));
      add(`${way}: ${kind}`, times.filter(({ from, took }) => from + took >= flood && from <= stopped));
      if (kind in FLOODS) add(`${way}: ${kind}: stopped after`, [{ took: stopped - flood }]);
      await page.evaluate(() => document.querySelector("#views article.view").remove());
    }

const at = (times, part) => times[Math.floor((times.length - 1) * part)]?.took.toFixed(0) ?? "-";
console.log("calls of the ten, in ms: median / 95th percentile / 99th / longest (how many)");
for (const [name, times] of found) {
  times.sort((a, b) => a.took - b.took);
  console.log(`${name.padEnd(52)} ${[0.5, 0.95, 0.99, 1].map((part) => at(times, part)).join(" / ")} (${times.length})`);
}
await chromium.close();
await host.stop();
rmSync(folder, { recursive: true });
