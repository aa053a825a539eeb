// A limit that is reached: the view gets a reason, the person a line, and nobody else notices.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";

const toml = `
[limits.server]
views = 2
[servers.stranger]
from = "mcp.json"
[servers.stranger.limits.view]
messages = 1
messages-burst = 30
[servers.talker]
from = "mcp.json"
[servers.talker.limits.view]
messages = 5000
`;
const servers = { stranger: hostile("view"), neighbour: hostile("odd"), talker: hostile("view") };
const host = await startHost({ servers, toml });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const bench = await openBench(browser, host);

test("a view that says too much is told why, and so is the person", async () => {
  const steady = await bench.run("neighbour", "steady");
  await steady.guest.locator("body[data-result]").waitFor();
  const card = await bench.run("stranger", "open");
  await card.guest.locator("body[data-ready]").waitFor();
  const view = await card.frame();
  const answers = await view.evaluate(() => Promise.all(Array.from({ length: 60 }, () => ask("ping", {}))));
  const refused = answers.filter(({ code }) => code);
  assert.ok(refused.length >= 20 && answers.length - refused.length >= 20, `${refused.length} refused`);
  for (const { data } of refused)
    assert.deepEqual(data, { reason: "limit", limit: "messages", of: "view", most: 1 });
  await card.note.getByText("This view sends more than 1 messages a second; what is above that waits, or is refused. Everything else goes on.").waitFor();
  await bench.log("This view sends more than 1 messages a second").first().waitFor();
  assert.equal(await bench.log("This view sends more than 1 messages a second").count(), 1, "a flood is one line");
  // It is still there, and so is its neighbour.
  assert.equal(await card.box.locator("iframe").count(), 1);
  const neighbour = await steady.frame();
  assert.match(await neighbour.evaluate(() => call("steady").then(({ content }) => content[0].text)), /words of steady/);
  assert.equal(await steady.note.innerText(), "");
});

test("a view that has no place is told on its card, with what to do about it", async () => {
  const second = await bench.run("neighbour", "steady");
  await second.guest.locator("body[data-result]").waitFor();
  const third = await bench.run("neighbour", "steady");
  await third.note.getByText('The views of "neighbour" together are as many as may be: 2. Close one of them first.').waitFor();
  assert.equal(await third.box.locator("iframe, .answer").count(), 0);
  await third.close();
  await second.close();
  const fourth = await bench.run("neighbour", "steady");
  await fourth.guest.locator("body[data-result]").waitFor();
  assert.deepEqual(bench.mishaps, []);
});

test("what an operator allows is let through by the sandbox and the page too, and the view goes on", async () => {
  const card = await bench.run("talker", "open");
  await card.guest.locator("body[data-ready]").waitFor();
  const view = await card.frame();
  // Three times as much as a page lets wait of a view that may say no more than usual.
  const refused = await view.evaluate(async () => {
    const answers = await Promise.all(Array.from({ length: 3_000 }, () => ask("ping", {})));
    return answers.filter(({ code }) => code).length;
  });
  assert.equal(refused, 0);
  assert.equal(await card.box.locator("iframe").count(), 1);
  assert.deepEqual(bench.mishaps, []);
});
