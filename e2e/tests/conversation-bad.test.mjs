// A conversation in which everything goes wrong: the endpoint, and what servers and models write. Said in place; nothing runs.
import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { freePort, startHost } from "../rig/host.mjs";
import { startModel } from "../rig/model.mjs";
import { openTalk } from "../rig/talk.mjs";

const chatty = { command: process.execPath, args: [path.join(import.meta.dirname, "../servers/chatty.mjs")] };
let answer = () => ["hello"];
const model = await startModel((it, n) => answer(it, n));
const browser = await startBrowser();
const host = await startHost({
  servers: { chatty },
  args: ["--model", "test", "--model-url", model.url, "--model-key", "TALK_KEY"],
  env: { TALK_KEY: "hush-0123456789" },
});
const nowhere = await startHost({ servers: { chatty }, args: ["--model", "test", "--model-url", `http://127.0.0.1:${await freePort()}/v1`] });
after(async () => {
  await browser.close();
  await host.stop();
  await nowhere.stop();
  await model.stop();
});
const talk = await openTalk(browser, host);
await talk.ready("chatty");

const CALL = { call: "chatty__show", pieces: ['{"words":"x"}'] };
for (const [what, steps, words] of [
  ["refuses the key", [{ status: 401, error: "bad key hush-0123456789" }], /refuses the key \(401: "bad key \[key\]"\)/],
  ["has no time", [{ status: 429, error: "slow down" }], /has no time now/],
  ["refuses the request", [{ status: 400, error: "no such model" }], /refuses the request \(400: "no such model"\)/],
  ["points elsewhere", [{ status: 302, location: "http://127.0.0.1:9/", error: "" }], /points elsewhere \(302\)/],
  ["sends no JSON", ["half", { raw: "data: {nonsense\n\n" }], /no answer/],
  ["sends a part of no call", [{ raw: 'data: {"choices":[{"delta":{"tool_calls":[{"index":7,"function":{"arguments":"{"}}]}}]}\n\n' }], /not begun/],
  ["breaks off", ["half", CALL, { cut: true }], /stopped in the middle/],
  ["says it is an error", ["half", { raw: 'data: {"error":{"message":"overloaded"}}\n\n' }], /overloaded/],
])
  test(`an endpoint that ${what} is said to, nothing is called, and the rest goes on`, async () => {
    await talk.fresh();
    answer = () => steps;
    await talk.say("hello");
    const how = await talk.last.locator(".how.failed").innerText();
    assert.match(how, words);
    assert.ok(!how.includes("hush"));
    for (const stage of await talk.calls.locator(".stage").allInnerTexts()) assert.equal(stage, "stopped");
    answer = () => ["back again"];
    assert.match(await talk.say("and now?"), /back again/);
  });

test("an endpoint that is not there is named", async () => {
  const other = await openTalk(browser, nowhere);
  await other.ready("chatty");
  await other.say("hello");
  await other.last.getByText("cannot be reached").waitFor();
});

test("a model that says nothing more can be stopped", async () => {
  await talk.fresh();
  answer = () => ["half ", { hang: true }];
  await talk.begin("hello");
  await talk.last.getByText("half").waitFor();
  await talk.stop.click();
  await talk.settled();
  await talk.last.getByText("You stopped this.").waitFor();
});

test("what models, tools and views write is no markup, runs nothing and loads nothing", async () => {
  await talk.fresh();
  const asked = [];
  talk.page.on("request", (request) => asked.push(request.url()));
  const evil = '[b](https://example.com/) ![x](http://127.0.0.1:9/leak) <img src=http://127.0.0.1:9/leak onerror="window.pwned=1"> <svg onload="window.pwned=1"> [a](javascript:window.pwned=1) <form action=//evil><input></form> \u202egnp.exe';
  answer = ({ last }) => (last.role === "tool" ? [evil] : [evil, { call: "chatty__evil" }]);
  await talk.say(evil);
  await talk.calls.first().locator("summary").click();
  assert.equal(await talk.page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(asked.filter((url) => url.includes(":9/")), []);
  assert.equal(await talk.page.locator(".thread img, .thread svg:not(.icon), .thread form, .thread input, .thread script, .thread iframe").count(), 0);
  const links = await talk.page.locator(".thread a[href]").evaluateAll((all) => all.map(({ href, target, rel }) => [href, target, rel]));
  assert.ok(links.length > 0);
  for (const [href, target, rel] of links) {
    assert.match(href, /^https?:/);
    assert.deepEqual([target, rel], ["_blank", "noopener noreferrer"]);
  }
  await talk.page.waitForTimeout(200);
  assert.deepEqual(talk.mishaps, []);
});

test("a stranger's page has no way in, and what is no wish is refused with words", async () => {
  const reach = (path, init = {}) => fetch(`${host.origin}${path}`, init).then(({ status }) => status);
  assert.equal(await reach("/api/talk/news"), 401);
  assert.equal(await reach("/api/talk/export?id=x&form=md"), 401);
  assert.equal(await reach("/api/talk", { method: "POST", body: "{}" }), 401);
  const bad = await talk.page.evaluate(async () => {
    const headers = { authorization: `Bearer ${sessionStorage.getItem("transom-key")}`, "content-type": "application/json" };
    const wishes = [{}, { say: { id: "../../etc/passwd", text: "x" } }, { stop: { id: "0".repeat(24) } }, { begin: { text: " " } }, { begin: { text: "x".repeat(300_000) } }, { branch: { id: 1 } }];
    return Promise.all(wishes.map((body) => fetch("/api/talk", { method: "POST", headers, body: JSON.stringify(body) }).then(async (it) => [it.status, (await it.json()).error.length > 5])));
  });
  assert.deepEqual(bad.map(([status]) => status), [400, 404, 404, 409, 409, 400]);
  assert.ok(bad.every(([, words]) => words));
});
