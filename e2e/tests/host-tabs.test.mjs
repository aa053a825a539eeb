// Several tabs, reloads and a socket that breaks: each tab has its own views, and none is lost.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { benchOf, openBench, startHost } from "../rig/host.mjs";

const host = await startHost();
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});

// The socket passes through here, so that a test can hold messages back and break it.
const sockets = [];
let held = false;
const prepare = (context) =>
  context.routeWebSocket(/\/ws$/, (page) => {
    const server = page.connectToServer();
    const dropped = [];
    page.onMessage((text) => (held ? dropped.push(text) : server.send(text)));
    server.onMessage((text) => (held ? dropped.push(text) : page.send(text)));
    sockets.push({ page, server, dropped });
  });
const bench = await openBench(browser, host, { prepare });
const { page, context } = bench;

async function topCard(bench) {
  const view = await bench.page.locator("#views .view transom-view").first().getAttribute("view");
  return bench.card(view);
}
const says = (card, words) => card.guest.locator("#said", { hasText: words }).waitFor();
/** How often the gate allowed it, by the host's own count: the page draws its log a little later. */
const allowed = () =>
  page.evaluate(async () => {
    const headers = { authorization: `Bearer ${sessionStorage.getItem("transom-key")}` };
    const { entries } = await (await fetch("/api/log?after=0", { headers })).json();
    return entries.filter(({ words }) => words.includes('tools/call "refresh": allowed')).length;
  });
async function refreshes(card) {
  await card.guest.locator("#refresh").click();
  await says(card, "Refreshed.");
}

test("a duplicated tab has a view of its own and takes nobody's", async () => {
  const first = await topCard(bench);
  await says(first, "Connected.");
  const opened = context.waitForEvent("page");
  // What a browser copies when a tab is duplicated: the address and the tab's storage.
  await page.evaluate(() => void open(location.href));
  const second = benchOf(await opened);
  const other = await topCard(second);
  await says(other, "Connected.");
  assert.notEqual(other.view, first.view);
  assert.equal(await second.cards().count(), 1);
  assert.equal(await bench.cards().count(), 1);
  await refreshes(first);
  await refreshes(other);

  // And after a reload each has its own back.
  await second.page.reload();
  const again = await topCard(second);
  assert.equal(again.view, other.view);
  await says(again, "Connected.");
  assert.equal(await second.cards().count(), 1);
  await refreshes(first);
  await second.page.close();
});

test("a tab that is loaded twice in a row still has its view", async () => {
  const before = await topCard(bench);
  await page.reload();
  await page.reload();
  const card = await topCard(bench);
  assert.equal(card.view, before.view);
  await says(card, "Connected.");
  await refreshes(card);
});

test("a socket that breaks in mid-call is opened again, and the call is answered once", async () => {
  const card = await topCard(bench);
  await refreshes(card);
  const frame = await card.frame();
  await frame.evaluate(() => {
    globalThis.mark = "still here";
    globalThis.answers = 0;
    document.getElementById("said").textContent = "";
    const said = document.getElementById("said");
    // The demo says other things too, such as that its host has another look.
    new MutationObserver(() => (answers += said.textContent === "Refreshed.")).observe(said, { childList: true });
  });
  const calls = await allowed();
  const { page: ours, server, dropped } = sockets.at(-1);
  held = true;
  await card.guest.locator("#refresh").click();
  while (dropped.length === 0) await page.waitForTimeout(20);
  held = false;
  const status = page.locator("#status", { hasText: "not answering" });
  const lost = status.waitFor({ state: "attached" });
  await server.close();
  await ours.close();
  await lost;
  await says(card, "Refreshed.");
  await page.locator("#status:empty").waitFor({ state: "attached" });
  assert.equal(await allowed(), calls + 1);
  assert.deepEqual(await frame.evaluate(() => [mark, answers]), ["still here", 1]);
});

test("the page itself had no mishap", () => assert.deepEqual(bench.mishaps, []));
