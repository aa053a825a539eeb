// A closed tab, another browser: Enter in the terminal prints an address that is good once, and the views that were left can be taken over.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, slow, startHost } from "../rig/host.mjs";

const host = await startHost({ servers: { slow: slow() }, terminal: true });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const first = await openBench(browser, host);
const refused = (page) => page.locator("#status", { hasText: "press Enter in the terminal" });

test("the terminal says once that Enter prints another address", () => {
  assert.equal(host.output.filter((line) => /Enter\s+prints a new address/.test(line)).length, 1);
});

test("an address is good once, and one that was not used is void when there is another", async () => {
  await first.ready("slow");
  const unused = await host.press();
  const fresh = await host.press();
  assert.notEqual(unused, fresh);
  for (const url of [host.url, unused]) {
    const stranger = await openBench(browser, { url });
    await refused(stranger.page).waitFor();
    await stranger.context.close();
  }
  const second = await openBench(browser, { url: fresh });
  await second.ready("slow");
  const third = await openBench(browser, { url: fresh });
  await refused(third.page).waitFor();
  await third.context.close();
  await second.context.close();
});

test("views of a closed tab are taken over with what their tools answered, and no tool is called again", async () => {
  const card = await first.run("slow", "dig");
  await card.box.locator(".running", { hasText: "digging" }).waitFor();
  const plain = await first.run("slow", "count");
  await plain.box.locator(".running", { hasText: "one by one" }).waitFor();
  const { view } = card;
  // The tab is closed as a person closes it: nothing is told to anybody.
  await first.context.close();
  const second = await openBench(browser, { url: await host.press() });
  const left = second.page.locator("#left");
  await left.getByText('"count" from "slow"').waitFor();
  assert.deepEqual(await left.locator("li").allInnerTexts(), ['"count" from "slow"', '"dig" from "slow"']);
  await left.getByRole("button", { name: "Show them here" }).click();
  const taken = second.card(view);
  // What was under way goes on here: its progress, its answer, its end.
  await taken.box.locator(".running", { hasText: "digging" }).waitFor();
  await second.card(plain.view).box.locator(".running", { hasText: "one by one" }).waitFor();
  await left.waitFor({ state: "hidden" });
  await second.run("slow", "go");
  await taken.guest.locator('body[data-result^="answer"]').waitFor();
  await second.card(plain.view).box.locator("pre.answer", { hasText: "answer" }).waitFor();

  // Once more, now that it has been answered: the same view, the same answer.
  const answer = await taken.guest.locator("body").getAttribute("data-result");
  await second.context.close();
  const third = await openBench(browser, { url: await host.press() });
  await third.page.locator("#left").getByRole("button", { name: "Show it here" }).click();
  await third.card(view).guest.locator(`body[data-result="${answer}"]`).waitFor();
  await third.card(view).close();
  assert.deepEqual([...second.mishaps, ...third.mishaps], []);
  await third.context.close();

  const rows = await host.audit();
  const of = (kind, id) => rows.filter((row) => row.kind === kind && row.view === id).length;
  assert.deepEqual([of("open", view), of("takeover", view), of("close", view)], [1, 2, 1]);
  assert.equal(of("takeover", plain.view), 1);
});

test("a tab that is there keeps its views, also while it is loaded anew", async () => {
  const one = await openBench(browser, { url: await host.press() });
  const two = await openBench(browser, { url: await host.press() });
  const card = await one.run("slow", "dig");
  await card.guest.locator("body[data-input]").waitFor();
  await one.page.reload();
  await one.card(card.view).guest.locator("body[data-input]").waitFor();
  await two.ready("slow");
  assert.equal(await two.page.locator("#left").isVisible(), false);
});
