// Where a view is served from, and where it is shown.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";

const browser = await startBrowser();
after(() => browser.close());
const servers = { stranger: hostile("view") };

async function withBench(options, story) {
  const host = await startHost({ servers, ...options });
  const bench = await openBench(browser, host);
  try {
    await story(bench, host);
    assert.deepEqual(bench.mishaps, []);
  } finally {
    await bench.context.close();
    await host.stop();
  }
}
async function open(bench, tool) {
  const card = await bench.run("stranger", tool);
  await card.guest.locator("body[data-ready]").waitFor();
  return { card, view: await card.frame() };
}

test("with a port for every frame, a view runs on an origin that is nobody else's", async () => {
  await withBench({ args: ["--sandbox", "ports"] }, async (bench, host) => {
    const origins = [host.origin];
    for (const tool of ["open", "open"]) {
      const { card, view } = await open(bench, tool);
      assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked");
      origins.push(await view.evaluate(() => origin), await card.sandbox.locator("html").evaluate(() => origin));
    }
    assert.equal(new Set(origins).size, 5, origins.join(" "));
    for (const each of origins.slice(1)) assert.match(each, /^http:\/\/127\.[1-9]\d*\.\d+\.\d+:\d+$/);
  });
});

test("a view that asks for a domain has a name of its own, the same after a restart", async (t) => {
  const data = mkdtempSync(path.join(tmpdir(), "transom-data-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const names = [];
  for (const round of [1, 2])
    await withBench({ args: ["--data-dir", data] }, async (bench) => {
      const { view } = await open(bench, "home");
      const other = await open(bench, "open");
      const name = async (frame) => (await frame.evaluate(() => location.hostname)).split(".")[0];
      names.push(await name(view));
      assert.notEqual(await name(other.view), names[0], `round ${round}`);
    });
  assert.equal(names[0], names[1]);
});

test("a view moves into a corner and back without being loaded again", async () => {
  await withBench({}, async (bench) => {
    const { card, view } = await open(bench, "open");
    await view.evaluate(() => (globalThis.mark = "still here"));
    const context = () => view.evaluate(() => heard.filter(({ method }) => method.endsWith("host-context-changed")).map(({ params }) => params));
    assert.deepEqual(await view.evaluate(() => ask("ui/request-display-mode", { mode: "pip" })), { mode: "pip" });
    assert.equal(await card.box.locator("transom-view").evaluate((element) => element.mode), "pip");
    const { x, y, width } = await card.box.locator("iframe").boundingBox();
    const room = bench.page.viewportSize();
    assert.ok(x > room.width / 2 && y > room.height / 2 && width < 500, `${x} ${y} ${width}`);
    assert.ok((await context()).some(({ displayMode }) => displayMode === "pip"));

    // The person has a way back that the view has no say in.
    await card.box.locator("transom-view").getByRole("button", { name: "Close" }).click();
    await view.waitForFunction(() => heard.some(({ params }) => params?.displayMode === "inline"));
    assert.equal(await view.evaluate(() => mark), "still here");

    assert.deepEqual(await view.evaluate(() => ask("ui/request-display-mode", { mode: "fullscreen" })), { mode: "fullscreen" });
    const full = (await context()).map(({ containerDimensions }) => containerDimensions).filter(Boolean).at(-1);
    assert.ok(full.width >= room.width - 20 && full.height >= room.height - 20, JSON.stringify(full));
    assert.equal(await view.evaluate(() => mark), "still here");
  });
});
