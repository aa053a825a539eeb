// What the README and the guides tell people to do, done: every command is run, every view is shown, every option is there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { bundle, inline } from "../rig/bundle.mjs";
import { startExample } from "../rig/examples.mjs";
import { blocks, pages, read, ROOT, stage } from "../rig/guides.mjs";
import { binary, freePort, openBench, startHost } from "../rig/host.mjs";

// What a page shows as the address of somebody's server.
const weather = await startExample("weather");
after(() => weather.stop());
const SERVERS = { "http://localhost:3001/mcp": weather.url };
// And as ports that are free on somebody's machine, and may not be on this one.
for (const shown of ["127.0.0.1:7420", "0.0.0.0:7420", "127.0.0.1:9464", "0.0.0.0:9464"]) SERVERS[shown] = `${shown.split(":")[0]}:${await freePort()}`;

// Longer than `transom isolation` takes on a busy machine.
const LIMIT = 600_000;

/** The commands that no test runs. Each says why, on its page; a new one has to be added here too. */
const NOT_RUN = {
  "BENCHMARKS.md": ["cargo bench", "npm ci", "node bench/host/run.mjs", "bench/gate/run", "node bench/host/flood.mjs", "cargo bench"],
  "CONTRIBUTING.md": ["scripts/check quick"],
  "README.md": ["cargo run", "scripts/check"],
  "docs/commands/decisions.md": ["transom decisions"],
  "docs/commands/doctor.md": ["transom doctor"],
  "docs/commands/expose.md": ["transom expose"],
  "docs/commands/pages.md": ["transom pages"],
  "docs/commands/replay.md": ["transom run", "transom replay"],
  "docs/conversation.md": ["export OPENAI_API_KEY=…"],
  "docs/host.md": ["cargo run"],
  "docs/operating.md": ["curl http://127.0.0.1:9464/healthz"],
  "docs/running.md": ["cargo install", "docker build"],
  "docs/security.md": ["transom isolation"],
  "docs/trace.md": ["transom run"],
  "e2e/README.md": ["scripts/e2e"],
};

const withCommands = pages().filter((page) => blocks(page).some(({ language, word }) => language === "sh" && word !== "not run"));

for (const page of withCommands)
  test(
    `${page}: its commands do what they say`,
    async () => {
      const folder = stage(SERVERS);
      try {
        await folder.play(page);
      } finally {
        folder.remove();
      }
    },
    LIMIT,
  );

test("the guides are among the pages whose commands are run", () => {
  for (const page of ["README.md", "docs/running.md", "docs/servers.md", "docs/views.md", "docs/commands/run.md"])
    assert.ok(withCommands.includes(page), page);
});

test("what is not run is known, and says why", () => {
  const skipped = pages().flatMap(blocks).filter(({ word }) => word === "not run");
  assert.ok(skipped.every(({ language, about }) => language === "sh" && about.length > 0));
  const found = {};
  for (const { page, lines } of skipped) (found[page] ??= []).push(lines[0].replace(/ +#.*/, "").split(" ").slice(0, 2).join(" "));
  assert.deepEqual(found, NOT_RUN);
});

test("every command has a page, and the page names each of its options and no other", () => {
  const help = (...words) => execFileSync(binary(), [...words, "--help"], { encoding: "utf8" });
  const options = (text) => new Set(text.match(/(?<![\w-])--[a-z][a-z-]+/g));
  const under = (text) => /\nCommands:\n([^]*?)\n\n/.exec(text)?.[1].match(/^ {2}(\w+)/gm)?.map((word) => word.trim()) ?? [];
  const usual = new Set(["--help", "--version"]);
  const commands = under(help()).filter((word) => word !== "help");
  assert.ok(commands.length >= 9, commands.join(" "));
  const everywhere = options(read("docs/commands/run.md"));
  const known = new Set();
  for (const command of commands) {
    const text = [help(command), ...under(help(command)).filter((word) => word !== "help").map((word) => help(command, word))].join("\n");
    // The examples at the end name options of other programs.
    const has = options(text.replaceAll(/\nExamples:\n[^]*?(?=\n\n|$)/g, ""));
    const page = read(`docs/commands/${command}.md`);
    assert.ok(read("docs/commands/README.md").includes(`](${command}.md)`), `docs/commands/README.md does not list ${command}`);
    const named = options(page);
    const missing = [...has].filter((option) => !named.has(option) && !everywhere.has(option) && !usual.has(option));
    assert.deepEqual(missing, [], `docs/commands/${command}.md`);
    for (const option of has) known.add(option);
  }
  for (const command of commands) {
    const tables = read(`docs/commands/${command}.md`).match(/^\|.*\|$/gm)?.join("\n") ?? "";
    const invented = [...options(tables)].filter((option) => !known.has(option));
    assert.deepEqual(invented, [], `docs/commands/${command}.md`);
  }
});

test("docs/views.md: its view shows what the tool returned, and calls it again", async () => {
  const [{ lines }] = blocks("docs/views.md").filter(({ language }) => language === "html");
  const script = await bundle(path.join(ROOT, "e2e/pages/global.js"));
  const folder = mkdtempSync(path.join(tmpdir(), "transom-view-"));
  const file = path.join(folder, "view.html");
  // First in the head, as transom-server puts it there.
  writeFileSync(file, lines.join("\n").replace("<head>", () => `<head><script>${inline(script)}</script>`));
  const host = await startHost({ servers: { shown: { command: process.execPath, args: [path.join(ROOT, "e2e/servers/shown.mjs"), file] } } });
  const browser = await startBrowser();
  try {
    const bench = await openBench(browser, host);
    const card = await bench.run("shown", "get_forecast", { place: "Lisbon" });
    await card.guest.getByRole("heading", { name: "Lisbon" }).waitFor();
    await card.guest.getByText("21 °C").waitFor();
    await card.guest.getByRole("button", { name: "Refresh" }).click();
    await card.guest.getByText("22 °C").waitFor();
    assert.deepEqual(bench.mishaps, []);
  } finally {
    await browser.close();
    await host.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
