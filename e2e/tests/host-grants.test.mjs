// What the policy blocks is seen on the card, and one answer makes the view work: nothing of it opens a domain.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { binary, openBench, startHost } from "../rig/host.mjs";

const SERVER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../servers/needy.mjs");
const needy = (...more) => ({ command: process.execPath, args: [SERVER, ...more] });
const host = await startHost({
  servers: { needy: needy(), other: needy("other"), third: needy("third"), given: needy("given"), hostile: needy("hostile") },
  args: ["--grant", "given=eval", "--grant", "given=camera"],
});
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const bench = await openBench(browser, host);

const done = (card, value) => card.guest.locator(`body[data-done="${value}"]`).waitFor();
const blocked = (card) => card.box.locator(".blocked");
const decided = (text) => bench.page.locator("#decisions li", { hasText: text });

test("a view that makes code from text says what was blocked, and works after one answer", async () => {
  const card = await bench.run("needy", "compile");
  await blocked(card).getByText("run code put together from text, and WebAssembly (eval)").waitFor();
  await bench.log("kept from: run code put together from text, and WebAssembly (eval)").first().waitFor();
  await blocked(card).getByRole("button", { name: "Allow it…" }).click();
  await card.ask.getByText('This was blocked for views of "needy"; none of it reaches another address. Allow them to:').waitFor();
  await card.ask.getByText("run code put together from text, and WebAssembly (eval)").waitFor();
  await card.answer("allow-always");
  await done(card, 42);
  // The tool is not called a second time for it: the view is told again what the first call answered.
  await card.guest.locator('body[data-result="call 1"]').waitFor();
  assert.equal(await blocked(card).isVisible(), false);
  await decided("Views of needy may always run code put together from text, and WebAssembly (eval).").waitFor();
  // The next view of the server has it from the start.
  const next = await bench.run("needy", "compile");
  await done(next, 42);
  await next.close();
  const rows = await host.audit();
  const decision = rows.find(({ kind, about }) => kind === "decision" && about === "eval");
  assert.equal(decision.outcome, "allow-always");
  const runs = rows.filter(({ kind, about }) => kind === "document" && about.startsWith("ui://needy/compile"));
  assert.equal(runs[0].granted, undefined);
  assert.ok(!runs[0].policy.includes("'unsafe-eval'"), runs[0].policy);
  assert.equal(runs[1].granted, "eval");
  assert.ok(runs[1].policy.includes("'unsafe-eval'"), runs[1].policy);
  await card.close();
});

test("what is taken back ends the view that has it, and is blocked in the next one", async () => {
  const card = await bench.run("needy", "compile");
  await done(card, 42);
  await decided("Views of needy may always run code").getByRole("button").click();
  await card.box.getByText("you took back something that you had given it").waitFor();
  const next = await bench.run("needy", "compile");
  await blocked(next).getByText("(eval)").waitFor();
  await next.close();
  const { stdout } = await promisify(execFile)(binary(), ["decisions", "--data-dir", host.data, "list"]);
  assert.ok(!stdout.includes("eval"), stdout);
});

for (const [tool, words] of [
  ["worker", "load scripts and workers made in the view itself (blob:)"],
  ["module", "run WebAssembly (wasm)"],
  ["picture", "show images made in the view itself (blob-images)"],
])
  test(`a ${tool} is blocked, said, granted and had`, async () => {
    const card = await bench.run("other", tool);
    await blocked(card).getByText(words).waitFor();
    await blocked(card).getByRole("button").click();
    await card.answer("allow");
    await done(card, 42);
    await card.close();
    // It was for that view alone.
    const next = await bench.run("other", tool);
    await blocked(next).getByText(words).waitFor();
    await next.close();
  });

test("two things that are blocked are one question, and what is granted is what it shows", async () => {
  const card = await bench.run("third", "both");
  await blocked(card).getByText("(eval)").waitFor();
  await blocked(card).getByText("(blob:)").waitFor();
  await blocked(card).getByRole("button").click();
  await card.ask.getByText("(eval)").waitFor();
  await card.ask.getByText("(blob:)").waitFor();
  await card.answer("deny");
  await blocked(card).getByRole("button").click();
  await card.answer("allow-always");
  await done(card, 42);
  const { stdout } = await promisify(execFile)(binary(), ["decisions", "--data-dir", host.data, "list"]);
  assert.match(stdout, /third.*made in the view itself \(blob:\).*\(eval\)/);
  // Nothing else came with it.
  const other = await bench.run("third", "picture");
  await blocked(other).getByText("(blob-images)").waitFor();
  await other.close();
  await card.close();
});

test("a domain that is not declared is named, and cannot be granted", async () => {
  const card = await bench.run("other", "elsewhere");
  await done(card, "blocked");
  await blocked(card).getByText('load a script from "https://cdn.elsewhere.test/lib.js": its server has to name that in resourceDomains').waitFor();
  assert.equal(await blocked(card).getByRole("button").count(), 0);
  await card.close();
});

test("a permission that a document asks for is granted from the page, and told to the view", async () => {
  const card = await bench.run("third", "camera");
  await done(card, "blocked");
  await blocked(card).getByText("use the camera (camera)").waitFor();
  await blocked(card).getByText("know where you are (geolocation)").waitFor();
  await blocked(card).getByRole("button").click();
  await card.answer("allow");
  await done(card, 42);
  assert.equal(await card.guest.locator("body").getAttribute("data-sandbox"), '{"permissions":{"camera":{},"geolocation":{}}}');
  await card.close();
});

test("what the command line grants is had without a question, by the server that it names", async () => {
  const card = await bench.run("given", "compile");
  await done(card, 42);
  const camera = await bench.run("given", "camera");
  await done(camera, 42);
  await blocked(camera).getByText("know where you are (geolocation)").waitFor();
  assert.equal(await blocked(camera).getByText("(camera)").count(), 0);
  await camera.close();
  await card.close();
});

test("thousands of reports of a hostile guest are a few words, and nothing else is disturbed", async () => {
  const card = await bench.run("hostile", "flood");
  await done(card, "sent");
  await blocked(card).locator("li").nth(23).waitFor();
  // Beside it another view opens and works.
  const beside = await bench.run("given", "compile");
  await done(beside, 42);
  assert.equal(await blocked(card).locator("li").count(), 24);
  assert.equal(await blocked(card).getByRole("button").count(), 0);
  await beside.close();
  await card.close();
});

test("a guest cannot write a report itself", async () => {
  const card = await bench.run("hostile", "liar");
  await done(card, 405);
  assert.equal(await blocked(card).isVisible(), false);
  await card.close();
  // What the policy blocks is an error in the view.
  assert.deepEqual(bench.mishaps.filter((words) => !words.startsWith("EvalError")), []);
});
