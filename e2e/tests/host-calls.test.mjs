// Calls that take long, and servers that never come to an end: people see how it gets on, can take it back, and nobody else waits.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, slow, startHost } from "../rig/host.mjs";

const servers = { slow: slow(), other: slow() };
for (const mood of ["mute", "stuck", "endless", "many"]) servers[mood] = slow(mood);
// The servers that never list must not take a minute of everybody's time.
const host = await startHost({ servers, toml: "[limits.time]\nlist = 4\ncall-idle = 240\n" });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const bench = await openBench(browser, host);

const running = (card) => card.box.locator(".running");
async function answerOf(server, tool) {
  const card = await bench.run(server, tool);
  const answer = await card.box.locator("pre.answer").innerText();
  await card.box.locator("button.close").click();
  return answer;
}

test("a call that takes long says how it gets on, with a bar, and its server's words are quoted", async () => {
  const card = await bench.run("slow", "dig");
  await running(card).getByText('1 of 4, "digging\\u{202e}"').waitFor();
  assert.equal(await running(card).locator("progress").evaluate((bar) => bar.value), 0.25);
  await bench.log(/slow digThe tool is running: 1 of 4, "digging/).first().waitFor();
  await answerOf("slow", "go");
  await card.guest.locator('body[data-result^="answer"]').waitFor();
  await running(card).waitFor({ state: "hidden" });
  await card.close();
});

test("without a number of all there is, the bar only moves; without a view, it is the same", async () => {
  const card = await bench.run("slow", "count");
  await running(card).getByText('7 so far, "one by one"').waitFor();
  assert.equal(await running(card).locator("progress").evaluate((bar) => bar.hasAttribute("value")), false);
  await answerOf("slow", "go");
  await card.box.locator("pre.answer", { hasText: "answer" }).waitFor();
  await running(card).waitFor({ state: "hidden" });
  await card.box.locator("button.close").click();
});

test("a server that says nothing is waited for with a way out", async () => {
  const card = await bench.run("slow", "quiet");
  await running(card).getByText("The tool is running.").waitFor();
  await running(card).getByRole("button", { name: "Cancel" }).click();
  await card.box.locator("pre.answer", { hasText: "You cancelled the call." }).waitFor();
});

test("who cancels is told so, the server too, and what it still answers changes nothing", async () => {
  const card = await bench.run("slow", "dig");
  await card.guest.locator("body[data-input]").waitFor();
  await running(card).getByRole("button", { name: "Cancel" }).click();
  await card.note.getByText("You cancelled the call. Its server was told").waitFor();
  await running(card).waitFor({ state: "hidden" });
  await card.guest.locator("body[data-cancelled]").waitFor();
  await bench.log(/slow digcancelled by you after \d+ ms; the server was told/).first().waitFor();
  const told = JSON.parse(await answerOf("slow", "told"));
  assert.deepEqual(new Set(told.map(({ reason }) => reason)), new Set(["the person cancelled the call"]));
  assert.equal(await answerOf("slow", "late"), "answered all the same");
  assert.equal(await (await card.frame()).evaluate(() => document.body.dataset.result), undefined);
  const rows = await host.audit();
  const cancelled = rows.filter(({ kind, view }) => kind === "cancel" && view === card.view);
  assert.deepEqual(cancelled.map(({ server, about, method }) => [server, about, method]), [["slow", "dig", "notifications/cancelled"]]);
  await card.close();
});

test("a flood of progress is a few words a second, the newest counts, and other views go on", async () => {
  const beside = await bench.run("other", "dig");
  await answerOf("other", "go");
  await beside.guest.locator("body[data-result]").waitFor();
  const begun = Date.now();
  const card = await bench.run("slow", "flood");
  await running(card).getByText('50000 of 50000, "the last grain"').waitFor();
  const seconds = Math.ceil((Date.now() - begun) / 1000);
  const lines = await bench.page.evaluate(async () => {
    const headers = { authorization: `Bearer ${sessionStorage.getItem("transom-key")}` };
    const { entries } = await (await fetch("/api/log?after=0", { headers })).json();
    return entries.filter(({ words }) => words.includes("grain")).length;
  });
  assert.ok(lines <= seconds + 1, `${lines} lines in ${seconds} s`);
  assert.match(await answerOf("other", "told"), /^\[/);
  await running(card).getByRole("button", { name: "Cancel" }).click();
  await card.box.locator("pre.answer", { hasText: "You cancelled" }).waitFor();
  await beside.close();
});

test("a server that never lists is ready without tools, and says why", async () => {
  await bench.server("mute").locator(".state", { hasText: "its tools cannot be listed: no answer from the server in time" }).waitFor();
});

test("a server that lists for ever has the tools of its first pages, and that is said", async () => {
  await bench.server("stuck").locator(".finding", { hasText: "its list of tools is not complete: not all of it within 4 s" }).waitFor();
  await bench.server("endless").locator(".finding", { hasText: "its list of tools is not complete: more than 100 pages" }).waitFor();
  await bench.server("endless").locator("details.tool").nth(99).waitFor({ state: "attached" });
});

test("a server with 10,000 tools shows 500 of them, says so, and each of those works", async () => {
  await bench.ready("many");
  await bench.server("many").getByText("… and 9500 more tools, which are not shown.").waitFor();
  assert.equal(await bench.server("many").locator("details.tool").count(), 500);
  const state = await bench.page.evaluate(async () => {
    const headers = { authorization: `Bearer ${sessionStorage.getItem("transom-key")}` };
    return (await (await fetch("/api/state?after=-1", { headers })).text()).length;
  });
  assert.ok(state < 2_000_000, `${state} bytes`);
});

test("the page itself had no mishap", () => assert.deepEqual(bench.mishaps, []));
