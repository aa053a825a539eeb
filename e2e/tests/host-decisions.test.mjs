// What a person decided for longer is listed on the page, and one click takes it back.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";

const host = await startHost();
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});

test("an always is listed with a way back, and after it the question comes again", async () => {
  const bench = await openBench(browser, host);
  const card = await bench.run("demo", "show_weather");
  assert.equal(await bench.page.locator("#decided").isVisible(), false, "nothing is decided yet");
  await card.guest.getByRole("button", { name: /save/i }).click();
  await card.answer("allow-always");
  const line = bench.page.locator("#decisions li");
  await line.getByText('Views of demo may always call "save_note".').waitFor();
  assert.equal(await line.count(), 1);
  // Not asked again, until it is forgotten.
  await card.guest.getByRole("button", { name: /save/i }).click();
  await bench.log("save_note\": allowed").nth(1).waitFor();
  assert.equal(await card.ask.count(), 0);
  await line.getByRole("button", { name: 'Forget: Views of demo may always call "save_note".' }).click();
  await line.waitFor({ state: "detached" });
  assert.equal(await bench.page.locator("#decided").isVisible(), false);
  await card.guest.getByRole("button", { name: /save/i }).click();
  await card.ask.getByText("wants to call").waitFor();
  assert.deepEqual(bench.mishaps, []);
});
