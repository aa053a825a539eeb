// Views in a conversation: what they say, what they tell the model, what they offer it, and what servers ask of the person.
import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { startHost } from "../rig/host.mjs";
import { startModel } from "../rig/model.mjs";
import { openTalk } from "../rig/talk.mjs";

const chatty = { command: process.execPath, args: [path.join(import.meta.dirname, "../servers/chatty.mjs")] };
let answer = () => ["hello"];
const model = await startModel((it, n) => answer(it, n));
const browser = await startBrowser();
const host = await startHost({ servers: { chatty }, args: ["--model", "test", "--model-url", model.url] });
after(async () => {
  await browser.close();
  await host.stop();
  await model.stop();
});
const talk = await openTalk(browser, host);
await talk.ready("chatty");
const text = (words) => [{ type: "text", text: words }];
const lastUser = () => model.asked.at(-1).body.messages.findLast(({ role }) => role === "user").content;
const lastTool = () => model.asked.at(-1).body.messages.findLast(({ role }) => role === "tool")?.content;
/** A new conversation with a view in it. */
async function withView() {
  await talk.fresh();
  answer = ({ last }) => (last.role === "tool" ? ["Here it is."] : [{ call: "chatty__show", pieces: ['{"words":"it"}'] }]);
  await talk.say("show it");
  return talk.guest();
}
const say = (guest, method, params) => guest.evaluate(([method, params]) => window.say(method, params), [method, params]);

test("H-91: what a view says in the person's place is a turn of its own, after the person agreed", async () => {
  const guest = await withView();
  answer = () => ["I heard the view."];
  const before = model.asked.length;
  const said = say(guest, "ui/message", { role: "user", content: text("more, please") });
  await talk.ask.getByText("more, please").first().waitFor();
  assert.equal(model.asked.length, before, "nothing is said before the person agreed");
  await talk.answer("allow");
  assert.deepEqual(await said, {});
  await talk.last.getByText("I heard the view.").waitFor();
  assert.match(lastUser(), /the person agreed:\) more, please$/);
  const refused = say(guest, "ui/message", { role: "user", content: text("and this") });
  await talk.answer("deny");
  assert.ok((await refused).code);
  assert.equal(model.asked.length, before + 1);
});

test("H-93, H-94: of what a view tells the model the newest goes with the next words, once, unless it is taken away", async () => {
  const guest = await withView();
  answer = () => ["ok"];
  for (const words of ["first", "second"]) assert.deepEqual(await say(guest, "ui/update-model-context", { content: text(words), structuredContent: { n: words } }), {});
  await talk.chips.getByText("Context of chatty show").click();
  await talk.chips.getByText('second').first().waitFor();
  assert.equal(await talk.chips.count(), 1);
  await talk.say("what do you know?");
  assert.match(lastUser(), /second/);
  assert.ok(!lastUser().includes("first"));
  assert.ok(lastUser().endsWith("\n\nwhat do you know?"));
  assert.equal(await talk.chips.count(), 0);
  await talk.say("and now?");
  assert.equal(lastUser(), "and now?");
  await say(guest, "ui/update-model-context", { content: text("third") });
  await talk.chips.getByRole("button", { name: /^Take away/ }).click();
  await talk.chips.waitFor({ state: "detached" });
  await talk.say("still?");
  assert.equal(lastUser(), "still?");
  await say(guest, "ui/update-model-context", { content: text("fourth") });
  await talk.chips.first().waitFor();
  await say(guest, "ui/update-model-context", { content: [] });
  await talk.chips.waitFor({ state: "detached" });
});

test("a view that floods the conversation is refused, and the rest goes on", async () => {
  const guest = await withView();
  const large = await say(guest, "ui/update-model-context", { content: text("x".repeat(200_000)) });
  assert.ok(large.code, JSON.stringify(large).slice(0, 200));
  assert.equal(await talk.chips.count(), 0);
  answer = () => ["fine"];
  assert.match(await talk.say("still there?"), /fine/);
});

