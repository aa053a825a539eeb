// The first five minutes: `transom` alone, in a browser.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { alive, openBench, published, startHost } from "../rig/host.mjs";

const host = await startHost();
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const bench = await openBench(browser, host);
const { page, context } = bench;

/** The view that is on top. */
async function topCard() {
  const view = await page.locator("#views .view transom-view").first().getAttribute("view");
  return bench.card(view);
}
const says = (card, words) => card.guest.locator("#said", { hasText: words }).waitFor();

test("H-04 the demo's view opens by itself and shows its data", async () => {
  const card = await topCard();
  await card.guest.locator("#city", { hasText: /Lisbon: / }).waitFor();
  await card.guest.locator("#degrees", { hasText: /\d+ °C/ }).waitFor();
  await bench.log('"weather" "1.0.0" says hello').waitFor();
  assert.equal(await bench.cards().count(), 1);
  assert.ok(!page.url().includes("token"), "the token left the address");
});

test("the model's tools are shown, the app's own are not", async () => {
  const names = await bench.server("demo").locator("details.tool > summary").evaluateAll((all) => all.map((each) => each.title));
  assert.deepEqual(names.sort(), ["save_note", "show_weather"]);
});

test("a read-only tool runs without a question", async () => {
  const card = await topCard();
  await card.guest.locator("#refresh").click();
  await says(card, "Refreshed.");
  assert.equal(await card.ask.count(), 0);
  await bench.log('tools/call "refresh": allowed').first().waitFor();
});

test("a tool that changes something is asked about: no, and then yes", async () => {
  const card = await topCard();
  await card.guest.locator("#save").click();
  await card.ask.getByText("save_note").first().waitFor();
  await card.answer("deny");
  await says(card, "Refused:");
  await card.guest.locator("#save").click();
  await card.ask.getByText("save_note").first().waitFor();
  await card.answer("allow-until-end");
  await says(card, "saved note 1");
});

test("always means that it is not asked again", async () => {
  const card = await topCard();
  await card.guest.locator("#tell").click();
  await card.ask.getByText("in your name").waitFor();
  await card.answer("allow-always");
  await says(card, "Said.");
  await bench.log("How is the weather in Lisbon?").first().waitFor();
  await card.guest.locator("#refresh").click();
  await says(card, "Refreshed.");
  await card.guest.locator("#tell").click();
  await says(card, "Said.");
  assert.equal(await card.ask.count(), 0);
});

test("a link is asked about in full, and opens in a tab that cannot look back", async () => {
  const card = await topCard();
  await card.guest.locator("#link").click();
  assert.equal(await card.ask.locator("code").innerText(), "https://example.com/");
  assert.equal(context.pages().length, 1);
  await card.answer("deny");
  await says(card, "Refused:");
  assert.equal(context.pages().length, 1);
  await card.guest.locator("#link").click();
  await card.ask.waitFor();
  const opened = context.waitForEvent("page");
  await card.answer("allow");
  const tab = await opened;
  assert.equal(await tab.evaluate(() => globalThis.opener), null);
  await tab.close();
  await says(card, "Opened.");
});

test("fullscreen and back, without loading the view again", async () => {
  const card = await topCard();
  const frame = await card.frame();
  await frame.evaluate(() => (globalThis.mark = "still here"));
  await card.guest.locator("#mode").click();
  await says(card, "Shown fullscreen.");
  assert.equal(await card.box.locator("transom-view").evaluate((view) => view.mode), "fullscreen");
  const { width, height } = await card.box.locator("iframe").boundingBox();
  const room = page.viewportSize();
  assert.ok(width >= room.width - 20 && height >= room.height - 20, `${width}×${height}`);
  await card.guest.locator("#mode").click();
  await says(card, "Shown inline.");
  assert.equal(await frame.evaluate(() => globalThis.mark), "still here");
});

