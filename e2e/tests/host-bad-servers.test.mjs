// Servers and views that go wrong: each ends in clear words within a bounded time, and nobody else notices.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";

const servers = { odd: hostile("odd"), other: hostile("odd") };
for (const mood of ["garbage", "half", "nothing", "dead"]) servers[mood] = hostile(mood);
servers.missing = { command: "no-such-program-anywhere" };
servers.refused = { url: "http://127.0.0.1:9/mcp" };
const host = await startHost({ servers });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const bench = await openBench(browser, host);

// Must outlive everything below.
const steady = await bench.run("other", "steady");

/** Runs a tool whose view cannot be shown: the card says why, and what the tool answered; so does the log. */
async function fallsBack(t, tool, why) {
  const card = await bench.run("odd", tool);
  t.after(() => card.box.evaluate((box) => box.remove()));
  await card.note.getByText("There is no view to show").waitFor();
  assert.match(await card.note.innerText(), why);
  await saysInstead(card, tool);
  await bench.log(why).first().waitFor();
  await bench.log(new RegExp(`odd ${tool}answered in \\d+ ms: "words of ${tool}"`)).first().waitFor();
}
async function saysInstead(card, tool) {
  await card.box.locator(".answer", { hasText: `words of ${tool}` }).waitFor();
  assert.equal(await card.box.locator("iframe").count(), 0);
}

async function othersGoOn() {
  const frame = await steady.frame();
  const answer = await frame.evaluate(() => call("steady"));
  assert.equal(answer.content[0].text, "words of steady");
}

test("a document of the wrong type is not shown; the text is", async (t) => {
  await fallsBack(t, "wrong_mime", /got the type/);
});

test("a document in two pieces is not shown; the text is", async (t) => {
  await fallsBack(t, "two_contents", /2 items of the answer are this app/);
});

test("a document that cannot be read is not shown; the text is", async (t) => {
  await fallsBack(t, "unreadable", /the disk is on fire/);
});

test("a document that is too large is not shown; the text is", async (t) => {
  await fallsBack(t, "too_large", /bytes/);
});

test("an error without a message is still an error", async (t) => {
  await fallsBack(t, "no_message", /did not answer resources\/read/);
});

test("what is wrong with a server's documents stands beside it", async () => {
  const findings = bench.server("odd").locator(".finding.danger");
  assert.equal(await findings.count(), 5);
  await findings.filter({ hasText: "ui://odd/wrong_mime.html" }).waitFor();
});

// H-67
test("a tool that fails is told to its view as a cancellation", async (t) => {
  const card = await bench.run("odd", "broken_call");
  t.after(() => card.box.evaluate((box) => box.remove()));
  await card.guest.locator("body[data-cancelled]").waitFor();
  await bench.log(/odd broken_call.*(error|cannot be used)/).first().waitFor();
});

test("a block that nobody knows reaches the view as it was", async (t) => {
  const card = await bench.run("odd", "unknown_block");
  t.after(() => card.box.evaluate((box) => box.remove()));
  await card.guest.locator('body[data-result="hologram and words"]').waitFor();
  const frame = await card.frame();
  const result = await frame.evaluate(() => heard.find(({ method }) => method.endsWith("tool-result")).params);
  assert.deepEqual(result.content[0], { type: "hologram", beams: 3 });
  assert.deepEqual(result.later, { kept: true });
});

test("a server that dies in mid-call is missed, named, and started again", async (t) => {
  await bench.ready("odd");
  const beside = await bench.run("odd", "steady");
  await beside.guest.locator("body[data-result]").waitFor();
  const view = await beside.frame();
  const card = await bench.run("odd", "dies");
  t.after(() => card.box.evaluate((box) => box.remove()));
  await bench.log(/odd diesfailed after \d+ ms: the server went away during the call/).waitFor();
  await bench.log(/^\S+oddthe server ended/).first().waitFor();
  await bench.log("oddis there again").first().waitFor();
  await bench.ready("odd");
  // Its other views are told that everything may be different now, and go on with the new one.
  for (const list of ["tools", "resources"])
    await view.waitForFunction(
      (method) => heard.some((message) => message.method === method),
      `notifications/${list}/list_changed`,
    );
  assert.match(await view.evaluate(() => call("steady").then(({ content }) => content[0].text)), /words of steady/);
  await beside.close();
  await othersGoOn();
});

test("a server that cannot be started or reached says so", async () => {
  await bench.server("missing").getByText(/cannot start "no-such-program-anywhere": .+/).waitFor();
  await bench.server("refused").getByText(/no connection to the server|cannot be reached/).waitFor();
  await bench.server("dead").locator(".state", { hasText: "no licence, no service" }).waitFor();
});

test("servers that talk nonsense, half a sentence or nothing are given up, each with a reason", async () => {
  for (const mood of ["garbage", "half", "nothing"]) {
    await bench.page.locator("section.server.gone", { has: bench.page.getByRole("heading", { name: mood, exact: true }) }).waitFor({ timeout: 110_000 });
    assert.match(await bench.server(mood).locator(".state").innerText(), /did not answer the handshake: ./);
    await bench.log(new RegExp(`^\\S+${mood}`)).first().waitFor();
  }
  await othersGoOn();
}, 150_000);

test("the page itself had no mishap", () => assert.deepEqual(bench.mishaps, []));
