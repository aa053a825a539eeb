// What a view may use of the machine: nothing, unless it asks and the operator has granted it.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";

const host = await startHost({
  servers: { plain: hostile("asking"), trusted: hostile("asking") },
  toml: '[servers.trusted]\nfrom = "mcp.json"\npermissions = ["camera", "microphone"]\n',
});
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
});
const bench = await openBench(browser, host);

const FEATURES = ["camera", "microphone", "geolocation", "clipboard-write"];
const allowed = async (server) => {
  const card = await bench.run(server, "open");
  await card.guest.locator("body[data-result]").waitFor();
  const frame = await card.frame();
  const answer = await frame.evaluate((names) => names.filter((name) => document.featurePolicy.allowsFeature(name)), FEATURES);
  // H-32: the view is told what it has.
  const told = await frame.evaluate(() => document.body.dataset.sandbox);
  await card.close();
  return { answer, told };
};

test("nothing is granted by itself, and the page says what was refused and how to grant it", async () => {
  assert.deepEqual(await allowed("plain"), { answer: [], told: "" });
  await bench.server("plain").getByText("asks for camera, geolocation, which is not granted").waitFor();
  await bench.server("plain").getByText('permissions = ["camera", "geolocation"]').waitFor();
});

test("what is granted and asked for is had, and what is only one of them is not", async () => {
  assert.deepEqual(await allowed("trusted"), { answer: ["camera"], told: '{"permissions":{"camera":{}}}' });
  await bench.log("this view may use camera").first().waitFor();
  await bench.server("trusted").getByText("asks for geolocation, which is not granted").waitFor();
});
