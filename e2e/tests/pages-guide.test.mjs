// The two programs of docs/pages.md, as they stand there, in a real browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { page } from "../rig/bundle.mjs";
import { openTheatre } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const guide = readFileSync(path.join(ROOT, "docs/pages.md"), "utf8");
const block = (name) => new RegExp(`\`\`\`js ${name}\\n([^]*?)\`\`\``).exec(guide)[1];

const theatre = await openTheatre({ after });

/** A program of the guide on a page, with the addresses of this test. */
async function put(origin, name, address, mine) {
  const source = block(name).replaceAll(address, mine);
  assert.notEqual(source, block(name), `${name} names ${address}`);
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: path.join(ROOT, "e2e") },
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "error",
    alias: { "transom/frames": path.join(ROOT, "web/src/frames/index.ts") },
  });
  const html = page({}).replace("</body>", '<script type="module" src="/main.js"></script></body>');
  theatre.site.put(origin, "/main.js", outputFiles[0].text);
  return theatre.site.put(origin, "/", html);
}

test("the page server in 30 lines works, and the page that uses it", async (t) => {
  const { site, browser } = theatre;
  assert.ok(block("server").trim().split("\n").length <= 30);
  const server = await put(site.fresh(), "server", "https://client.example", site.host);
  const client = await put(site.host, "client", "https://dice.example/", server);
  const context = await browser.newContext();
  t.after(() => context.close());
  const outer = await context.newPage();
  await outer.goto(client);
  await outer.waitForFunction(() => document.title !== "");
  assert.match(await outer.title(), new RegExp(`^Dice, from ${new URL(server).origin}, rolled [1-6]$`));
});
