// Servers: what they have, and how they are added, started again and removed while the host runs.
import assert from "node:assert/strict";
import { readFileSync, rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost, startHttpServer } from "../rig/host.mjs";
import { shoot } from "../rig/screens.mjs";
import { after, test } from "../rig/test.mjs";

const server = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../servers/forms.mjs");
const command = { command: process.execPath, args: [server] };
const host = await startHost({ servers: { forms: command } });
const folder = mkdtempSync(path.join(tmpdir(), "transom-kept-"));
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});
const bench = await openBench(browser, host, { viewport: { width: 1440, height: 1600 } });
const { page } = bench;
if (process.env.PATIENCE) page.setDefaultTimeout(Number(process.env.PATIENCE));
await bench.ready("forms");
const box = bench.server("forms");
const tab = (name) => box.getByRole("tab", { name, exact: true });

test("tools are for models or for views alone, and found by their words", async () => {
  await box.getByText("For its views alone (1)").click();
  await box.getByText("for_views_alone").waitFor();
  await box.getByLabel("Find a tool of forms").fill("nested");
  assert.deepEqual(await box.locator("details.tool > summary").evaluateAll((all) => all.map((each) => each.title)), ["echo_nested"]);
  await box.getByLabel("Find a tool of forms").fill("no such tool");
  await box.getByText("No tool has these words").waitFor();
  await box.getByLabel("Find a tool of forms").fill("");
  await shoot(page, "servers", { area: "left" });
});

test("resources and templates are read, and an error is said in place", async () => {
  await tab("Resources").click();
  const entry = (title) => box.locator("details.tool", { hasText: title });
  await entry("The notes").locator("> summary").click();
  await entry("The notes").getByRole("button", { name: "Read" }).click();
  await entry("The notes").locator("h1", { hasText: "What is in file:///notes.md" }).waitFor();
  await entry("A day's log").locator("> summary").click();
  await entry("A day's log").getByLabel("day").fill("2026/11");
  await entry("A day's log").getByRole("button", { name: "Read" }).click();
  await entry("A day's log").getByText("What is in file:///logs/2026%2F11.txt").waitFor();
  await shoot(page, "resources", { area: "left" });
  await entry("gone").locator("> summary").click();
  await entry("gone").getByRole("button", { name: "Read" }).click();
  await entry("gone").locator(".fault", { hasText: "it is gone" }).waitFor();
  assert.equal((await host.audit()).filter(({ kind, method }) => kind === "read" && method === "resources/read").length, 3);
});

test("a prompt is filled in and got; what is left empty is not sent", async () => {
  await tab("Prompts").click();
  const prompt = box.locator("details.tool", { hasText: "Greet somebody" });
  await prompt.locator("> summary").click();
  await prompt.getByRole("button", { name: "Get it" }).click();
  assert.equal(await prompt.locator(".prompt-message").count(), 0, "who is needed");
  await prompt.getByLabel("who *").fill("Ada");
  await prompt.getByRole("button", { name: "Get it" }).click();
  await prompt.getByText('Greet Ada {"who":"Ada"}').waitFor();
  assert.equal(await prompt.locator(".prompt-message img").count(), 1);
  await shoot(page, "prompts", { area: "left" });
});

test("what a server advertised and wrote is there", async () => {
  await tab("About").click();
  await box.getByText("tools, resources, prompts, logging, extensions").waitFor();
  await box.getByText("forms: a line on standard error").waitFor();
  await box.locator(".markdown strong", { hasText: "hard" }).waitFor();
  await shoot(page, "about", { area: "left" });
});

const adding = page.locator("#add-server");
async function addUrl(url) {
  if (!(await adding.evaluate((each) => each.open))) await adding.locator("> summary").click();
  await adding.getByRole("tab", { name: "Address" }).click();
  await adding.getByLabel("Its address").fill(url);
  await adding.getByRole("button", { name: "Add it" }).click();
}

