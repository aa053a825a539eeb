// D8: what a look at a server's documents found stands beside it before anybody has opened one.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";

const toml = `
[policy]
block-domains = ["*.ads.test"]
`;
const host = await startHost({ servers: { suspect: hostile("suspect") }, toml });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});

test("findings stand by severity, and domains by name, before the first click", async () => {
  const bench = await openBench(browser, host);
  await bench.ready("suspect");
  const words = await bench.server("suspect").locator(".finding").allInnerTexts();
  const rank = (line) => ["Danger: ", "Warning: ", "Note: "].findIndex((start) => line.startsWith(start));
  assert.ok(words.every((line) => rank(line) >= 0), words.join("\n"));
  assert.deepEqual(words, words.toSorted((one, other) => rank(one) - rank(other)), "the gravest first");
  assert.match(words[0], /^Danger: "ui:\/\/suspect\/show\.html": has a form that posts to https:\/\/collect\.test/);
  // H-28, H-29.
  const notes = words.filter((line) => line.startsWith("Note: "));
  assert.ok(notes.some((line) => line.includes("this view may talk to https://api.example.test")), notes.join("\n"));
  assert.ok(notes.some((line) => line.includes("this view may not talk to https://x.ads.test: your rules forbid it")), notes.join("\n"));
  assert.equal(await bench.cards().count(), 0, "and nothing was opened");
  if (process.env.SHOTS) await bench.page.screenshot({ path: `${process.env.SHOTS}/review.png` });
});
