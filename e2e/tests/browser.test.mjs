// The rig's own promises: origins are separate sites, and the plain browser is plain.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startPlainBrowser } from "../rig/browser.mjs";
import { openTheatre, putView } from "../rig/stage.mjs";

const { site, openStage } = await openTheatre({ after });

test("a frame on a fresh origin cannot reach its host page", async (t) => {
  const stage = await openStage(t, {});
  const address = await putView(site, { scripts: [] });
  await stage.host.evaluate((address) => {
    document.body.appendChild(document.createElement("iframe")).src = address;
  }, address);
  const frame = await stage.frameAt(address);
  const reached = await frame.evaluate(() => {
    try {
      return String(parent.document);
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(reached, "SecurityError");
});

test("no name but loopback resolves", async (t) => {
  const stage = await openStage(t, {});
  const outcome = await stage.host.evaluate(() =>
    fetch("http://example.com/").catch((error) => error.name),
  );
  assert.equal(outcome, "TypeError");
});

test("the plain browser gives a cross-site frame storage of its own", async (t) => {
  const plain = await startPlainBrowser();
  t.after(() => plain.close());
  const stage = await openStage(t, { context: plain.context, site });
  const address = await putView(site, { scripts: [] });
  await stage.host.evaluate((address) => {
    document.body.appendChild(document.createElement("iframe")).src = address;
  }, address);
  const frame = await stage.frameAt(address);
  const kept = await frame.evaluate(() => {
    localStorage.setItem("a", "1");
    return localStorage.getItem("a");
  });
  assert.equal(kept, "1");
  assert.equal(await stage.host.evaluate(() => localStorage.length), 0);
});
