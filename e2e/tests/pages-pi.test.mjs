// The sample page servers in a plainly started Chromium: storage as browsers really give it, timers as they really run.
import assert from "node:assert/strict";
import { startPlainBrowser } from "../rig/browser.mjs";
import { connected, startPages } from "../rig/pages.mjs";
import { openSite } from "../rig/site.mjs";
import { after, test } from "../rig/test.mjs";

const [plain, site] = await Promise.all([startPlainBrowser(), openSite()]);
const pages = await startPages(site.host);
after(async () => {
  await plain.close();
  await pages.stop();
  await site.close();
});
const theatre = { site, context: plain.context };
const url = pages.urlOf("pi");

/** How many pixels of the canvas hold a point. */
const painted = (frame) =>
  frame.evaluate(() => {
    const canvas = document.getElementById("points");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((_, at) => at % 4 === 3 && data[at] > 0).length;
  });

test("PI-1 the setup needs nobody, and says what showing the page is good for", async (t) => {
  const { setup } = await connected(t, theatre, url);
  assert.equal(setup.title, "Pi calculator");
  assert.equal(setup.visibility.requirement, "optional");
  assert.match(setup.visibility.description, /points/);
  assert.match(setup.ephemeralMessage, /nothing to set up/);
});

test("PI-2 PI-5 a million seeded points are within 0.01 of pi, in words and in numbers", async (t) => {
  const { call, on } = await connected(t, theatre, url);
  assert.deepEqual((await on("tools")("server")).map(({ name }) => name), ["calculate_pi", "reset"]);
  const ask = { iterations: 1_000_000, seed: 7 };
  const { value: first } = await call("calculate_pi", ask);
  const { estimate, total, iterations } = first.structuredContent;
  assert.ok(Math.abs(estimate - Math.PI) < 0.01, `${estimate}`);
  assert.deepEqual([total, iterations], [1_000_000, 1_000_000]);
  assert.match(first.content[0].text, /about 3\.1\d+.*off, after 1000000 points/);
  assert.equal((await call("calculate_pi", ask)).value.structuredContent.total, 2_000_000);
  await call("reset");
  assert.deepEqual((await call("calculate_pi", ask)).value.structuredContent.estimate, estimate);
});

test("PI-2 too few and too many points are refused with words", async (t) => {
  const { call } = await connected(t, theatre, url);
  for (const iterations of [999, 1_000_001, 1.5]) {
    const { value, error } = await call("calculate_pi", { iterations });
    assert.ok(error ?? value.isError, `${iterations}`);
  }
});

test("PI-3 VIS-7 a hidden page tells of its progress and can be cancelled", async (t) => {
  const { call, on } = await connected(t, theatre, url);
  await call("calculate_pi", { iterations: 200_000 });
  const steps = await on("progressOf")("server");
  assert.ok(steps.length > 1 && steps.every((step, i) => i === 0 || step > steps[i - 1]), steps.join());
  // Runs wait for one another, so that the last of six is cancelled while it waits.
  await call("reset");
  const runs = Array.from({ length: 6 }, (_, i) => call("calculate_pi", { iterations: 1_000_000 }, { cancelled: i === 5 }));
  const ends = await Promise.all(runs);
  assert.deepEqual(ends.map(({ error }) => error !== undefined), [false, false, false, false, false, true]);
  const { value } = await call("calculate_pi", { iterations: 1_000 });
  assert.equal(value.structuredContent.total, 5_001_000);
});

test("PI-4 PI-6 what was computed unseen is painted when somebody looks, as pixels and not as points", async (t) => {
  const { call, on, inner } = await connected(t, theatre, url);
  const frame = await inner();
  assert.equal(await painted(frame), 0);
  await call("calculate_pi", { iterations: 50_000, seed: 1 });
  await on("show")("server");
  const some = await painted(frame);
  assert.ok(some > 10_000, `${some}`);
  await on("hide")("server");
  await call("calculate_pi", { iterations: 1_000_000, seed: 2 });
  await on("show")("server");
  // All of the square is hit by now: what is held does not grow with the number of points.
  assert.ok((await painted(frame)) > 89_000);
});
