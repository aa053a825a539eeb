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
    await story(bench, host);
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
for (const [words, hint] of [
  ["an always ends when its tool comes to destroy", "destructiveHint"],
  ["an always ends when its tool comes to reach further", "openWorldHint"],
])
  test(`${words}, and the question says so`, async () => {
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
    assert.equal(await next.guest.locator("body").count(), 0, "and nothing runs meanwhile");
    await next.answer("allow");
    await next.guest.locator("body[data-ready]").waitFor();
  });
});

test("a view at an address that is a template is agreed to once, by pattern and policy, and is shown as unpinned", async () => {
  await inFolder(hostile("made"), one, async (bench, host) => {
    const first = await bench.run("same", "open");
    await first.ask.getByText("is made anew for each request, so you are not asked when its content changes").waitFor();
    await first.ask.getByText('its address is one of "ui://made/{id}"').waitFor();
    assert.equal(await first.guest.locator("body").count(), 0, "and nothing runs meanwhile");
    await first.answer("allow");
    await first.guest.locator("body[data-ready]").waitFor();
    const UNPINNED = "not pinned: you are not asked when its content changes";
    await bench.server("same").locator(".finding", { hasText: `"ui://made/1": ${UNPINNED}` }).waitFor();
    await bench.log(`this view is ${UNPINNED}`).first().waitFor();

    const renewed = await bench.run("same", "renew");
    await renewed.box.locator(".answer", { hasText: "renewed" }).waitFor();
    await bench.server("same").locator(".finding", { hasText: `"ui://made/2": ${UNPINNED}` }).waitFor();
    const { card: second } = await open(bench);
    assert.equal(await second.ask.count(), 0);
    const ours = [first.view, second.view];
    const rows = (await host.audit()).filter(({ kind, view }) => kind === "document" && ours.includes(view));
    assert.deepEqual(rows.map(({ outcome }) => outcome), ["unpinned", "unpinned"]);
    assert.equal(new Set(rows.map(({ sha256 }) => sha256)).size, 2, "each has its own hash in the audit");

    const widened = await bench.run("same", "widen");
    await widened.box.locator(".answer", { hasText: "widened" }).waitFor();
    const third = await bench.run("same", "open");
    await third.ask.getByText("is not the one you have seen before").waitFor();
    await third.ask.getByText("https://elsewhere.test").first().waitFor();
    await third.answer("deny");
    await third.note.getByText("you did not agree to what has changed in it").waitFor();
    assert.equal(await third.guest.locator("body").count(), 0);
  });
});
