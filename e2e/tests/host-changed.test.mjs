// H-49: a document that is not what somebody agreed to does not run before they agree again.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";

const data = mkdtempSync(path.join(tmpdir(), "transom-data-"));
const args = ["--data-dir", data];
// The same words each time, or it would be another server: what it has become is in a file.
const fickle = hostile("fickle", path.join(data, "turned"));
const browser = await startBrowser();
after(async () => {
  await browser.close();
  rmSync(data, { recursive: true, force: true });
});

const isAsked = async (card) => {
  await card.ask.getByText("is not the one you have seen before").waitFor();
  assert.equal(await card.guest.locator("body").count(), 0, "and nothing runs meanwhile");
};
const runs = (card) => card.guest.locator("body[data-result]").waitFor();

test("a changed document is asked about with what changed, and runs after a yes", async () => {
  const host = await startHost({ servers: { fickle }, args });
  const bench = await openBench(browser, host);
  const first = await bench.run("fickle", "show");
  await runs(first);
  assert.equal(await first.ask.count(), 0);

  const listed = bench.log("fickle2 tools, 1 view");
  const before = await listed.count();
  const turn = await bench.run("fickle", "turn");
  await turn.box.locator(".answer", { hasText: "turned" }).waitFor();
  await listed.nth(before).waitFor();

  // Nobody agrees: the text is there all the same.
  const refused = await bench.run("fickle", "show");
  await isAsked(refused);
  const changes = await refused.ask.locator("li").allInnerTexts();
  for (const words of [/its content changed, from \d+ to \d+ bytes/, /connectDomains now has https:\/\/elsewhere.test/, /it asks for camera/])
    assert.ok(changes.some((change) => words.test(change)), `${words}: ${changes.join("; ")}`);
  await refused.answer("deny");
  await refused.note.getByText("you did not agree to what has changed").waitFor();
  await refused.box.locator(".answer", { hasText: "words of show" }).waitFor();

  // A question outlives a reload of the page.
  const waiting = await bench.run("fickle", "show");
  await isAsked(waiting);
  await bench.page.reload();
  const again = bench.card(waiting.view);
  await isAsked(again);

  // One yes is for all that wait for the same document.
  const other = await bench.run("fickle", "show");
  await again.ask.getByText("1 of 2").waitFor();
  await again.answer("allow");
  await runs(other);
  await runs(again);
  assert.equal(await other.ask.count(), 0);
  const next = await bench.run("fickle", "show");
  await runs(next);
  assert.equal(await next.ask.count(), 0);
  assert.deepEqual(bench.mishaps, []);
  await bench.context.close();
  assert.equal(await host.stop(), 0);
});

test("what was agreed to is remembered over a restart, and a change meanwhile is noticed", async () => {
  const same = await startHost({ servers: { fickle }, args });
  const bench = await openBench(browser, same);
  const card = await bench.run("fickle", "show");
  await runs(card);
  assert.equal(await card.ask.count(), 0);
  await bench.context.close();
  await same.stop();

  rmSync(path.join(data, "turned"));
  const other = await startHost({ servers: { fickle }, args });
  const later = await openBench(browser, other);
  const changed = await later.run("fickle", "show");
  await isAsked(changed);
  assert.match((await changed.ask.locator("li").allInnerTexts()).join("; "), /it asks for no permission, before for camera/);
  await later.context.close();
  await other.stop();
});
