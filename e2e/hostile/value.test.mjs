// One value: what is judged is what is shown, written down and sent. And questions and lines of the log have an end.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "../rig/test.mjs";
import { openScene } from "./scene.mjs";

const scene = await openScene({ after });
const { bench, openHostile, neighbourWorks, reached, rowsOf, audited } = scene;

const got = async (view) => JSON.parse((await view.evaluate(() => call("got"))).content[0].text);
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

test("the server gets the call that was judged: what a view may not say is left out, and that is written in the log", async (t) => {
  const { view } = await openHostile(t);
  const more = { task: { ttl: 1 }, inputResponses: { confirm: { action: "accept" } }, requestState: "s", __proto__x: 1 };
  const _meta = { "acme/trace": 1, "io.modelcontextprotocol/related-task": { taskId: "1" } };
  const answer = await view.evaluate((params) => ask("tools/call", params), { name: "look", arguments: { a: 1 }, _meta, ...more });
  assert.equal(answer.content[0].text, "looked at stranger");
  const { _meta: sent, ...params } = await got(view);
  assert.deepEqual(params, { name: "look", arguments: { a: 1 } });
  assert.deepEqual(Object.keys(sent).filter((name) => name !== "progressToken"), ["acme/trace"]);
  await bench.log('left out "task", "inputResponses", "requestState"').first().waitFor();
  await neighbourWorks();
});

test("a twin of a member is refused with words, and the server hears of neither", async (t) => {
  const { view, card } = await openHostile(t);
  await reached(view);
  const twins = [
    { Name: "drop", ARGUMENTS: { all: true } },
    { "argument\u017f": { all: true } },
    { "name\u0000": "drop" },
    { _META: {} },
    { _meta: { ProgressToken: 1 } },
  ];
  for (const twin of twins) {
    const refused = await view.evaluate((twin) => ask("tools/call", { name: "look", arguments: {}, ...twin }), twin);
    assert.equal(refused.code, -32602, JSON.stringify(twin));
    assert.match(refused.message, /would pass for/);
    assert.deepEqual(refused.data, { reason: "ambiguous" });
  }
  const whole = await view.evaluate(
    () =>
      new Promise((done) => {
        waiting.set("twin", done);
        post({ id: "twin", method: "tools/call", params: { name: "look" }, Method: "resources/read", PARAMS: { name: "drop" } });
      }),
  );
  assert.match(whole.message, /the message: the member "Method" would pass for "method"/);
  assert.deepEqual(await reached(view), []);
  await audited(card, ({ kind, outcome, why }) => kind === "verdict" && outcome === "refused" && /would pass for/.test(why ?? ""));
  await neighbourWorks();
});

test("a question shows all that is sent, and says how much is folded", async (t) => {
  const { view, card } = await openHostile(t);
  const given = { first: "x".repeat(1000), rows: Array.from({ length: 500 }, (_, n) => ({ n })), last: "/etc/passwd" };
  const text = JSON.stringify(given);
  const answer = view.evaluate((given) => call("drop", given), given);
  await card.ask.getByText("wants to call").waitFor();
  // What is short is in sight, wherever it stands among the arguments.
  assert.equal(await card.ask.locator(".parts pre").first().innerText(), "/etc/passwd");
  const [preview, rest] = await card.ask.locator(".sent pre").evaluateAll((all) => all.map(({ textContent }) => textContent));
  assert.equal(preview + rest, text);
  const folded = card.ask.locator(".sent details summary");
  await card.ask.getByText("As it is sent").click();
  assert.equal(await folded.innerText(), `… ${(text.length - 2000).toLocaleString("en")} more bytes, ${rest.match(/":/g).length} more members`);
  await folded.click();
  await card.ask.locator(".sent pre", { hasText: "/etc/passwd" }).waitFor();
  await card.answer("allow");
  assert.equal((await answer).content[0].text, "dropped by stranger");
  assert.deepEqual((await got(view)).arguments, given);
  await audited(card, ({ kind, sha256: hash }) => kind === "effect" && hash === sha256(text), "the hash of what was shown and sent");
  await neighbourWorks();
});

