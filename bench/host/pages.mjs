// The sample pages, measured: a computation that nobody sees beside the same one in sight, and a call through `transom expose`
// beside the same call made in the page over CDP. Both are ratios of one run, in turns.
//   node bench/host/pages.mjs [ROUNDS]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "../../e2e/node_modules/@modelcontextprotocol/client/dist/index.mjs";
import { StdioClientTransport } from "../../e2e/node_modules/@modelcontextprotocol/client/dist/stdio.mjs";
import { startPlainBrowser } from "../../e2e/rig/browser.mjs";
import { binary, freePort } from "../../e2e/rig/host.mjs";
import { connected, startPages } from "../../e2e/rig/pages.mjs";
import { openSite } from "../../e2e/rig/site.mjs";

const ROUNDS = Number(process.argv[2] ?? 15);
const port = await freePort();
const [plain, site] = await Promise.all([startPlainBrowser(), openSite()]);
const pages = await startPages(site.host, `http://localhost:${port}`);
const data = mkdtempSync(path.join(tmpdir(), "transom-bench-"));
const theatre = { site, context: plain.context };
const nobody = { after() {} };
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const timed = async (work) => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};
const tell = (what, base, ours, bar) => {
  const ratio = median(ours) / median(base);
  const [a, b] = [base, ours].map((list) => `${median(list).toFixed(2)} ms`);
  console.log(`${what}: ${a} and ${b}, ${ratio.toFixed(2)} (bar ${bar})`);
};

const pi = await connected(nobody, theatre, pages.urlOf("pi"));
const compute = () => pi.call("calculate_pi", { iterations: 1_000_000, seed: 1 });
const [seen, unseen] = [[], []];
for (let round = -1; round < ROUNDS; round++)
  for (const [verb, list] of [["show", seen], ["hide", unseen]]) {
    await pi.on(verb)("server");
    const ms = await timed(compute);
    if (round >= 0) list.push(ms);
  }
tell("a million points, in sight and hidden", seen, unseen, 1.2);

const example = `${pages.urlOf("json")}?example`;
const json = await connected(nobody, theatre, example);
const args = ["expose", example, "--port", String(port), "--data-dir", data, "--no-browser-sandbox"];
const client = new Client({ name: "bench", version: "1" });
await client.connect(new StdioClientTransport({ command: binary(), args, stderr: "ignore" }));
const ask = { path: `$.store.bicycle[?@ == "${"x".repeat(60)}"]` };
const [direct, through] = [[], []];
for (let round = -5; round < ROUNDS * 10; round++) {
  const a = await timed(() => json.call("evaluate_jsonpath", ask));
  const b = await timed(() => client.callTool({ name: "evaluate_jsonpath", arguments: ask }));
  if (round >= 0) direct.push(a), through.push(b);
}
tell("a call of 100 B, in the page over CDP and through expose", direct, through, 1.5);
await client.close();
await plain.close();
await pages.stop();
await site.close();
rmSync(data, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
