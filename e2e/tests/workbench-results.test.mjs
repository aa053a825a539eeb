// What tools answered, whole: every kind of content, data, errors; and the runs, to be run again.
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";
import { shoot } from "../rig/screens.mjs";
import { after, test } from "../rig/test.mjs";

const server = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../servers/forms.mjs");
const host = await startHost({ servers: { forms: { command: process.execPath, args: [server] } } });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const bench = await openBench(browser, host, { viewport: { width: 1440, height: 2200 } });
const { page } = bench;
if (process.env.PATIENCE) page.setDefaultTimeout(Number(process.env.PATIENCE));
const complaints = [];
page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
await bench.ready("forms");

/** Runs a tool, and returns all of its answer on its card, open. */
async function answer(tool) {
  const { box } = await bench.run("forms", tool);
  const whole = box.locator("details.whole");
  await whole.waitFor();
  // It may open by itself meanwhile, and a click would close it again.
  await whole.evaluate((each) => void (each.open = true));
  await whole.locator(".result").waitFor();
  return whole;
}

test("Markdown is drawn, and nothing in it runs or leads to a script", async () => {
  const whole = await answer("show_text");
  await whole.locator(".markdown h1", { hasText: "A title" }).waitFor();
  assert.equal(await whole.locator(".markdown :is(img, script)").count(), 0);
  assert.equal(await whole.locator(".markdown a[href^='javascript']").count(), 0);
  await whole.getByRole("button", { name: "Text", exact: true }).click();
  assert.match(await whole.locator("pre").first().innerText(), /^# A title/);
  assert.doesNotMatch(await page.title(), /pwned/);
});

test("pictures and sound are shown, and what says it is one and is none is not", async () => {
  const whole = await answer("show_media");
  assert.deepEqual(await whole.locator("img").evaluateAll((all) => Promise.all(all.map((each) => each.decode().then(() => each.naturalWidth)))), [1]);
  assert.equal(await whole.locator("audio[controls]").count(), 1);
  await whole.getByText("its data is not base64 (text/html)").waitFor();
  await shoot(page, "result-media", { area: "centre" });
});

test("resources are shown, links show their whole address, and a linked one is read on request", async () => {
  const whole = await answer("show_resources");
  await whole.locator("h2", { hasText: "Notes" }).waitFor();
  await whole.getByText("application/octet-stream, which is not shown here.").waitFor();
  const link = whole.getByRole("link", { name: "https://example.com/report" });
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  assert.equal(await whole.locator("a[href^='javascript']").count(), 0);
  await whole.getByText("javascript:alert(1)", { exact: true }).waitFor();
  const saved = page.waitForEvent("download");
  await whole.getByRole("button", { name: "Save (4 bytes)" }).click();
  assert.equal((await saved).suggestedFilename(), "a.bin");
});

test("data is a tree, and metadata and everything else is there as well", async () => {
  const whole = await answer("show_data");
  await whole.getByText('"Lisbon"', { exact: true }).waitFor();
  await whole.getByText("a.test/cost", { exact: true }).waitFor();
});

test("an error is one, and an answer that is none of the specification's is shown as it is", async () => {
  await (await answer("show_error")).getByText("The tool says that it failed.").waitFor();
  await (await answer("show_odd")).getByText('"no list"', { exact: true }).waitFor();
});

test("a long text is folded, searched and saved", async () => {
  const whole = await answer("show_long");
  await whole.getByLabel("Find in this text").fill("line 29999");
  await whole.getByText("30000: line 29999").waitFor();
  const saved = page.waitForEvent("download");
  await whole.getByRole("button", { name: "Save the answer" }).click();
  assert.equal((await saved).suggestedFilename(), "show_long.json");
});

test("runs are listed, and one is run again, as it was and changed", async () => {
  const { box } = await bench.run("forms", "echo_python", { name: "again" });
  await box.locator(".answer", { hasText: '{"name":"again"}' }).waitFor();
  await page.getByRole("tab", { name: "Runs" }).click();
  const line = page.locator(".runs > li", { hasText: "echo_python" }).first();
  await line.getByText("Answered").waitFor();
  const before = await bench.cards().count();
  await line.getByRole("button", { name: "Run again" }).click();
  await bench.cards().nth(before).waitFor();
  await page.locator("article.view").first().locator(".answer", { hasText: '{"name":"again"}' }).waitFor();
  assert.equal(await bench.cards().count(), before + 1);
  await shoot(page, "runs", { area: "right" });
  await page.locator('details.tool[open]:has(> summary[title="echo_python"]) > summary').click();
  await line.getByRole("button", { name: "Change and run" }).click();
  const field = page.locator('details.tool:has(> summary[title="echo_python"]) .field[data-at="/name"] textarea');
  await field.waitFor();
  assert.equal(await field.inputValue(), "again");
});

// What is cleaned is parsed first, in a document that runs nothing; the browser says so of its handlers.
test("nothing went wrong in the page, and its policy was in nobody's way", () => {
  assert.deepEqual(bench.mishaps, []);
  assert.deepEqual(complaints.filter((text) => /Content Security Policy/.test(text) && !/inline event handler/.test(text)), []);
});
