// A conversation with a model behind an endpoint: what it is told and not told, what it may call, and what becomes of it.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { startHost } from "../rig/host.mjs";
import { startModel } from "../rig/model.mjs";
import { openTalk } from "../rig/talk.mjs";

const chatty = { command: process.execPath, args: [path.join(import.meta.dirname, "../servers/chatty.mjs")] };
const KEY = "hush-hush-0123456789";
let answer = () => ["hello"];
const model = await startModel((it, n) => answer(it, n));
const browser = await startBrowser();
const hosts = {};
for (const kind of ["openai", "anthropic"])
  hosts[kind] = await startHost({
    servers: { chatty, other: chatty },
    args: ["--model", "test", "--model-url", model.url, "--model-kind", kind, "--model-key", "TALK_KEY"],
    env: { TALK_KEY: KEY },
  });
after(async () => {
  await browser.close();
  for (const host of Object.values(hosts)) await host.stop();
  await model.stop();
});
const talks = {};
for (const kind in hosts) {
  talks[kind] = await openTalk(browser, hosts[kind]);
  for (const name of ["chatty", "other"]) await talks[kind].ready(name);
}
/** What a tool answered, as the model is told. */
const results = ({ body }) =>
  body.messages.flatMap(({ role, content, ...rest }) =>
    role === "tool" ? [content] : Array.isArray(content) && !rest.tool_calls ? content.filter(({ type }) => type === "tool_result").map(({ content }) => content) : [],
  );
/** These steps, and then an end. */
const once = (...steps) => {
  answer = ({ last }) => (last.role === "tool" || last.content[0]?.type === "tool_result" ? ["done"] : steps);
};

for (const kind of ["openai", "anthropic"]) {
  const talk = talks[kind];

  test(`${kind}: text is streamed, calls side by side are made, and their views see their arguments grow`, async () => {
    await talk.fresh();
    const words = [..."abcdefghijklmnopqrst"];
    once("Let **me** show it. ", {
      side: [
        { call: "chatty__show", id: "c1", pieces: ['{"words":"', ...words, '"}'] },
        { call: "other__show", id: "c2", pieces: ['{"words":"', ...words, '!"}'] },
      ],
    });
    await talk.say("show two things");
    assert.equal(await talk.said.nth(1).locator(".markdown strong").innerText(), "me");
    assert.equal(await talk.calls.count(), 2);
    const guest = await talk.guest();
    await guest.waitForSelector('body[data-result="shown abcdefghijklmnopqrst!"]');
    assert.equal(await guest.evaluate(() => document.body.dataset.input), '{"words":"abcdefghijklmnopqrst!"}');
    const asked = model.asked.at(-1);
    assert.deepEqual(results(asked), ["shown abcdefghijklmnopqrst", "shown abcdefghijklmnopqrst!"]);
    const whole = JSON.stringify(asked.body);
    for (const secret of ["structured", "meta", "for the person"]) assert.ok(!whole.includes(secret), secret);
    assert.ok(!asked.tools.some((name) => name.endsWith("__own")), "a tool for views alone is not offered");
    assert.ok(asked.tools.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)));
    assert.equal(kind === "openai" ? asked.headers.authorization : asked.headers["x-api-key"], kind === "openai" ? `Bearer ${KEY}` : KEY);
  });

  test(`${kind}: a tool that changes something is asked about, and a no is told to the model`, async () => {
    await talk.fresh();
    once({ call: "chatty__change", pieces: ['{"words":"now"}'] });
    await talk.begin("change it");
    await talk.ask.getByText('The model wants to call "change" of "chatty" with:').waitFor();
    await talk.ask.getByText('{"words":"now"}').waitFor();
    await talk.answer("deny");
    await talk.settled();
    assert.match(results(model.asked.at(-1))[0], /refused/);
    await talk.begin("once more");
    await talk.answer("allow-conversation");
    await talk.settled();
    assert.match(results(model.asked.at(-1)).at(-1), /^changed \d+$/);
    await talk.say("and again");
    assert.equal(await talk.calls.last().locator(".stage").innerText(), "done", "the person is not asked again");
    await talk.fresh();
    await talk.begin("in another conversation");
    await talk.answer("deny");
    await talk.settled();
  });
}

test("what is in no tool's list, fits no schema or is no JSON is not called, and the model is told why", async () => {
  const talk = talks.openai;
  await talk.fresh();
  once(
    { call: "chatty__shout", id: "a", pieces: ["{}"] },
    { call: "chatty__show", id: "b", pieces: ["{}"] },
    { call: "chatty__show", id: "c", pieces: ['{"words":'] },
    { call: "chatty__own", id: "d", pieces: ["{}"] },
    { call: "chatty__show", id: "e", pieces: ['{"words":"x","words":"y"}'] },
    { call: "chatty__show", id: "f", pieces: ["[]"] },
  );
  await talk.say("try it all");
  assert.deepEqual(await talk.calls.locator(".stage").allInnerTexts(), Array(6).fill("not called"));
  const told = results(model.asked.at(-1));
  for (const [at, words] of [/no tool named "chatty__shout"/, /lacks "words"/, /no JSON/, /no tool named/, /not clear/, /no JSON object/].entries())
    assert.match(told[at], words);
});

