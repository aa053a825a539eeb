// A session that was recorded, played again: to the official client, and to the page, where its view runs without its server.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { binary, openBench, startHost } from "../rig/host.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "transom-replay-"));
const file = path.join(folder, "demo.jsonl");
const browser = await startBrowser();
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

let shown;
test("a session with the demo is recorded", async () => {
  const host = await startHost({ args: ["--record", file] });
  const bench = await openBench(browser, host);
  const view = await bench.page.locator("#views .view transom-view").first().getAttribute("view");
  const card = bench.card(view);
  await card.guest.locator("#degrees", { hasText: /\d+ °C/ }).waitFor();
  shown = await card.guest.locator("#degrees").innerText();
  await bench.context.close();
  await host.stop();
});

test("the official client is answered as the recorded one was", async () => {
  const client = new Client({ name: "official", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: binary(), args: ["replay", file], stderr: "ignore" }));
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "show_weather"));
  const called = await client.callTool({ name: "show_weather", arguments: {} });
  assert.match(JSON.stringify(called.content), /Lisbon/);
  await assert.rejects(client.callTool({ name: "show_weather", arguments: { city: "Porto" } }), /with other arguments/);
  await client.close();
});

test("the view runs again, without its server, and shows what it showed", async () => {
  const host = await startHost({ servers: { demo: { command: binary(), args: ["replay", "--loose", file] } } });
  const bench = await openBench(browser, host);
  const card = await bench.run("demo", "show_weather");
  await card.guest.locator("#degrees", { hasText: shown }).waitFor();
  assert.deepEqual(bench.mishaps, []);
  await bench.context.close();
  await host.stop();
});
