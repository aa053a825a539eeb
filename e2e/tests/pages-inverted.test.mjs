// The inverted pair: a dashboard that is the server, and a sandboxed copilot of another origin that is the client.
import assert from "node:assert/strict";
import { startBrowser } from "../rig/browser.mjs";
import { putInner } from "../rig/frames.mjs";
import { startPages } from "../rig/pages.mjs";
import { openSite } from "../rig/site.mjs";
import { frameAt, openStage } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";

const [browser, site] = await Promise.all([startBrowser(), openSite()]);
const pages = await startPages(site.host);
after(async () => {
  await browser.close();
  await pages.stop();
  await site.close();
});
const [dashboardUrl, copilotUrl] = [pages.urlOf("dashboard"), pages.urlOf("copilot")];

async function open(t, prepare, options) {
  const context = await browser.newContext(options);
  t.after(() => context.close());
  const page = await context.newPage();
  await prepare?.(page);
  await page.goto(dashboardUrl);
  return page;
}
const status = (page, words) => page.locator("#status").filter({ hasText: words }).waitFor();

/** Opens the pair; `ask` types a question and returns the copilot's answer. */
async function openPair(t) {
  const page = await open(t);
  await status(page, "Copilot is connected, from http://copilot.localhost");
  const copilot = await frameAt(page, copilotUrl);
  const said = copilot.locator("#said .copilot");
  await said.first().waitFor();
  const ask = async (question) => {
    const before = await said.count();
    await copilot.locator("#question").fill(question);
    await copilot.locator("#form button").first().click();
    return { answer: () => said.nth(before).textContent() };
  };
  return { page, copilot, ask };
}

test("INV-1 INV-2 INV-5 the copilot lists and calls the dashboard's tools, without a model", async (t) => {
  const { ask, copilot, page } = await openPair(t);
  assert.match(await copilot.locator("#said .copilot").first().textContent(), /5 tools/);
  for (const [question, answer] of [
    ["who am I?", /getCurrentUser: .*Ada Park/],
    ["my projects", /getUserProjects: .*Harbour.*Lighthouse/],
    ["how is the system?", /getSystemHealth: .*"status":"ok"/],
    ["team", /getTeamStats: .*"members":5/],
    ["sing", /I can use getCurrentUser, getUserProjects, getSystemHealth, getTeamStats, renameProject/],
  ])
    assert.match(await (await ask(question)).answer(), answer);
  const sandbox = await page.locator("iframe").getAttribute("sandbox");
  assert.ok(sandbox.includes("allow-scripts") && !sandbox.includes("allow-top-navigation"), sandbox);
});

test("INV-4 what changes something is asked about in the dashboard, and a no is a no", async (t) => {
  const { page, ask } = await openPair(t);
  const refused = await ask("rename project 1 to Quay");
  await page.locator("#question").filter({ hasText: "rename “Harbour” to “Quay”" }).waitFor();
  await page.locator("#question button", { hasText: "No" }).click();
  assert.match(await refused.answer(), /renameProject failed: the person said no/);
  assert.match(await page.locator("#projects").textContent(), /Harbour/);
  const agreed = await ask("rename project 1 to Quay");
  await page.locator("#question button", { hasText: "Yes" }).click();
  assert.match(await agreed.answer(), /is called Quay now/);
  assert.match(await page.locator("#projects").textContent(), /Quay/);
});

test("INV-3 a dashboard refuses a copilot from another origin than the one it was told", async (t) => {
  // The address leads to a page of another origin, which allows this dashboard. Its policy would not show that page at all.
  const elsewhere = await putInner(site, { allow: [new URL(dashboardUrl).origin] });
  const lead = (page) =>
    page.route(copilotUrl, (route) => route.fulfill({ status: 302, headers: { location: elsewhere } }));
  const page = await open(t, lead, { bypassCSP: true });
  await status(page, `ORIGIN_MISMATCH: expected a page of ${new URL(copilotUrl).origin}`);
});

test("INV-3 a copilot refuses a dashboard that it was not told of", async (t) => {
  const context = await browser.newContext({ bypassCSP: true });
  t.after(() => context.close());
  const stage = await openStage(t, { site, context, scripts: ["pages.client.js"] });
  await stage.host.evaluate((url) => prepare("server", url, { loadTimeout: 3_000 }), copilotUrl);
  const { error } = await stage.host.evaluate(() => setUp("server", { timeout: 3_000 }));
  assert.ok(["LOAD_TIMEOUT", "TIMEOUT"].includes(error.code), error.code);
});

test("MSG-7f the copilot asks to be set up again, and goes on after it", async (t) => {
  const { page, copilot } = await openPair(t);
  await copilot.locator("#again").click();
  await page.locator("#banner").filter({ hasText: "settings were changed" }).waitFor();
  await page.locator("#setup").click();
  await page.locator("#banner").waitFor({ state: "hidden" });
  await status(page, "Copilot is connected");
  const next = await frameAt(page, copilotUrl);
  await next.locator("#said .copilot").first().waitFor();
  await next.locator("#question").fill("who");
  await next.locator("#form button").first().click();
  assert.match(await next.locator("#said .copilot").nth(1).textContent(), /Ada Park/);
});
