// Signing in with a real browser: the page offers it, the place to sign in sends people back, the view opens.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";
import { startLocked } from "../servers/locked.mjs";
import { STEADY } from "../servers/hostile-views.mjs";

const locked = await startLocked(STEADY);
// Whoever looks for a mistake turns everything on: not even then may a secret be written down.
const host = await startHost({ servers: { locked: { url: locked.url } }, args: ["--no-data"], env: { RUST_LOG: "trace" } });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
  locked.close();
});
const bench = await openBench(browser, host);

// H-09: this server lists no resources.
test("a server that asks for it is signed in to from the page, and its view opens", async () => {
  const link = bench.server("locked").getByRole("link", { name: "Sign in at 127.0.0.1" });
  await link.waitFor();
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  const opened = bench.context.waitForEvent("page");
  await link.click();
  const place = await opened;
  await place.getByRole("button", { name: "Agree" }).click();
  await place.getByText("You are signed in to locked.").waitFor();
  assert.equal(await place.evaluate(() => window.opener), null);
  await place.close();

  const card = await bench.run("locked", "show");
  await card.guest.locator("body[data-result]").waitFor();
  assert.equal(await card.guest.locator("body").getAttribute("data-result"), "unlocked");
  assert.equal(await bench.server("locked").getByRole("link").count(), 0);
  await card.close();
});

test("no secret is in the log, in the terminal, or on the page", async () => {
  assert.ok(locked.secrets.length >= 3);
  const seen = [await bench.page.content(), ...host.output].join("\n");
  for (const secret of locked.secrets) assert.ok(!seen.includes(secret), secret.split("-")[0]);
  assert.match(seen, /asks you to sign in at 127\.0\.0\.1/);
});

test("the terminal has the address as well", () => {
  assert.ok(host.output.some((line) => /^\s+http:\/\/127\.0\.0\.1:\d+\/authorize\?/.test(line)));
});
