// ATK-33: a view that floods is stopped, and the ten others on its page go on as before.
//
// A few seconds of it here; `HOSTILE_SECONDS=30 scripts/e2e flood` is the whole length.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { hostile } from "../rig/host.mjs";
import { atOnce, flooder, FLOODS, steadily } from "./floods.mjs";
import { openScene } from "./scene.mjs";

const SECONDS = Number(process.env.HOSTILE_SECONDS ?? 4);
const scene = await openScene({
  after,
  servers: { meek: hostile("suite", "meek") },
  toml: "[servers.meek]\nfrom = \"mcp.json\"\n[servers.meek.limits.view]\nmessages = 1\nmessages-burst = 30\n",
});
const { bench, openNeighbour, openHostile, neighbourWorks, audited } = scene;
const ten = [scene.neighbour];
while (ten.length < 10) ten.push(await openNeighbour());

/** Lets the ten call their tool, one call after the other each, until `enough`; returns when each call began and how long it took, in ms. */
async function latencies(enough) {
  for (const { view } of ten)
    await view.evaluate(() => {
      globalThis.busy = true;
      globalThis.times = (async () => {
        const times = [];
        while (busy) {
          const begun = performance.now();
          await call("steady");
          times.push({ at: performance.timeOrigin + begun, took: performance.now() - begun });
          // About as often as a view that follows a slider, ten times over.
          await new Promise((done) => setTimeout(done, 50));
        }
        return times;
      })();
    });
  await enough;
  const all = await Promise.all(ten.map(({ view }) => view.evaluate(() => ((busy = false), times))));
  assert.ok(all.every((times) => times.length > 0));
  return all.flat().sort((a, b) => a.took - b.took);
}

const at = (times, part) => times[Math.floor((times.length - 1) * part)]?.took ?? NaN;
const figures = (times) => `${[0.5, 0.95, 0.99, 1].map((part) => at(times, part).toFixed(0)).join(" / ")} (${times.length})`;
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
const calm = await latencies(pause(2));

/** The ten are to be under 100 ms. Told here, where every frame of the page's socket goes to the test as well; measured by `bench/host/flood.mjs`. */
function tell(t, times) {
  t.diagnostic(`calls of ten views, median / p95 / p99 / longest in ms: calm ${figures(calm)}, in the flood ${figures(times)}`);
}

async function stopped(card) {
  await card.note.getByText("The view was stopped").waitFor();
  assert.equal(await card.box.locator("iframe").count(), 0);
}
/** Looked up after what is measured: reading a whole audit keeps a core busy for a while. */
const writtenDown = (card) => audited(card, ({ kind, outcome }) => kind === "close" && /too many/.test(outcome));

const openFlooder = (t, what) => openHostile(t, ...flooder(what));
const begin = (view, script) => void view.evaluate(`{ ${script} }`).catch(() => {});

for (const [what, one] of Object.entries(FLOODS))
  test(`ATK-33 50,000 ${what} at once: the view is stopped, the ten others do not notice`, async (t) => {
    const { view, card } = await openFlooder(t, what);
    const done = (async () => {
      begin(view, atOnce(50_000, one));
      await stopped(card);
    })();
    tell(t, await latencies(done));
    await writtenDown(card);
    assert.ok((await bench.log("over the limit").count()) < 200, "it must not wash everything else out of the log");
    await neighbourWorks();
  });

const meek = "This view sends more than 1 messages a second; what is above that waits, or is refused.";

test("ATK-33 a view that is too fast is made to wait, and told of", async (t) => {
  const { view, card } = await openHostile(t, "meek");
  // 200 a second, where it is confirmed 100.
  begin(view, `${steadily(0.2, FLOODS.notifications)} setTimeout(() => clearInterval(ticking), 3_000);`);
  await card.note.getByText(meek).waitFor();
  await audited(card, ({ kind, outcome }) => kind === "limit" && outcome === "slowed");
  // It waits, and is still answered.
  await view.evaluate(() => ask("ping", {}));
  assert.equal(await card.box.locator("iframe").count(), 1);
  await neighbourWorks();
});

test("ATK-33 a flood that nobody else stops is refused and then stopped by the gate", async (t) => {
  const { view, card } = await openHostile(t, "meek");
  // 90 a second: neither the sandbox nor the page stops that, however long it lasts, and it is far above what the gate takes.
  begin(view, steadily(0.09, FLOODS.notifications));
  await card.note.getByText(meek).waitFor();
  await stopped(card);
  await writtenDown(card);
  await neighbourWorks();
});

test(`ATK-33 5,000 messages a second for ${SECONDS} s, by a view that is opened again whenever it is stopped`, async (t) => {
  const kinds = Object.keys(FLOODS);
  const cards = [];
  const floods = [];
  // Views come and go in both, so that what that costs the others is not taken for the flood.
  const comeAndGo = async (live) => {
    const end = Date.now() + SECONDS * 1000;
    for (let n = 0; Date.now() < end; n++) {
      const what = kinds[n % kinds.length];
      const { view, card } = await openFlooder(t, what);
      await live(view, card, what);
      await card.box.evaluate((box) => box.remove());
    }
  };
  const flood = async (view, card, what) => {
    cards.push(card);
    const from = Date.now();
    begin(view, steadily(5, FLOODS[what]));
    await stopped(card);
    floods.push({ from, to: Date.now(), what });
  };
  const times = await latencies(comeAndGo(flood));
  const during = (floods) => times.filter((call) => floods.some(({ from, to }) => call.at + call.took >= from && call.at <= to));
  t.diagnostic(`it was stopped ${cards.length} times`);
  for (const kind of kinds) t.diagnostic(`${kind}: ${figures(during(floods.filter(({ what }) => what === kind)))}`);
  t.diagnostic(`with what opening a view costs: ${figures(times)}`);
  tell(t, during(floods));
  if (process.env.HOSTILE_SECONDS) {
    const silent = await latencies(comeAndGo(() => pause(SECONDS / Math.max(1, cards.length))));
    t.diagnostic(`with a view that comes and goes and says nothing: ${figures(silent)}`);
  }
  for (const card of cards) await writtenDown(card);
  await neighbourWorks();
}, 120_000 + SECONDS * 8_000);

scene.lastly();
