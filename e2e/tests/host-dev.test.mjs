// A server that somebody is writing: its view stays open while the server is started again, and says what has changed.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { STEADY } from "../servers/hostile-views.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "transom-dev-"));
const file = path.join(folder, "server.mjs");

/** A server in one file: what it answers, and what its document says. */
function write(words, html = STEADY) {
  writeFileSync(
    file,
    `import { createInterface } from "node:readline";
const view = "ui://own/view.html";
const answers = {
  initialize: { protocolVersion: "2025-11-25", serverInfo: { name: "own", version: "1" }, capabilities: { tools: {}, resources: {} } },
  "tools/list": { tools: [{ name: "steady", inputSchema: { type: "object" }, annotations: { readOnlyHint: true }, _meta: { ui: { resourceUri: view } } }] },
  "tools/call": { content: [{ type: "text", text: ${JSON.stringify(words)} }] },
  "resources/list": { resources: [] },
  "resources/read": { contents: [{ uri: view, mimeType: "text/html;profile=mcp-app", text: ${JSON.stringify(html)} }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const result = answers[method];
  const rest = result ? { result } : { error: { code: -32601, message: "no" } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...rest }));
}
`,
  );
}

write("first");
const servers = { own: { command: process.execPath, args: [file] } };
const host = await startHost({ verb: "dev", servers, args: ["--watch", folder] });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});
const bench = await openBench(browser, host);
const open = await bench.run("own", "steady");
const calls = async () => (await (await open.frame()).evaluate(() => call("steady"))).content[0].text;

test("a view stays open while its server is started again, and talks to the new one", async () => {
  assert.equal(await calls(), "first");
  await (await open.frame()).evaluate(() => (document.title = "still here"));
  write("second");
  await bench.log("ownis there again").first().waitFor();
  await bench.ready("own");
  assert.equal(await calls(), "second");
  assert.equal(await (await open.frame()).evaluate(() => document.title), "still here");
});

test("a server that does not start says so on the page, and is tried again after the next change", async () => {
  writeFileSync(file, "throw new Error('half a thought')");
  await bench.server("own").getByText("the server ended").first().waitFor();
  write("third");
  await bench.ready("own");
  assert.equal(await calls(), "third");
});

test("a changed document is shown without a question: whoever changed it is looking at it", async () => {
  write("fourth", `${STEADY}<p>another</p>`);
  await bench.log("ownis there again").nth(2).waitFor();
  const card = await bench.run("own", "steady");
  await card.frame();
  assert.equal(await card.ask.count(), 0);
});
