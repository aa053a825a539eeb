// Views and servers that nobody here wrote: every line of ext-apps, frameworks for views (with our own package too), frameworks for
// servers, and mcp-ui from before MCP Apps. Each row is shown what it was opened with, calls a tool, says something and asks for a
// link; and every question comes before its deed.
import assert from "node:assert/strict";
import { suite } from "node:test";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";
import { prepareMatrix, LINES, WAYS } from "../rig/matrix.mjs";

// `MATRIX="vue,xmcp"` runs these rows alone, and `MATRIX=all` all of them, each over stdio and over HTTP: scripts/soak does.
const named = process.env.MATRIX?.split(",");
const everything = named?.includes("all");

/** What rows differ in: the way, the arguments, and which of the buttons there are. */
const ROWS = {
  ...Object.fromEntries(LINES.map((version) => [`ext-apps ${version}`, {}])),
  "ext-apps 0.0.7": { way: "stdio" },
  "ext-apps 2.0.4": { way: "stdio" },
  vue: {},
  svelte: {},
  solid: {},
  "transom/vue": {},
  "transom/svelte": {},
  "transom/solid": { way: "stdio" },
  "mcp-ui adapter": { host: false, input: false, result: 'given {"from":3}' },
  "mcp-ui plain": { way: "stdio", host: false, input: false, result: 'given {"from":3}', embedded: true, banner: "in the result of its tool" },
  "mcp-ui linked": { host: false, input: false, result: 'given {"from":3}', banner: "speaks mcp-ui's own messages" },
  fastmcp: { values: { start: 3 } },
  "python sdk": { way: "stdio", values: { start: 3 } },
  "mcp-use": { buttons: ["add"], host: false, declares: true },
  xmcp: { way: "stdio", host: false, input: false },
};
const isWanted = (name, way) => everything || (named?.includes(name) ?? way === (ROWS[name]?.way ?? "HTTP"));

const matrix = await prepareMatrix(isWanted);
const browser = await startBrowser();
// Most of a row's time is spent waiting: for a process of the browser, for a question that stands still. A page has one question
// at a time, and a host one page, so the servers are shared out among a few hosts, whose rows run side by side.
const names = Object.keys(matrix.servers).sort();
const lanes = await Promise.all(Array.from({ length: Math.min(3, names.length) }, (_, lane) => openLane(names.filter((_, at) => at % 3 === lane))));
after(async () => {
  await browser.close();
  await Promise.all(lanes.map(({ host }) => host.stop()));
  await matrix.stop();
});

async function openLane(names) {
  // xmcp's documents import a script that they make themselves.
  const granted = names.filter((name) => name.startsWith("xmcp"));
  const toml = granted.map((name) => `[servers."${name}"]\nfrom = "mcp.json"\ngrants = ["blob:"]\n`).join("\n");
  const servers = Object.fromEntries(names.map((name) => [name, matrix.servers[name]]));
  const host = await startHost({ servers, ...(toml && { toml }) });
  return { names, host, bench: await openBench(browser, host) };
}

async function play(bench, server, { values = { from: 3 }, buttons = ["add", "say", "link"], ...row }) {
  const { host = true, input = true, result = "counted from 3" } = row;
  const card = await bench.run(server, "count", values);
  if (row.declares) await card.answer("allow");
  if (row.embedded) {
    // It is another document with each call, so a person agrees to where it comes from.
    await card.ask.getByText("made anew for each request").waitFor();
    await card.answer("allow");
  }
  const { guest } = card;
  const shown = (id, words) => guest.locator(`#${id}`, { hasText: words }).waitFor();
  await bench.log(`${server} countready`).first().waitFor();
  if (host) await shown("host", "shown by transom");
  if (input) await shown("input", "asked for 3");
  await shown("result", result);
  if (row.banner) await card.box.locator(".banner", { hasText: row.banner }).getByText("deprecated").waitFor();
  else assert.equal(await card.box.locator(".banner:visible").count(), 0);

  await card.press(guest.locator("#add"));
  await card.ask.getByText("add").first().waitFor();
  await card.answer("allow");
  await shown("sum", "that is 42");
  if (buttons.includes("say")) {
    await card.press(guest.locator("#say"));
    await card.ask.getByText("in your name").waitFor();
    await card.answer("allow");
    await bench.log("said by a view").first().waitFor();
  }
  if (buttons.includes("link")) {
    await card.press(guest.locator("#link"));
    await card.ask.getByText("wants to open").waitFor();
    await card.answer("deny");
  }
  if (row.banner) {
    await shown("trouble", "link: ");
    await card.press(guest.locator("#intent"));
    await card.ask.getByText("in your name").waitFor();
    await card.answer("deny");
    await card.press(guest.locator("#notify"));
    await bench.log("it was noticed").first().waitFor();
  }
  await card.close();
}

/** What is done with each kind of server: most are played alike. */
const stories = (bench, server, name) => {
  if (name === "mcp-ui address")
    return test(`${server}: an address in a result is a link that a person is asked about`, () => address(bench, server));
  test(`${server}: is shown its data, calls a tool, and asks for the rest`, () => play(bench, server, ROWS[name]));
  if (name === "fastmcp")
    test(`${server}: a document of 7 MB draws the components that its server named, and its buttons work`, () => components(bench, server));
};

suite("the matrix", { concurrency: lanes.length }, () => {
  for (const [lane, { names, bench }] of lanes.entries())
    suite(`on host ${lane + 1}`, { concurrency: 1 }, () => {
      for (const server of names) stories(bench, server, server.replace(/ over .*/, ""));
    });
});

async function address(bench, server) {
  const card = await bench.run(server, "count", { from: 3 });
  await card.box.locator(".banner", { hasText: "addresses" }).waitFor();
  await card.guest.getByText("https://example.com/matrix").waitFor();
  await card.press(card.guest.getByRole("button", { name: "Open" }));
  await card.ask.getByText("wants to open").waitFor();
  await card.answer("deny");
  await card.close();
}

async function components(bench, server) {
  const card = await bench.run(server, "components", { start: 3 });
  const { guest } = card;
  await guest.getByText("counted from 3").waitFor();
  await card.press(guest.getByRole("button", { name: "Add" }));
  await card.ask.getByText('wants to call "add"').waitFor();
  await card.answer("allow");
  await guest.getByText("that is 42").waitFor();
  await card.press(guest.getByRole("button", { name: "Say" }));
  await card.ask.getByText("in your name").waitFor();
  await card.answer("allow");
  await card.close();
}

test("a document from a result is in the audit by its hash, as one that is not pinned", async () => {
  const lane = lanes.find(({ names }) => names.some((name) => name.startsWith("mcp-ui plain")));
  if (!lane) return;
  const rows = (await lane.host.audit()).map((row) => JSON.stringify(row));
  const ran = rows.filter((row) => row.includes("ui://matrix/view") && row.includes("mcp-ui plain") && row.includes('"policy"'));
  assert.ok(ran.length > 0, rows.join("\n"));
  for (const row of ran) assert.match(row, /"outcome":"unpinned".*"sha256":"[0-9a-f]{64}"/);
});

test("the pages themselves had no mishap", () => assert.deepEqual(lanes.flatMap(({ bench }) => bench.mishaps), []));
