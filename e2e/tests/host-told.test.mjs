// Never blank, never mute: what does not start, does not answer or is not there is said, with what is known of it.
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";

const SERVER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../servers/needy.mjs");
const needy = (...more) => ({ command: process.execPath, args: [SERVER, ...more] });
const host = await startHost({ servers: { needy: needy(), unlisted: needy("unlisted"), crash: needy("crash"), chatty: needy("chatty") } });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const bench = await openBench(browser, host);
const height = (card) => card.box.locator("iframe").evaluate((frame) => frame.getBoundingClientRect().height);

test("a view that never says hello is told of long before its time is over", async () => {
  const card = await bench.run("needy", "silent");
  await card.note.getByText("This view has not started yet: it has not said hello (ui/initialize). Its script may have failed").waitFor();
  // It still has its time.
  assert.equal(await card.box.locator("iframe").count(), 1);
  await bench.log("not ready yet: it has not said hello").first().waitFor();
  await card.close();
});

test("what a view said that is not of MCP Apps is counted", async () => {
  const card = await bench.run("needy", "stranger");
  await card.note.getByText("It sent 1 message that is not of MCP Apps.").waitFor();
  await card.close();
});

test("a view that is kept from starting says so, with what it was kept from", async () => {
  const card = await bench.run("needy", "stuck");
  await card.box.locator(".blocked").getByText("(eval)").waitFor();
  await card.note.getByText("What it is kept from is listed here, and may be why.").waitFor();
  await card.close();
});

test("a view that gets ready late is no longer said to be quiet", async () => {
  const card = await bench.run("needy", "late");
  await card.note.getByText("This view has not started yet").waitFor();
  await card.guest.getByRole("button").click();
  await card.note.getByText("This view has not started yet").waitFor({ state: "detached" });
  await card.close();
});

test("a view that says no size has a useful height", async () => {
  const card = await bench.run("needy", "camera");
  await card.guest.locator("body[data-done]").waitFor();
  await bench.page.waitForFunction(
    (view) => document.querySelector(`transom-view[view="${view}"]`).shadowRoot.querySelector("iframe").getBoundingClientRect().height > 400,
    card.view,
  );
  await card.close();
});

test("after fullscreen a view has its size back, whatever it said of itself there", async () => {
  const card = await bench.run("needy", "sized");
  const is = (wanted) =>
    bench.page.waitForFunction(
      ([view, wanted]) => document.querySelector(`transom-view[view="${view}"]`).shadowRoot.querySelector("iframe").getBoundingClientRect().height === wanted,
      [card.view, wanted],
    );
  await is(220);
  const frame = await card.frame();
  await frame.evaluate(() => go("fullscreen"));
  await card.guest.locator('body[data-done="fullscreen"]').waitFor();
  assert.ok((await height(card)) > 1000);
  // It measures the screen there, and says so.
  await frame.evaluate(() => size(innerHeight));
  await frame.evaluate(() => go("inline"));
  await card.guest.locator('body[data-done="inline"]').waitFor();
  await is(220);
  await card.close();
});

test("the log says what came of a call, and how long it took", async () => {
  const card = await bench.run("needy", "sized");
  await bench.log(/answered in \d+ ms: "call \d+"/).first().waitFor();
  const frame = await card.frame();
  await frame.evaluate(() => call(false));
  await bench.log(/tools\/call "sized": answered in \d+ ms, \d+ bytes/).first().waitFor();
  await frame.evaluate(() => call(true));
  await bench.log(/tools\/call "sized": answered with an error in \d+ ms/).first().waitFor();
  await card.close();
});

test("a server whose tools cannot be listed is shown as that, with its words", async () => {
  const box = bench.server("unlisted");
  await box.getByText("the tools are in the cellar").first().waitFor();
  await box.getByText("its tools cannot be listed").first().waitFor();
  assert.equal(await box.getByText("0 tools").count(), 0);
});

test("a program that crashed: its error is found, and all that it wrote is there", async () => {
  const box = bench.server("crash");
  await box.locator(".state", { hasText: "Error: the database is not there" }).waitFor();
  const output = box.locator("details.output");
  await output.locator("summary").click();
  const text = await output.locator("pre").textContent();
  assert.match(text, /starting…/);
  assert.match(text, /at file:.*needy\.mjs/);
  assert.match(text, /Node\.js v/);
});

test("what a server says beside its answers is on the page", async () => {
  const card = await bench.run("chatty", "sized");
  await bench.log('"a line on standard error"').first().waitFor();
  await bench.log('"warning" "db": "it is slow today"').first().waitFor();
  await card.close();
});

test("dev tells the errors of a view on the page and in the terminal, and run does not", async () => {
  const plain = await bench.run("needy", "failing");
  await plain.guest.locator("#after").waitFor();
  const dev = await startHost({ verb: "dev", servers: { own: needy() }, args: ["--watch", SERVER] });
  try {
    const own = await openBench(browser, dev);
    const card = await own.run("own", "failing");
    for (const words of ["not well", "not caught: never caught", "Cannot read properties of undefined (reading 'property') (line"])
      await own.log(`error in the view: "${words}`).or(own.log(`error in the view: "Uncaught TypeError: ${words}`)).first().waitFor();
    await card.note.getByText("An error in this view:").waitFor();
    assert.match(dev.output.join(""), /own failing: An error in this view: "not well"/);
    await own.context.close();
  } finally {
    await dev.stop();
  }
  assert.equal(await bench.log("error in the view").count(), 0);
  assert.ok(!(await (await plain.frame()).content()).includes("transom-error"));
  await plain.close();
});
