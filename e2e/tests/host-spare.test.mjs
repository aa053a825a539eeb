// The place of the next view, which the page loads ahead: used once, by one view, and no loss when it is gone.
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startBrowser, startPlainBrowser } from "../rig/browser.mjs";
import { benchOf, hostile, openBench, startHost } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";

const needy = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../servers/needy.mjs");
const servers = { needy: { command: process.execPath, args: [needy] }, stranger: hostile("suite", "stranger"), other: hostile("suite", "other") };
const host = await startHost({ servers });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});

/** Counts the porches that said that they wait, from whichever frame. */
const prepare = (context) =>
  context.addInitScript(() => {
    globalThis.waiting = new Set();
    if (top === self) addEventListener("message", ({ source, data }) => data === "spare" && waiting.add(source));
  });
const bench = await openBench(browser, host, { prepare });
const { page } = bench;

/** The frame of the place that is loaded ahead, once it is. */
async function spare(on = page) {
  await on.waitForFunction(() => {
    const frame = document.querySelector(".spare transom-view")?.shadowRoot.querySelector("iframe");
    return frame && waiting.has(frame.contentWindow);
  });
  return on.evaluateHandle(() => document.querySelector(".spare transom-view").shadowRoot.querySelector("iframe"));
}

/** Opens a view, and waits until it is ready; whether it has this frame. */
async function open(name, frame) {
  const card = await bench.run(name, "open");
  await card.guest.locator("body[data-ready]").waitFor();
  const has = await page.evaluate(([view, frame]) => document.querySelector(`transom-view[view="${view}"]`).shadowRoot.querySelector("iframe") === frame, [card.view, frame]);
  return { card, has };
}
const address = (frame) => frame.evaluate(({ src }) => src);

test("the next view has the frame that was loaded ahead, and the one after it another", async () => {
  await bench.ready("stranger");
  const first = await spare();
  const one = await open("stranger", first);
  assert.ok(one.has);
  const second = await spare();
  const two = await open("other", second);
  assert.ok(two.has);
  assert.notEqual(await address(first), await address(second));
  // Both work, each on a name of its own.
  for (const { card } of [one, two]) assert.match((await (await card.frame()).evaluate(() => call("look"))).content[0].text, /looked at/);
  const origins = await Promise.all([one, two].map(async ({ card }) => (await card.frame()).evaluate(() => origin)));
  assert.notEqual(origins[0], origins[1]);
  await one.card.close();
  await two.card.close();
});

test("two views at once: one has it, the other opens without, and no name is used twice", async () => {
  const frame = await spare();
  const cards = [await bench.run("stranger", "open"), await bench.run("other", "open")];
  for (const card of cards) await card.guest.locator("body[data-ready]").waitFor();
  const names = await Promise.all(cards.map(({ box }) => box.locator("iframe").getAttribute("src")));
  assert.equal(names[0], await address(frame));
  assert.notEqual(names[1], names[0]);
  for (const card of cards) await card.close();
});

test("nobody sees or reaches it, and it holds nothing but two pages of ours", async () => {
  const frame = await spare();
  assert.equal(await page.locator(".spare").isVisible(), false);
  assert.equal(await page.locator(".empty").isVisible(), true);
  const sandbox = await frame.contentFrame();
  const [porch] = sandbox.childFrames();
  assert.deepEqual(porch.childFrames(), []);
  const said = await porch.evaluate(async () => ({
    html: document.body.innerText,
    cookie: document.cookie,
    guest: (await fetch("/").catch(() => ({ status: "blocked" }))).status,
  }));
  assert.deepEqual(said, { html: "", cookie: "", guest: "blocked" });
  // Its guest has no document, not even for who asks in the way of a frame.
  const headers = { host: new URL(porch.url()).host, "sec-fetch-dest": "iframe" };
  const answer = await page.context().request.get(`http://127.0.0.1:${host.sandboxPort}/`, { headers });
  assert.equal(answer.status(), 404);
});

