// The timeline of the workbench: what passes on both wires, found, looked at, stopped, saved, opened again and compared; and what is known of one view.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "transom-timeline-"));
const recorded = path.join(folder, "recorded.jsonl");
const host = await startHost({ args: ["--record", recorded] });
const browser = await startBrowser();
let stopped = false;
after(async () => {
  await browser.close();
  if (!stopped) await host.stop();
  rmSync(folder, { recursive: true, force: true });
});
const bench = await openBench(browser, host);
const { page } = bench;
await page.setViewportSize({ width: 1440, height: 900 });

/** Pictures of what people see, where somebody wants to look at them. */
const shots = process.env.SHOTS;
async function shoot(name) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
const tab = (name) => page.getByRole("tab", { name });
const moments = page.locator(".timeline-list .moment");
const moment = (words) => moments.filter({ hasText: words });
const search = page.getByRole("searchbox", { name: "Search methods and messages" });
const count = page.locator(".timeline-tools .count");

async function topCard() {
  return bench.card(await page.locator("#views .view transom-view").first().getAttribute("view"));
}
/** Lets the demo's view call a tool of its server. */
async function refresh() {
  await tab("Views").click();
  const card = await topCard();
  await card.guest.locator("#refresh").click();
  await card.guest.locator("#said", { hasText: "Refreshed." }).waitFor();
}

test("the first words of a server are there, whenever the timeline is opened", async () => {
  await (await topCard()).guest.locator("#city", { hasText: /Lisbon: / }).waitFor();
  await tab("Timeline").click();
  await search.fill("initialize server");
  await moment("initialize").first().waitFor();
  await moment("answer to initialize").first().waitFor();
  assert.match(await moment("initialize").first().innerText(), /gate → server/);
});

test("a call of a view is seen on both wires, with its verdict and how long it took", async () => {
  await refresh();
  await tab("Timeline").click();
  await search.fill("tools/call refresh");
  const asked = moment("view → gate");
  await asked.first().waitFor();
  assert.match(await asked.last().innerText(), /tools\/call\s+allowed\s+[\d.]+ (µs|ms|s)/);
  await moment("gate → server").first().waitFor();
  assert.match(await moment("gate → server").last().innerText(), /[\d.]+ (µs|ms|s)/);
  await shoot("timeline");
});

test("a message is a tree, the text that travelled, a fixture and a Rust test", async () => {
  await search.fill("tools/call refresh");
  await moment("gate → server").last().click();
  const details = page.getByRole("complementary", { name: "The chosen moment" });
  await details.getByRole("tree").getByText("refresh").waitFor();
  await details.getByRole("tab", { name: "Raw" }).click();
  const raw = JSON.parse(await details.locator("pre").innerText());
  assert.equal(raw.method, "tools/call");
  await details.getByRole("tab", { name: "Fixture" }).click();
  assert.equal(JSON.parse(await details.locator("pre").innerText()).message.method, "tools/call");
  await details.getByRole("tab", { name: "Rust test" }).click();
  assert.match(await details.locator("pre").innerText(), /fn m_tools_call_is_answered_as_it_was/);
  await shoot("timeline-details");
  await details.getByRole("button", { name: "Show its answer" }).click();
  await details.getByText("server → gate").waitFor();
  await details.getByRole("button", { name: "Close" }).click();
  await details.waitFor({ state: "detached" });
});

test("it can be stopped, and what passed meanwhile is shown when it goes on", async () => {
  await search.fill("");
  await page.getByRole("button", { name: "Pause" }).click();
  const before = await count.innerText();
  await refresh();
  await tab("Timeline").click();
  assert.equal(await count.innerText(), before);
  await page.getByRole("button", { name: "Go on" }).click();
  await page.waitForFunction((before) => document.querySelector(".timeline-tools .count").textContent !== before, before);
});

