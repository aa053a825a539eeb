// The JSON analyzer: a setup that a person sees, a server that nobody sees, and a file for each session.
import assert from "node:assert/strict";
import http from "node:http";
import { startPlainBrowser } from "../rig/browser.mjs";
import { connected, openSample, startPages } from "../rig/pages.mjs";
import { openSite } from "../rig/site.mjs";
import { openStage } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";

const [plain, site] = await Promise.all([startPlainBrowser(), openSite()]);
const pages = await startPages(site.host);
after(async () => {
  await plain.close();
  await pages.stop();
  await site.close();
});
const theatre = { site, context: plain.context };
const url = pages.urlOf("json");
const example = `${url}?example`;
const file = (value, name = "data.json") => ({
  name,
  mimeType: "application/json",
  buffer: Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
});

/** Sets up with a file that a person chooses, and connects. */
async function withFile(t, chosen, options) {
  const sample = await openSample(t, theatre, url, options);
  const setup = sample.setUp();
  const page = await sample.inSetup();
  await page.locator("#form").waitFor();
  await page.locator("#file").setInputFiles(chosen);
  const { value } = await setup;
  assert.deepEqual(await sample.connect(), { value: "open" });
  return { ...sample, setup: value };
}
const search = async ({ call }, path) => (await call("evaluate_jsonpath", { path })).value;

test("JSN-1 a file that is no JSON keeps the setup going, the example ends it, and cancelling is told", async (t) => {
  const sample = await openSample(t, theatre, url);
  const setup = sample.setUp();
  const page = await sample.inSetup();
  await page.locator("#file").setInputFiles(file("{ no", "broken.json"));
  await page.locator("#trouble").filter({ hasText: "broken.json is not JSON" }).waitFor();
  await page.locator("#example").click();
  assert.equal((await setup).value.title, "JSON analyzer: example.json");
  const other = await openSample(t, theatre, url);
  const cancelled = other.setUp();
  await (await other.inSetup()).locator("#cancel").click();
  assert.equal((await cancelled).error.code, "USER_CANCELLED");
});

test("JSN-2 a file's name is text, wherever it is shown", async (t) => {
  const name = '<img src=x onerror="window.hit=1">.json';
  const { setup, inner } = await withFile(t, file({ a: 1 }, name));
  assert.equal(setup.title, `JSON analyzer: ${name}`);
  assert.equal(await (await inner()).evaluate(() => window.hit), undefined);
});

test("JSN-3 matches, nothing, and a bad path are three answers", async (t) => {
  const sample = await connected(t, theatre, example);
  assert.equal(sample.setup.visibility.requirement, "hidden");
  const cheap = await search(sample, "$.store.book[?@.price < 10].title");
  assert.deepEqual(cheap.structuredContent, { matches: ["Sayings of the Century", "Moby Dick"], count: 2 });
  const none = await search(sample, "$.nothing");
  assert.deepEqual([none.isError ?? false, none.structuredContent], [false, { matches: [], count: 0 }]);
  const bad = await search(sample, "$.store[");
  assert.equal(bad.isError, true);
  assert.match(bad.content[0].text, /^bad path: expected/);
});

test("JSN-4 a filter is data: what looks like a script is refused, and nothing of it runs", async (t) => {
  const sample = await connected(t, theatre, example);
  const page = await sample.inner();
  for (const path of [
    "$..[?(globalThis.hit = 1)]",
    "$[?(@.constructor.constructor('globalThis.hit=1')())]",
    "$..book[(@.length-1)]",
    "$[?@.x == `${globalThis.hit=1}`]",
  ])
    assert.equal((await search(sample, path)).isError, true, path);
  assert.deepEqual((await search(sample, "$.constructor")).structuredContent.matches, []);
  assert.equal(await page.evaluate(() => globalThis.hit), undefined);
});

test("JSN-5 SES-2 two files in turns do not mix; a reload keeps both, and clearing one session's leaves the other", async (t) => {
  const one = await withFile(t, file({ who: "one" }));
  const two = await withFile(t, file({ who: "two" }));
  for (let i = 0; i < 3; i++)
    for (const [sample, who] of [[one, "one"], [two, "two"]])
      assert.deepEqual((await search(sample, "$.who")).structuredContent.matches, [who]);
  for (const sample of [one, two]) {
    await sample.on("again")("server");
    assert.deepEqual(await sample.connect(), { value: "open" });
  }
  assert.deepEqual((await search(one, "$.who")).structuredContent.matches, ["one"]);
  const page = await one.inner();
  await page.evaluate((session) => {
    for (const key of Object.keys(localStorage)) if (key.includes(session)) localStorage.removeItem(key);
  }, one.session);
  assert.equal((await search(one, "$.who")).isError, true);
  assert.deepEqual((await search(two, "$.who")).structuredContent.matches, ["two"]);
});