test("a question is read: what is short first, long texts folded, data after texts, and base64 as how much it is", async (t) => {
  const { view, card } = await openHostile(t);
  const picture = "aB3/".repeat(3000);
  const letter = "Dear all,\nthis is \"it\". ".repeat(80);
  const given = { picture, rows: [{ n: 1, file: picture }], letter, to: "ann@a.test\u202e", n: 3 };
  const answer = view.evaluate((given) => call("drop", given), given);
  await card.ask.getByText("wants to call").waitFor();
  const parts = await card.ask.locator(".parts").evaluate((list) =>
    [...list.querySelectorAll("dt")].map((name) => [name.textContent, name.nextElementSibling.querySelector("pre, p").textContent]),
  );
  assert.deepEqual(parts, [
    ["to", "ann@a.test\\u{202e}"],
    ["n", "3"],
    ["letter", letter.slice(0, 600)],
    ["rows", '[{"n":1,"file":"… 9000 bytes in base64 …"}]'],
    ["picture", "about 9,000 bytes"],
  ]);
  await card.ask.getByText(`… ${(letter.length - 600).toLocaleString("en")} more bytes`).first().click();
  assert.equal(await card.ask.locator(".parts details pre").textContent(), letter.slice(600));
  const shown = await card.ask.locator(".matter").innerText();
  assert.ok(!shown.includes("aB3/"), "nobody reads base64");
  await card.answer("deny");
  assert.match((await answer).message, /./);
});

test("a message is shown as what it says", async (t) => {
  const { view, card } = await openHostile(t);
  const content = [
    { type: "image", data: "aB3/".repeat(300), mimeType: "image/png" },
    { type: "text", text: 'Buy "it".\nNow.' },
  ];
  const answer = view.evaluate((content) => ask("ui/message", { role: "user", content }), content);
  await card.ask.getByText("wants to say in your name").waitFor();
  assert.equal(await card.ask.locator(".parts pre.said").innerText(), 'Buy "it".\nNow.');
  assert.equal(await card.ask.locator(".parts .beside").innerText(), 'about 900 bytes, said to be "image/png"');
  await card.answer("deny");
  assert.match((await answer).message, /./);
});

test("one tool is asked about at a time, and all tools of the server are an extra that lists them", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => void (globalThis.all = Promise.all(["change", "change", "change"].map((name) => call(name)))));
  await card.ask.getByText("1 of 3").waitFor();
  await card.ask.getByText('A view of "stranger" wants to call "change" of "stranger" with:').waitFor();
  assert.equal(await card.ask.locator("button.allow.main").innerText(), "Allow once");
  assert.equal(await card.ask.getByText("All 2 tools").isVisible(), false, "nobody is shown all tools who did not ask for them");
  // A yes for this view settles the two that wait behind it, and is nobody else's.
  await card.answer("allow-view");
  assert.deepEqual((await view.evaluate(() => all)).map(({ content }) => content[0].text), Array(3).fill("changed stranger"));
  assert.equal(await card.ask.count(), 0);
  const other = await openHostile(t);
  const wanted = other.view.evaluate(() => call("change"));
  await other.card.ask.getByText("More answers").click();
  await other.card.ask.getByText(/All 2 tools of this server that you would be asked about.*: <img src=x onerror=alert\(1\)>\\u\{202e\}gnp\.exe, change/).waitFor();
  await other.card.answer("allow-all-until-end");
  assert.equal((await wanted).content[0].text, "changed stranger");
  const odd = await other.view.evaluate(() => call("<img src=x onerror=alert(1)>\u202egnp.exe"));
  assert.equal(odd.content[0].text, "odd");
  // What destroys is asked about by itself.
  const drop = other.view.evaluate(() => call("drop"));
  await other.card.ask.getByText('wants to call "drop"').waitFor();
  assert.equal(await other.card.ask.locator("button.allow-all-until-end").count(), 0);
  await other.card.answer("deny");
  assert.match((await drop).message, /./);
  await bench.page.locator("#decisions li", { hasText: "may always call" }).getByRole("button").click();
  await neighbourWorks();
});

test("asking and cancelling has an end: it counts like a no", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(async () => {
    for (let n = 0; n < 200; n++) {
      post({ id: `ask${n}`, method: "tools/call", params: { name: "drop" } });
      post({ method: "notifications/cancelled", params: { requestId: `ask${n}` } });
      await new Promise((done) => setTimeout(done, 10));
    }
  });
  await audited(card, ({ kind, why }) => kind === "verdict" && /a moment ago/.test(why ?? ""), "a refusal without a question");
  const asked = (await rowsOf(card)).filter(({ kind }) => kind === "ask");
  assert.ok(asked.length <= 4, `${asked.length} questions`);
  assert.equal(await card.ask.count(), 0);
  await neighbourWorks();
});

test("a line of a megabyte is cut, and stays one line", async (t) => {
  const { view } = await openHostile(t);
  await view.evaluate(() => post({ method: "notifications/message", params: { level: "info", logger: "a\nb", data: "begins\n" + "x".repeat(1 << 20) } }));
  const line = bench.log('info "a\\nb": "').first();
  await line.waitFor();
  const words = await line.innerText();
  assert.ok(words.length < 1000 && words.includes("begins"), `${words.length} characters`);
  await neighbourWorks();
});

scene.lastly();