test("a tool that is gone when it is called is not called", async () => {
  const talk = talks.openai;
  await talk.fresh();
  answer = (it) => (results(it).length > 1 ? ["done"] : results(it).length ? [{ call: "other__change" }] : [{ call: "other__vanish" }]);
  await talk.say("make it vanish");
  assert.match(results(model.asked.at(-1))[1], /no tool named|not a tool of/);
});

test("what is stopped stays stopped, whatever comes after, and the rest goes on", async () => {
  const talk = talks.openai;
  await talk.fresh();
  once("I wait. ", { call: "chatty__wait" });
  await talk.begin("wait");
  await talk.calls.getByText("running…").waitFor();
  await talk.stop.click();
  await talk.settled();
  assert.equal(await talk.calls.locator(".stage").innerText(), "stopped");
  answer = () => ["fine"];
  assert.match(await talk.say("go on"), /fine/);
  assert.match(results(model.asked.at(-1))[0], /stopped this/, "every call has a result");
  assert.ok(!JSON.stringify(model.asked.at(-1).body).includes("too late"));
  answer = () => ["a ", { wait: 30_000 }, "b"];
  await talk.begin("say something long");
  await talk.last.getByText("a").waitFor();
  await talk.stop.click();
  await talk.settled();
  await talk.last.getByText("You stopped this.").waitFor();
});

test("a loop of tools without end is stopped, and said", async () => {
  const talk = talks.openai;
  await talk.fresh();
  answer = () => [{ call: "chatty__show", pieces: ['{"words":"again"}'] }];
  const before = model.asked.length;
  await talk.say("never stop");
  await talk.last.getByText("without coming to an end").waitFor();
  assert.equal(model.asked.length - before, 25);
});

test("other words in the same place begin a branch, and both are kept and found again", async () => {
  const talk = talks.openai;
  await talk.fresh();
  answer = ({ last }) => [`You said ${last.content}.`];
  await talk.say("one");
  await talk.said.first().getByLabel("Edit and send again").click();
  await talk.page.getByLabel("Your words, changed").fill("two");
  await talk.page.getByRole("button", { name: "Send again" }).click();
  await talk.said.getByText("You said two.").waitFor();
  await talk.settled();
  assert.equal(model.asked.at(-1).body.messages.length, 2, "the model is told of one branch");
  await talk.said.first().getByLabel("Branch before").click();
  await talk.said.getByText("You said one.").waitFor();
  await talk.last.getByLabel("Answer again").click();
  await talk.last.getByText("2 of 2").waitFor();
  await talk.settled();
  const folder = path.join(hosts.openai.data, "conversations");
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  assert.ok(files.length > 3);
  for (const name of files) assert.equal(statSync(path.join(folder, name)).mode & 0o777, 0o600);
  assert.ok(files.every((name) => !readFileSync(path.join(folder, name), "utf8").includes(KEY)));
  await talk.page.reload();
  await talk.page.getByRole("tab", { name: "Conversation" }).click();
  const all = talk.page.getByLabel("Conversations");
  await talk.page.waitForFunction(() => document.querySelector(".talk-head select")?.options.length > 3);
  await all.selectOption({ label: "one" });
  await talk.said.getByText("You said one.").waitFor();
  await talk.said.first().getByText("1 of 2").waitFor();
});

test("a conversation is taken away as Markdown and as JSON, and removed for good", async () => {
  const talk = talks.openai;
  for (const [name, words] of [
    ["Markdown", /## Person\n\none\n/],
    ["JSON", /"format": "transom-conversation"/],
  ]) {
    const [download] = await Promise.all([talk.page.waitForEvent("download"), talk.page.getByRole("button", { name, exact: true }).click()]);
    assert.match(readFileSync(await download.path(), "utf8"), words);
  }
  const files = () => readdirSync(path.join(hosts.openai.data, "conversations")).filter((name) => name.endsWith(".json")).length;
  const before = files();
  talk.page.once("dialog", (dialog) => dialog.accept());
  await talk.page.getByLabel("Delete this conversation").click();
  await talk.page.locator(".thread .empty").waitFor();
  assert.equal(files(), before - 1);
});

test("every call of the model is in the audit before it is made", async () => {
  const rows = await hosts.openai.audit();
  const made = rows.filter(({ kind }) => kind === "model");
  assert.ok(made.length >= 28, String(made.length));
  assert.ok(made.every(({ server, about, sha256, size }) => server && about && sha256 && size > 0));
  assert.ok(rows.some(({ kind, about }) => kind === "ask" && about === "change"));
  assert.ok(!JSON.stringify(rows).includes(KEY));
});

test("the key is nowhere on the page, in the log or in what the host prints", async () => {
  for (const kind in hosts) {
    assert.ok(!(await talks[kind].page.content()).includes(KEY));
    assert.ok(!hosts[kind].output?.join("\n").includes(KEY));
  }
  for (const kind in talks) assert.deepEqual(talks[kind].mishaps, []);
});
