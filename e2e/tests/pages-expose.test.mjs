// `transom expose`: a server that is a page, as the official clients see it, over pipes and over HTTP.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { binary, example as built, freePort } from "../rig/host.mjs";
import { startPages } from "../rig/pages.mjs";
import { after, test } from "../rig/test.mjs";

const port = await freePort();
const pages = await startPages(`http://localhost:${port}`);
const data = mkdtempSync(path.join(tmpdir(), "transom-expose-"));
after(async () => {
  await pages.stop();
  rmSync(data, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});
const example = `${pages.urlOf("json")}?example`;

const INFO = { name: "e2e", version: "1" };
const CLIENTS = {
  "client 2.x": {
    client: () => new Client(INFO),
    stdio: (target) => new StdioClientTransport(target),
    http: (url) => new StreamableHTTPClientTransport(new URL(url)),
  },
  "sdk 1.x": {
    client: () => new Client1(INFO),
    stdio: (target) => new Stdio1(target),
    http: (url) => new Http1(new URL(url)),
  },
};
/** As a machine that is somebody's own starts it; these tests may be root's. */
const words = (...more) => ["expose", example, "--port", String(port), "--data-dir", data, "--no-browser-sandbox", ...more];

/** Lists and calls the analyzer's tool. */
async function use(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ["evaluate_jsonpath"]);
  const { structuredContent } = await call(client, "$.store.bicycle.color");
  assert.deepEqual(structuredContent, { matches: ["red"], count: 1 });
}
const call = (client, path) => client.callTool({ name: "evaluate_jsonpath", arguments: { path } });

/** Starts it for clients over HTTP, and returns its address. */
async function startHttp(t) {
  const child = spawn(binary(), words("--http", String(await freePort())), { stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise((done) => child.once("exit", done));
  t.after(async () => {
    child.kill("SIGINT");
    await exited;
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(line) ?? [];
    if (url) return { url, child };
  }
  throw new Error("it ended");
}

for (const [who, make] of Object.entries(CLIENTS)) {
  test(`${who} over stdio lists and calls a tool of a page`, async () => {
    const client = make.client();
    await client.connect(make.stdio({ command: binary(), args: words(), stderr: "ignore" }));
    await use(client);
    await client.close();
  });

  test(`${who} over HTTP does, and so does a second one beside it`, async (t) => {
    const { url } = await startHttp(t);
    const [one, two] = [make.client(), make.client()];
    await one.connect(make.http(url));
    await two.connect(make.http(url));
    await Promise.all([use(one), use(two), use(one)]);
    await one.close();
    await two.close();
  });
}

for (const way of ["stdio", "http"])
  test(`rmcp's client over ${way} lists and calls a tool of a page`, async (t) => {
    const asked = ["evaluate_jsonpath", JSON.stringify({ path: "$.store.bicycle.color" })];
    if (way === "http") asked.push((await startHttp(t)).url);
    const client = spawn(built("ask"), asked, { stdio: ["pipe", "pipe", "pipe"] });
    if (way === "stdio") {
      const server = spawn(binary(), words(), { stdio: ["pipe", "pipe", "ignore"] });
      server.stdout.pipe(client.stdin);
      client.stdout.pipe(server.stdin);
      const exited = new Promise((done) => server.once("exit", done));
      t.after(async () => {
        server.stdin.end();
        await exited;
      });
    }
    // Its standard input, which it reads to the end, is ours to end.
    t.after(() => client.kill());
    const { value: said } = await createInterface({ input: client.stderr })[Symbol.asyncIterator]().next();
    const { tools, result } = JSON.parse(said);
    assert.deepEqual([tools, result.structuredContent.matches], [["evaluate_jsonpath"], ["red"]], said);
  });

test("Chromium killed in mid-call: a typed error, and the next call works", async () => {
  const client = new Client1(INFO);
  const transport = new Stdio1({ command: binary(), args: words(), stderr: "ignore" });
  await client.connect(transport);
  await use(client);
  const [browser] = childrenOf(transport.pid).filter((pid) => commandOf(pid).includes("--user-data-dir"));
  // Stopped first, so that the call is on its way when it ends.
  for (const pid of [browser, ...descendantsOf(browser)]) process.kill(pid, "SIGSTOP");
  const pending = call(client, "$.store").catch((error) => error);
  process.kill(browser, "SIGKILL");
  for (const pid of descendantsOf(browser)) tryKill(pid);
  const error = await pending;
  assert.equal(error.code, -32000);
  assert.deepEqual(error.data, { code: "BROWSER_GONE" });
  assert.match(error.message, /browser ended or crashed/);
  await use(client);
  await client.close();
});

test("a setup that a person must see is refused without a window, in words", async () => {
  const client = new Client(INFO);
  const args = ["expose", pages.urlOf("json"), "--port", String(port), "--no-data", "--no-browser-sandbox"];
  const error = await client.connect(new StdioClientTransport({ command: binary(), args, stderr: "ignore" })).catch((error) => error);
  assert.match(String(error), /--window/);
  await client.close();
});

test("a page that does not allow us is named, with what was expected", async () => {
  const client = new Client(INFO);
  const other = String(await freePort());
  const args = ["expose", example, "--port", other, "--no-data", "--no-browser-sandbox"];
  const error = await client
    .connect(new StdioClientTransport({ command: binary(), args, stderr: "ignore" }), { timeout: 90_000 })
    .catch((error) => error);
  assert.match(String(error), /did not announce itself.*frame-ancestors/);
  await client.close();
});

test("as root it refuses to run a stranger's page without the browser's sandbox", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("not root");
  const args = ["expose", example, "--port", String(port), "--no-data"];
  const { stderr, code } = await promisify(execFile)(binary(), args).catch((error) => error);
  assert.equal(code, 2);
  assert.match(stderr, /--no-browser-sandbox/);
});

test("over HTTP a website's page is refused, whatever name it comes by", async (t) => {
  const { url } = await startHttp(t);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const post = (headers) => fetch(url, { method: "POST", body, headers });
  assert.equal((await post({ origin: "https://evil.example" })).status, 403);
  assert.equal((await fetch(url)).status, 405);
});

const commandOf = (pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8");
function childrenOf(pid) {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return all.filter((name) => {
    try {
      return readFileSync(`/proc/${name}/stat`, "utf8").replace(/.*\) /s, "").split(" ")[1] === String(pid);
    } catch {
      return false;
    }
  }).map(Number);
}
function descendantsOf(pid) {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}
/** One that is gone already is what was wanted. */
function tryKill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone.
  }
}
