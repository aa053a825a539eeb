// The clock of transom-server's README, built from packed crates, shown by a `transom` that was installed from packed crates.
// scripts/package-check makes both, says where they are, and gives them a PATH without Node.
import assert from "node:assert/strict";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";

const { CLOCK, PATH_WITHOUT_NODE } = process.env;
const host = await startHost({
  servers: { clock: { command: CLOCK, args: [] } },
  env: { PATH: PATH_WITHOUT_NODE },
});
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});

test("the README's clock shows the time", async () => {
  const bench = await openBench(browser, host);
  const card = await bench.run("clock", "now");
  const time = card.guest.locator("time");
  await time.filter({ hasText: /\d/ }).waitFor();
  assert.match(await time.innerText(), /^\d{1,2}:\d\d:\d\d(\s[AP]M)?$/);
  assert.equal(await card.ask.count(), 0, "it reads, so nobody is asked");
  assert.deepEqual(bench.mishaps, []);
});