for (const [how, spoil] of [
  ["is gone", (key) => localStorage.removeItem(key)],
  ["cannot be read (SES-10)", (key) => localStorage.setItem(key, "{ half")],
  ["is of another version (SES-10)", (key) => localStorage.setItem(key, '{"version":0,"name":7}')],
  ["is too old (SES-9)", (key) => localStorage.setItem(key, localStorage.getItem(key).replace(/"until":\d+/, '"until":1'))],
])
  test(`JSN-6 PHS-7 what was kept ${how}: the page asks for its setup, and works again under the same session`, async (t) => {
    const sample = await connected(t, theatre, example);
    const key = `mcp ${site.host} ${sample.session} file`;
    await (await sample.inner()).evaluate(([spoil, key]) => eval(spoil)(key), [String(spoil), key]);
    await sample.on("again")("server");
    assert.deepEqual(await sample.connect(), { value: "open" });
    const required = await sample.host.evaluate(() => ear.next("server required"));
    assert.deepEqual([required.reason, required.canContinue], ["CONFIG_CHANGED", false]);
    assert.equal((await sample.call("evaluate_jsonpath", { path: "$" })).error.code, "SETUP_REQUIRED");
    await sample.on("again")("server");
    assert.equal((await sample.setUp()).value.title, "JSON analyzer: example.json");
    assert.deepEqual(await sample.connect(), { value: "open" });
    assert.equal((await search(sample, "$.store.bicycle.color")).structuredContent.count, 1);
  });

test("JSN-7 a file that the browser does not keep: the person is told how large it may be", async (t) => {
  const sample = await openSample(t, theatre, url);
  const setup = sample.setUp();
  const page = await sample.inSetup();
  await page.locator("#file").setInputFiles(file({ text: "x".repeat(6_000_000) }, "large.json"));
  await page.locator("#trouble").filter({ hasText: /large\.json has 5\.7 MB.*about 5 MB.*smaller/ }).waitFor();
  await page.locator("#cancel").click();
  assert.equal((await setup).error.code, "USER_CANCELLED");
});

test("SES-9 the setup clears what was kept for all sessions", async (t) => {
  const kept = await connected(t, theatre, example);
  const sample = await openSample(t, theatre, url);
  const setup = sample.setUp();
  const page = await sample.inSetup();
  await page.locator("#clear").click();
  await page.locator("#cancel").click();
  await setup;
  assert.equal((await search(kept, "$.store")).isError, true);
});

test("SES-5 where a browser keeps nothing for the page, the setup says so", async (t) => {
  const sample = await openSample(t, theatre, example);
  await plain.context.addInitScript(() => {
    if (location.search === "?example" && location.hash === "#setup")
      Object.defineProperty(window, "localStorage", {
        get() {
          throw new DOMException("denied", "SecurityError");
        },
      });
  });
  const { error } = await sample.setUp();
  assert.equal(error.code, "CONFIG_ERROR");
  assert.match(error.message, /keeps nothing for pages in frames/);
});

test("SEC-16 SEC-5 a page that nobody named may neither show the sample nor connect to it", async (t) => {
  const { host: name, port } = new URL(url);
  const get = (host) =>
    new Promise((done, failed) => http.get({ host: "127.0.0.1", port, headers: { host } }, (response) => done(response.resume())).on("error", failed));
  assert.equal((await get(`127.0.0.1:${port}`)).statusCode, 421);
  const policy = (await get(name)).headers["content-security-policy"];
  assert.match(policy, new RegExp(`frame-ancestors ${pages.origin} http://127\\.0\\.0\\.1:\\d+ .*${site.host}`));
  assert.doesNotMatch(policy, /\*/);
  const { host } = await openStage(t, { ...theatre, origin: site.neighbour, scripts: ["pages.client.js"] });
  await host.evaluate((url) => prepare("server", url, { loadTimeout: 2_000 }), example);
  const { error } = await host.evaluate(() => setUp("server"));
  assert.equal(error.code, "LOAD_TIMEOUT");
  assert.match(error.message, /frame-ancestors/);
});
