// What people agreed to belongs to a place, to what a tool says of itself, and to what a tool shows. Never to a name or an address.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "transom-places-"));
const [one, other] = ["one", "other"].map((name) => path.join(folder, name));
for (const each of [one, other]) mkdirSync(each);
const browser = await startBrowser();
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A run of the host with one data folder for all of them, and of the same words in a folder. */
async function inFolder(server, cwd, story) {
  const host = await startHost({ servers: { same: { ...server, cwd } }, args: ["--data-dir", path.join(folder, "data")] });
  const bench = await openBench(browser, host);
  try {
    await story(bench);
    assert.deepEqual(bench.mishaps, []);
  } finally {
    await bench.context.close();
    await host.stop();
  }
}
async function open(bench, tool = "open") {
  const card = await bench.run("same", tool);
  await card.guest.locator("body[data-ready]").waitFor();
  return { card, view: await card.frame() };
}
const change = (view) => view.evaluate(() => call("change"));
const changed = async (view, words) => assert.equal((await change(view)).content[0].text, words);
const isAsked = (card) => card.ask.getByText("wants to call").waitFor();

test("an always for a program in one folder is none for the same words in another", async () => {
  const server = hostile("suite", "same");
  for (const [cwd, asked] of [[one, true], [one, false], [other, true]])
    await inFolder(server, cwd, async (bench) => {
      const { card, view } = await open(bench);
      const called = change(view);
      if (asked) {
        await isAsked(card);
        await card.answer(cwd === one ? "allow-always" : "deny");
      }
      assert.equal((await called).content?.[0].text, cwd === one ? "changed same" : undefined);
      assert.equal(await card.ask.count(), 0);
    });
});

test("two programs of one name with one declared domain have two origins", async () => {
  const names = [];
  for (const cwd of [one, other, one])
    await inFolder(hostile("view"), cwd, async (bench) => {
      const { view } = await open(bench, "home");
      names.push(await view.evaluate(() => location.hostname));
    });
  assert.equal(names[0], names[2]);
  assert.notEqual(names[0], names[1]);
});

// A tool that comes to destroy is asked about alone whatever was allowed before; one that comes to reach further only because it changed.
for (const [words, hint] of [["destroy", "destructiveHint"], ["reach further", "openWorldHint"]])
  test(`an always ends when its tool comes to ${words}, and the question says so`, async () => {
    await inFolder(hostile("shifty", hint), one, async (bench) => {
      const { card, view } = await open(bench);
      const first = change(view);
      await isAsked(card);
      await card.answer("allow-always");
      await first;
      await changed(view, "changed");
      const listed = bench.log("same4 tools, 1 view");
      const before = await listed.count();
      const worse = await bench.run("same", "worsen");
      await worse.box.locator(".answer", { hasText: "worse" }).waitFor();
      await listed.nth(before).waitFor();
      await bench.page.locator("#decisions li", { hasText: "you are asked again, for it changed since: \"change\"" }).waitFor();
      const again = change(view);
      await isAsked(card);
      await card.ask.getByText(`since you allowed it: ${hint} was not said, and is true now`).waitFor();
      await card.answer("deny");
      assert.match((await again).message, /./);
    });
  });

test("a document that moves to another address is a change like any other", async () => {
  await inFolder(hostile("shifty"), other, async (bench) => {
    const { card } = await open(bench);
    assert.equal(await card.ask.count(), 0);
    const listed = bench.log("same4 tools, 1 view");
    const before = await listed.count();
    const moved = await bench.run("same", "move");
    await moved.box.locator(".answer", { hasText: "moved" }).waitFor();
    await listed.nth(before).waitFor();
    const next = await bench.run("same", "open");
    await next.ask.getByText("is not the one you have seen before").waitFor();
    await next.ask.getByText('its address is "ui://shifty/open.html?v=2", before "ui://shifty/open.html"').waitFor();
    assert.equal(await next.box.locator("iframe").count(), 0, "and nothing runs meanwhile");
    await next.answer("allow");
    await next.guest.locator("body[data-ready]").waitFor();
  });
});