test("what a view is refused is among the problems", async () => {
  await tab("Views").click();
  const card = await topCard();
  await card.guest.locator("#save").click();
  await card.answer("deny");
  await card.guest.locator("#said", { hasText: "Refused:" }).waitFor();
  await tab("Timeline").click();
  await page.getByRole("button", { name: "Problems" }).click();
  await moment("refused").first().waitFor();
  assert.equal(await moment("ui/initialize").count(), 0);
  await page.getByRole("button", { name: "Problems" }).click();
});

test("a trace is saved without secrets, opened again, and compared", async () => {
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save trace" }).click();
  const saved = path.join(folder, "saved.jsonl");
  await (await saving).saveAs(saved);
  const lines = readFileSync(saved, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines[0].transom, "trace");
  assert.equal(lines.at(-1).kind, "end");
  assert.ok(lines.some(({ message }) => message?.method === "ui/initialize"));

  const [open, compare] = [page.getByLabel("Open trace"), page.getByLabel("Compare with…")].map((each) =>
    each.and(page.locator("input")),
  );
  await open.setInputFiles(saved);
  await page.getByText("Back to this run").waitFor();
  assert.equal(await page.locator(".notices .warning").count(), 0);
  await compare.setInputFiles(saved);
  await page.getByText("They say the same").waitFor();
  await page.getByRole("button", { name: "End the comparison" }).click();

  const cut = path.join(folder, "cut.jsonl");
  const text = readFileSync(saved, "utf8");
  writeFileSync(cut, text.slice(0, text.length / 2).replaceAll("refresh", "<img src=x onerror=alert(1)>"));
  await open.setInputFiles(cut);
  await page.locator(".notices .warning", { hasText: "has no end" }).waitFor();
  await moments.first().waitFor();
  await shoot("timeline-cut");
  assert.equal(await page.locator(".timeline img").count(), 0);
  await compare.setInputFiles(saved);
  await page.getByText("only in the second").first().waitFor();
  await page.locator(".difference").first().click();
  await shoot("timeline-differences");
  await page.getByRole("button", { name: "End the comparison" }).click();

  const none = path.join(folder, "none.jsonl");
  writeFileSync(none, "no trace at all\n");
  await open.setInputFiles(none);
  await page.locator(".notices .warning", { hasText: "no trace of Transom" }).waitFor();
  await page.getByRole("button", { name: "Back to this run" }).click();
});

test("what is known of a view: its document, its policy explained, its counts and limits", async () => {
  await tab("Views").click();
  await (await topCard()).box.getByRole("button", { name: /^Information about/ }).click();
  const facts = page.getByRole("region", { name: "Information about a view" });
  await facts.getByText("ui://").first().waitFor();
  assert.match(await facts.locator(".hash").innerText(), /^[0-9a-f]{64}$/);
  await facts.getByText("script-src", { exact: false }).first().waitFor();
  await facts.getByText("Scripts:", { exact: false }).first().waitFor();
  await facts.getByText("it is ready (initialized)").waitFor();
  await facts.locator(".chart canvas").waitFor();
  const messages = async () => Number(/(\d+) messages/.exec(await facts.innerText())[1]);
  const before = await messages();
  const card = await topCard();
  await card.guest.locator("#refresh").click();
  await page.waitForFunction(
    (before) => Number(/(\d+) messages/.exec(document.querySelector(".facts").innerText)[1]) > before,
    before,
  );
  assert.ok((await facts.locator("meter").count()) >= 5);
  await shoot("facts");
});

test("a run is recorded to its end, and secrets of its messages are not in the file", async () => {
  assert.deepEqual(bench.mishaps, []);
  await page.close();
  await host.stop();
  stopped = true;
  const lines = readFileSync(recorded, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines[0].transom, "trace");
  assert.equal(lines.at(-1).lines, lines.length - 1);
  const kinds = new Set(lines.map(({ kind }) => kind));
  for (const kind of ["message", "verdict", "opened", "ready", "closed", "sent"]) assert.ok(kinds.has(kind), kind);
  assert.deepEqual(
    lines.slice(1, -1).map(({ n }) => n),
    lines.slice(1, -1).map((_, at) => at + 1),
    "none is missing, and they are in order",
  );
});