test("what is said in its name before there is a view counts for nothing", async () => {
  const frame = await spare();
  const sandbox = await frame.contentFrame();
  const [porch] = sandbox.childFrames();
  const before = (await host.audit()).length;
  await page.evaluate((frame) => {
    globalThis.heard = 0;
    addEventListener("message", ({ source }) => (heard += source === frame.contentWindow));
  }, frame);
  await porch.evaluate(() => {
    for (const method of ["ui/initialize", "tools/call", "ui/open-link"])
      parent.postMessage({ jsonrpc: "2.0", id: 1, method, params: { name: "note", arguments: {}, url: "https://example.com/" } }, "*");
  });
  await page.waitForFunction(() => heard === 3);
  assert.equal((await host.audit()).length, before);
  const { card, has } = await open("stranger", frame);
  assert.ok(has);
  assert.match((await (await card.frame()).evaluate(() => call("look"))).content[0].text, /looked at/);
  await card.close();
});

test("a view cannot have the guest of the next one shown", async () => {
  await spare();
  const { card } = await open("stranger");
  const frame = await spare();
  await (await card.frame()).evaluate(() => {
    for (let at = 0; at < top.length; at++)
      for (const target of [top[at], top[at][0]]) for (const word of [{}, "spare", { jsonrpc: "2.0", method: "ui/notifications/sandbox-resource-ready", params: { html: "x" } }]) target?.postMessage(word, "*");
  });
  const next = await open("other", frame);
  assert.ok(next.has);
  const sandbox = await frame.contentFrame();
  assert.equal(sandbox.childFrames().length, 1);
  await next.card.close();
  await card.close();
});

test("a view that is busy for long is loaded once", async () => {
  const frame = await spare();
  const card = await bench.run("needy", "busy");
  await card.guest.locator("body[data-done]").waitFor();
  const has = ([view, frame]) => document.querySelector(`transom-view[view="${view}"]`).shadowRoot.querySelector("iframe") === frame;
  assert.ok(await page.evaluate(has, [card.view, frame]));
  await card.close();
});

test("what a person gave for good is had in a place that was loaded ahead of it too", async () => {
  const card = await bench.run("needy", "camera");
  await card.box.locator(".blocked").getByRole("button").click();
  await card.answer("allow-always");
  await card.guest.locator('body[data-done="42"]').waitFor();
  await spare();
  const next = await bench.run("needy", "camera");
  await next.guest.locator('body[data-done="42"]').waitFor();
  await next.close();
  await card.close();
});

test("a page that is loaded anew has its views back, and another place for the next", async () => {
  const frame = await spare();
  const before = await address(frame);
  const { card } = await open("stranger", frame);
  await page.reload();
  const again = bench.card(card.view);
  await again.guest.locator("body[data-ready]").waitFor();
  const next = await spare();
  assert.notEqual(await address(next), before);
  await again.close();
});

test("a place whose process has ended costs the next view some time, and nothing else", async () => {
  // Playwright takes a page for gone when the process of one of its frames is. Who connects anew finds the page as it is.
  const [own, plain] = await Promise.all([startHost({ servers }), startPlainBrowser()]);
  try {
    await prepare(plain.context);
    const [before] = plain.context.pages();
    await before.goto(own.url);
    const frame = await spare(before);
    await frame.evaluate((frame) => (globalThis.ended = frame));
    const session = await plain.context.newCDPSession(await frame.contentFrame());
    const crashed = new Promise((done) => session.once("Inspector.targetCrashed", done));
    // A process that has ended answers nothing.
    void session.send("Page.crash").catch(() => {});
    await crashed;
    const bench = benchOf(await plain.unwatched());
    const card = await bench.run("stranger", "open");
    await card.guest.locator("body[data-ready]").waitFor();
    const has = (view) => document.querySelector(`transom-view[view="${view}"]`).shadowRoot.querySelector("iframe") === globalThis.ended;
    assert.equal(await bench.page.evaluate(has, card.view), false);
    assert.match((await (await card.frame()).evaluate(() => call("look"))).content[0].text, /looked at/);
  } finally {
    await plain.close();
    await own.stop();
  }
});

test("the page had no mishap", () => assert.deepEqual(bench.mishaps, []));
