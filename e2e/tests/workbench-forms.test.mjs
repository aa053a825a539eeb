// Forms from schemas that are hard to draw: what a person fills in is what the server gets.
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
page.setDefaultTimeout(Number(process.env.PATIENCE ?? 60_000));
await bench.ready("forms");

const box = (tool) => page.locator(`details.tool:has(> summary[title="${tool}"])`);
const field = (tool, at) => box(tool).locator(`.field[data-at="${at}"]`);
async function open(tool) {
  await box(tool).locator("> summary").click();
  await box(tool).locator("form").waitFor();
  return box(tool);
}
/** Presses Run, and returns what the server got. */
async function sent(tool) {
  await box(tool).getByRole("button", { name: "Run", exact: true }).click();
  const answer = page.locator("article.view").first().locator(".answer", { hasText: "got " });
  const text = await answer.innerText();
  await page.locator("article.view").first().locator("button.close").click();
  return JSON.parse(/got (\{.*\})/s.exec(text)[1]);
}

test("what an optional argument of a Python server is not given is not sent, and null is null", async () => {
  await open("echo_python");
  assert.deepEqual(await sent("echo_python"), {});
  await field("echo_python", "/name").locator("textarea").fill("null");
  assert.deepEqual(await sent("echo_python"), { name: "null" }, "a text that reads null is a text");
  await field("echo_python", "/name").getByLabel("Kind of name").selectOption("null");
  assert.deepEqual(await sent("echo_python"), { name: null });
  await field("echo_python", "/name").getByRole("button", { name: "Do not send name" }).click();
  await field("echo_python", "/count").locator("input").fill("3");
  await field("echo_python", "/tags").getByRole("button", { name: /^Add/ }).click();
  await field("echo_python", "/tags/0").locator("textarea").fill("a");
  assert.deepEqual(await sent("echo_python"), { count: 3, tags: ["a"] });
});

test("nested objects, lists, kinds, several lines and files go as the schema has them", async () => {
  const tool = "echo_nested";
  await open(tool);
  await field(tool, "/title").locator("textarea").fill("Walk");
  await field(tool, "/place/x").locator("input").fill("1.5");
  await field(tool, "/path").getByRole("button", { name: /^Add/ }).click();
  await field(tool, "/path/0/x").locator("input").fill("7");
  await field(tool, "/colour").locator("select").selectOption("green");
  await field(tool, "/either").getByLabel("Kind of either").selectOption("a number");
  await field(tool, "/either").locator("input").fill("5");
  await field(tool, "/agree").locator("select").selectOption("false");
  const labels = field(tool, "/labels");
  await labels.getByRole("button", { name: "Add labels" }).click();
  await labels.getByLabel("Name of another member").fill("kind/of");
  await labels.getByRole("button", { name: "Add", exact: true }).click();
  await field(tool, "/labels/kind~1of").locator("textarea").fill("x");
  await field(tool, "/file").locator("input").setInputFiles({ name: "a.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2, 255]) });
  await field(tool, "/file").getByText("a.bin, 4 bytes").waitFor();
  await field(tool, "/day").locator("input").fill("2026-11-18");
  await shoot(page, "form", { area: "left" });
  assert.deepEqual(await sent(tool), {
    title: "Walk",
    place: { x: 1.5, y: 2 },
    path: [{ x: 7, y: 2 }],
    colour: "green",
    note: "one\ntwo",
    either: 5,
    agree: false,
    labels: { "kind/of": "x" },
    file: "AAEC/w==",
    day: "2026-11-18",
  });
});

test("what is wrong is said at its field, which gets the keyboard, and nothing is sent", async () => {
  const tool = "echo_nested";
  const calls = () => bench.cards().count();
  const before = await calls();
  await field(tool, "/title").locator("textarea").fill("W");
  await field(tool, "/place/x").locator("input").fill("12345678901234567890");
  await box(tool).getByRole("button", { name: "Run", exact: true }).click();
  await field(tool, "/title").locator(".fault", { hasText: "too short" }).first().waitFor();
  await field(tool, "/place/x").locator(".fault", { hasText: "more digits than this page can carry" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.closest(".field").dataset.at), "/title");
  assert.equal(await field(tool, "/title").locator("textarea").getAttribute("aria-invalid"), "true");
  await shoot(page, "form-wrong", { area: "left" });
  assert.equal(await calls(), before);
  await field(tool, "/title").locator("textarea").fill("Walk");
  await field(tool, "/place/x").locator("input").fill("2");
  assert.equal((await sent(tool)).place.x, 2);
});

test("JSON is the same value: what is written there is in the form, and the other way", async () => {
  const tool = "echo_nested";
  await box(tool).getByRole("tab", { name: "JSON" }).click();
  const editor = box(tool).locator(".code-editor .cm-content");
  await editor.waitFor();
  assert.match(await editor.innerText(), /"title": "Walk"/);
  await shoot(page, "form-json", { area: "left" });
  await editor.fill('{"title": "Run", "place": {"x": 1}, "extra": {"deep": [null]}');
  await box(tool).locator(".fault", { hasText: "Write a JSON object." }).waitFor();
  await box(tool).getByRole("button", { name: "Run", exact: true }).click();
  await box(tool).getByRole("tab", { name: "Form" }).click();
  assert.equal(await editor.isVisible(), true, "what is no value stays to be mended");
  await editor.press("End");
  await page.keyboard.type("}");
  assert.deepEqual(await sent(tool), { title: "Run", place: { x: 1 }, extra: { deep: [null] } });
  await box(tool).getByRole("tab", { name: "Form" }).click();
  assert.equal(await field(tool, "/title").locator("textarea").inputValue(), "Run");
});

test("a schema in a circle, an enormous one and nonsense fall back to JSON, with words", async () => {
  for (const [tool, words] of [
    ["echo_circle", "goes in a circle"],
    ["echo_wide", "too large for a form"],
  ]) {
    await open(tool);
    await box(tool).getByText(words).first().waitFor();
    await box(tool).locator(".code-editor .cm-content").fill('{"any": [1]}');
    assert.deepEqual(await sent(tool), { any: [1] });
    await box(tool).locator("> summary").click();
  }
  await open("echo_nonsense");
  await box("echo_nonsense").getByRole("tab", { name: "JSON" }).click();
  await box("echo_nonsense").locator(".code-editor .cm-content").fill('{"b": 1}');
  assert.equal(await page.locator("img[src=x]").count(), 0);
  await shoot(page, "form-nonsense", { area: "left" });
});

test("nothing went wrong in the page, and its policy was not in the way", async () => {
  assert.deepEqual(bench.mishaps, []);
});