test("a tool that a view offers is offered to the model under a name of its own, for as long as the view is open", async () => {
  const guest = await withView();
  answer = ({ last, tools }) =>
    last.role === "tool" ? ["painted"] : [{ call: tools.find((name) => name.includes("__paint__v")) ?? "none", pieces: ['{"colour":"red"}'] }];
  await talk.say("paint it");
  assert.deepEqual(await guest.evaluate(() => window.painted), ["red"]);
  assert.equal(lastTool(), "painted red");
  await talk.calls.last().getByText("offered by a view").waitFor();
  await talk.page.locator(".call-view button.close").last().click();
  await talk.page.locator(".call-view article.view").waitFor({ state: "detached" });
  await talk.say("paint it again");
  assert.match(lastTool(), /no tool named/);
});

test("a view of an older call opens with what was answered then, and no tool is called again", async () => {
  await withView();
  const calls = async () => (await host.audit()).filter(({ kind }) => kind === "model").length;
  const before = await calls();
  await talk.page.reload();
  await talk.page.getByRole("tab", { name: "Conversation" }).click();
  await talk.page.waitForFunction(() => document.querySelector(".talk-head select")?.options.length > 1);
  await talk.page.getByLabel("Conversations").selectOption({ index: 1 });
  await talk.page.getByRole("button", { name: "Show its view" }).first().click();
  const guest = await talk.guest();
  await guest.waitForSelector('body[data-result="shown it"]');
  assert.equal(await guest.evaluate(() => document.body.dataset.input), '{"words":"it"}');
  assert.equal(await calls(), before);
});

test("a view and a server may use the model after a yes, for text and within limits", async () => {
  const guest = await withView();
  answer = ({ body }) => (body.tools ? ["no"] : ["roses are red"]);
  const sample = { messages: [{ role: "user", content: { type: "text", text: "a rhyme" } }], maxTokens: 20 };
  const said = say(guest, "sampling/createMessage", sample);
  await talk.answer("allow");
  const result = await said;
  assert.deepEqual([result.role, result.content, result.stopReason], ["assistant", { type: "text", text: "roses are red" }, "endTurn"]);
  answer = ({ body, last }) => (last.role === "tool" ? ["done"] : body.tools ? [{ call: "chatty__think" }] : ["violets are blue"]);
  await talk.fresh();
  await talk.begin("think");
  await talk.ask.getByText("a rhyme").first().waitFor();
  await talk.answer("allow");
  await talk.settled();
  assert.match(lastTool(), /violets are blue/);
  await talk.begin("think again");
  await talk.answer("deny");
  await talk.settled();
  assert.match(lastTool(), /rejected/);
});

test("a server asks the person by a form, whose answer must fit, or by an address that is shown whole", async () => {
  await talk.fresh();
  answer = ({ last }) => (last.role === "tool" ? ["done"] : [{ call: "chatty__form" }]);
  await talk.begin("ask me");
  await talk.ask.getByText("How <b>many</b>?").waitFor();
  assert.equal(await talk.ask.locator("b", { hasText: "many" }).count(), 0, "a server's words are no markup");
  const count = talk.ask.getByLabel("How many");
  await count.fill("12");
  await talk.answer("accept");
  await talk.trouble.getByText("above maximum 9").waitFor();
  await talk.ask.getByLabel("How many").fill("3");
  await talk.answer("accept");
  await talk.settled();
  assert.deepEqual(JSON.parse(lastTool()), { action: "accept", content: { count: 3 } });
  await talk.begin("ask me once more");
  await talk.answer("decline");
  await talk.settled();
  assert.deepEqual(JSON.parse(lastTool()), { action: "decline" });
  answer = ({ last }) => (last.role === "tool" ? ["done"] : [{ call: "chatty__form", pieces: ['{"url":"https://xn--80ak6aa92e.com/in"}'] }]);
  await talk.begin("send me there");
  await talk.ask.getByText("https://xn--80ak6aa92e.com/in").waitFor();
  await talk.answer("cancel");
  await talk.settled();
  assert.deepEqual(JSON.parse(lastTool()), { action: "cancel" });
  assert.deepEqual(talk.mishaps, []);
});