test("views know their surroundings, and follow the page into the dark", async () => {
  const card = await topCard();
  const frame = await card.frame();
  const context = () => frame.evaluate(() => app.getHostContext());
  const { theme, locale, timeZone, platform, userAgent, deviceCapabilities, safeAreaInsets, availableDisplayModes, toolInfo } = await context();
  assert.deepEqual([theme, platform], ["light", "web"]);
  const own = await page.evaluate(() => [navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone]);
  assert.deepEqual([locale, timeZone], own);
  assert.match(userAgent, /^transom\//);
  assert.deepEqual(Object.keys(deviceCapabilities).sort(), ["hover", "touch"]);
  assert.deepEqual(safeAreaInsets, { top: 0, right: 0, bottom: 0, left: 0 });
  assert.deepEqual(availableDisplayModes, ["inline", "fullscreen", "pip"]);
  assert.equal(toolInfo.tool.name, "show_weather");

  // The look is the page's own, in both themes.
  const look = (target) => target.evaluate((body) => {
    const { color, backgroundColor } = getComputedStyle(body);
    return { color, backgroundColor };
  });
  const views = () => look(card.guest.locator("body"));
  const cards = () => look(card.box);
  assert.deepEqual(await views(), await cards());
  await page.emulateMedia({ colorScheme: "dark" });
  await card.guest.locator('html[data-theme="dark"]').waitFor({ state: "attached" });
  const dark = await views();
  assert.deepEqual(dark, await cards());
  await page.emulateMedia({ colorScheme: "light" });
  await card.guest.locator('html[data-theme="light"]').waitFor({ state: "attached" });
  assert.notDeepEqual(await views(), dark);

  // And its place is the page's to give.
  const { width } = page.viewportSize();
  const before = (await context()).containerDimensions;
  assert.equal(before.maxHeight, 2560);
  await page.setViewportSize({ width: width + 200, height: 3000 });
  await frame.waitForFunction((before) => {
    const { width, maxHeight } = app.getHostContext().containerDimensions;
    return maxHeight === 2400 && width !== before.width;
  }, before);
  await page.setViewportSize({ width, height: 3200 });
  await frame.waitForFunction((before) => app.getHostContext().containerDimensions.width === before.width, before);
});

test("a reloaded page shows the same view again: same origin, same data, nothing else", async () => {
  const before = await topCard();
  const origin = await (await before.frame()).evaluate(() => location.origin);
  const degrees = bench.log('"weather" "1.0.0" says hello');
  const hellos = await degrees.count();
  await page.reload();
  const card = await topCard();
  assert.equal(card.view, before.view);
  await card.guest.locator("#degrees", { hasText: /\d+ °C/ }).waitFor();
  await says(card, "Connected.");
  assert.equal(await (await card.frame()).evaluate(() => location.origin), origin);
  assert.equal(await bench.cards().count(), 1, "and no second one was opened");
  await bench.log('"weather" "1.0.0" says hello').nth(hellos).waitFor();
  await card.guest.locator("#refresh").click();
  await says(card, "Refreshed.");
});

test("a second view of the same tool has an origin of its own", async () => {
  const first = await topCard();
  const second = await bench.run("demo", "show_weather", { city: "Oslo" });
  await second.guest.locator("#city", { hasText: "Oslo: " }).waitFor();
  const origins = await Promise.all([first, second].map(async (card) => (await card.frame()).evaluate(() => origin)));
  assert.notEqual(origins[0], origins[1]);
  await second.close();
});

test("what a person decided counts for every view of the server", async () => {
  const second = await bench.run("demo", "show_weather", { city: "Rome" });
  await says(second, "Connected.");
  await second.guest.locator("#save").click();
  await says(second, /saved note \d/);
  await second.guest.locator("#tell").click();
  await says(second, "Said.");
  assert.equal(await second.ask.count(), 0);
  await second.close();
});

test("a tool without a view answers on its card and in the log", async () => {
  const card = await bench.run("demo", "save_note", { text: "by hand" });
  await card.box.locator(".answer", { hasText: /^saved note \d$/ }).waitFor();
  await bench.log(/demo save_noteanswered in \d+ ms: "saved note \d/).waitFor();
  await card.note.getByText("There is no view to show").waitFor();
  await card.close();
});

test("closing tears the view down, and its names are gone", async () => {
  const card = await topCard();
  const frame = await card.frame();
  const address = frame.url();
  await card.close();
  await bench.log("demo show_weatherclosed").first().waitFor();
  assert.equal(await bench.cards().count(), 0);
  const { status } = await fetch(`http://127.0.0.1:${host.sandboxPort}/`, { headers: { host: new URL(address).host } });
  assert.ok([404, 421].includes(status), String(status));
  assert.deepEqual(bench.mishaps, []);
});

test("an interrupt ends views, servers and the host, and leaves nobody", async () => {
  const servers = { time: { command: process.execPath, args: [published("server-basic-vanillajs"), "--stdio"] } };
  const mortal = await startHost({ servers });
  const last = await openBench(browser, mortal);
  const card = await last.run("time", "get-time");
  await card.guest.getByText("Server Time").first().waitFor();
  const children = childrenOf(mortal.pid);
  assert.equal(children.length, 1);
  assert.equal(await mortal.stop(), 0);
  assert.deepEqual(children.filter(alive), []);
  await last.context.close();
});

// Every thread has its own list; a child belongs to the thread that made it.
function childrenOf(pid) {
  const lists = readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
  return lists.join(" ").split(/\s+/).filter(Boolean).map(Number);
}