test("a server is added by its address without a restart, shows its views, and is removed with them", async () => {
  const clock = await startHttpServer("server-basic-vanillajs");
  try {
    await addUrl(clock.url);
    const name = `localhost-${new URL(clock.url).port}`;
    await bench.ready(name);
    const card = await bench.run(name, "get-time");
    await card.guest.getByText("Server Time").first().waitFor();
    await shoot(page, "added", { area: "left" });
    await bench.server(name).getByRole("button", { name: `Start ${name} again` }).click();
    await bench.log(`${name}started again on the page`).waitFor();
    await bench.ready(name);
    await bench.server(name).getByRole("button", { name: `Remove ${name}` }).click();
    await bench.server(name).getByRole("button", { name: `Really remove ${name}` }).click();
    await bench.server(name).waitFor({ state: "detached" });
    await card.box.waitFor({ state: "detached" });
    const kinds = (await host.audit()).map(({ kind }) => kind);
    for (const kind of ["add", "restart", "remove"]) assert.ok(kinds.includes(kind), kind);
  } finally {
    await clock.stop();
  }
});

test("an address where nobody is, and one that is none, are said in words", async () => {
  await addUrl("http://127.0.0.1:9/mcp");
  await bench.page.locator("section.server.gone", { has: page.getByRole("heading", { name: "localhost-9", exact: true }) }).waitFor();
  const key = await page.evaluate(() => sessionStorage.getItem("transom-key"));
  const send = (body, headers = {}) =>
    fetch(`${host.origin}/api/add`, { method: "POST", body, headers: { origin: host.origin, "content-type": "text/plain", ...headers } });
  const bearer = { authorization: `Bearer ${key}` };
  assert.equal((await send("http://127.0.0.1:9/mcp")).status, 401, "without the key");
  assert.equal((await send("http://127.0.0.1:9/mcp", { ...bearer, origin: "http://evil.test" })).status, 403);
  assert.equal((await send("file:///etc/passwd", bearer)).status, 403);
  assert.match((await (await send("nonsense", bearer)).json()).error, /expected an address/);
});

test("nothing starts without a person at a terminal", async () => {
  await adding.getByRole("tab", { name: "Command" }).click();
  await adding.getByLabel("The command that starts it").fill(`"${process.execPath}" '${server}'`);
  await adding.getByLabel("What it is called").fill("sneaky");
  await adding.getByRole("button", { name: "Add it" }).click();
  await adding.locator(".fault", { hasText: "needs a yes in the terminal" }).waitFor();
  // A variable of the environment is as grave: it would be sent to whoever is at that address.
  await adding.getByRole("tab", { name: "File" }).click();
  await adding.getByLabel("Or what stands in it").fill('{"mcpServers":{"thief":{"url":"http://127.0.0.1:9/","headers":{"X":"${HOME}"}}}}');
  await adding.getByRole("button", { name: "Add what is in it" }).click();
  await adding.locator(".fault", { hasText: "needs a yes in the terminal" }).waitFor();
  await shoot(page, "adding", { area: "left" });
  assert.equal(await bench.server("sneaky").count() + (await bench.server("thief").count()), 0);
});

test("with --allow-commands a file of another host is taken over, and an added server kept in transom.toml", async () => {
  const file = path.join(folder, "transom.toml");
  const { writeFileSync } = await import("node:fs");
  writeFileSync(file, "# mine\n");
  const other = await startHost({ servers: { forms: command }, args: ["--allow-commands", "--toml", file] });
  try {
    const bench = await openBench(browser, other, { viewport: { width: 1440, height: 1600 } });
    const adding = bench.page.locator("#add-server");
    await bench.ready("forms");
    await adding.locator("> summary").click();
    await adding.getByRole("tab", { name: "File" }).click();
    await adding.getByLabel("Or what stands in it").fill(JSON.stringify({ mcpServers: { forms: command, "my second": command } }));
    await adding.getByRole("button", { name: "Add what is in it" }).click();
    await adding.getByText("Added: forms-2, my second").waitFor();
    await bench.ready("my second");
    await bench.server("my second").getByRole("button", { name: "Keep my second in transom.toml" }).click();
    await bench.server("my second").getByText(`Kept in ${file}`).waitFor();
    const text = readFileSync(file, "utf8");
    assert.match(text, /^# mine\n\n\[servers."my second"\]\ncommand = /);
    await bench.context.close();
  } finally {
    await other.stop();
  }
});

test("nothing went wrong in the page", () => assert.deepEqual(bench.mishaps, []));
