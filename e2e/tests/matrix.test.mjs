// Views and servers that nobody here wrote: every line of ext-apps, frameworks for views, frameworks for servers. Each row is
// shown what it was opened with, calls a tool, says something and asks for a link; and every question comes before its deed.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";
import { prepareMatrix, LINES } from "../rig/matrix.mjs";

// `MATRIX="vue,xmcp"` runs these rows alone.
const named = process.env.MATRIX?.split(",");
const matrix = await prepareMatrix((name) => named?.includes(name) ?? true);
// xmcp's documents import a script that they make themselves.
const granted = Object.keys(matrix.servers).filter((name) => name.startsWith("xmcp"));
const toml = granted.map((name) => `[servers."${name}"]\nfrom = "mcp.json"\ngrants = ["blob:"]\n`).join("\n");
const host = await startHost({ servers: matrix.servers, ...(toml && { toml }) });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
  await matrix.stop();
});
const bench = await openBench(browser, host);

/** What rows differ in: the arguments, and which of the buttons there are. */
const ROWS = {
  ...Object.fromEntries(LINES.map((version) => [`ext-apps ${version}`, {}])),
  vue: {},
  svelte: {},
  solid: {},
  "mcp-ui adapter": { host: false, input: false, result: 'given {"from":3}' },
  fastmcp: { values: { start: 3 } },
  "python sdk": { values: { start: 3 } },
  "mcp-use": { buttons: ["add"], host: false, declares: true },
  xmcp: { host: false, input: false },
};

const ready = (server) => bench.log(`${server} countready`).first().waitFor();

for (const [name, row] of Object.entries(ROWS))
  for (const way of ["stdio", "HTTP"]) {
    const server = `${name} over ${way}`;
    if (!(server in matrix.servers)) continue;
    test(`${server}: is shown its data, calls a tool, and asks for the rest`, async () => {
      const { values = { from: 3 }, buttons = ["add", "say", "link"], host = true, input = true, result = "counted from 3", declares } = row;
      const card = await bench.run(server, "count", values);
      if (declares) await card.answer("allow");
      const { guest } = card;
      const shown = (id, words) => guest.locator(`#${id}`, { hasText: words }).waitFor();
      await ready(server);
      if (host) await shown("host", "shown by transom");
      if (input) await shown("input", "asked for 3");
      await shown("result", result);

      await guest.locator("#add").click();
      await card.ask.getByText("add").first().waitFor();
      await card.answer("allow");
      await shown("sum", "that is 42");
      if (buttons.includes("say")) {
        await guest.locator("#say").click();
        await card.ask.getByText("in your name").waitFor();
        await card.answer("allow");
        await bench.log("said by a view").first().waitFor();
      }
      if (buttons.includes("link")) {
        await guest.locator("#link").click();
        await card.ask.getByText("wants to open").waitFor();
        await card.answer("deny");
      }
      await card.close();
    });
  }

for (const way of ["stdio", "HTTP"]) {
  const server = `fastmcp over ${way}`;
  if (!(server in matrix.servers)) continue;
  test(`${server}: a document of 7 MB draws the components that its server named, and its buttons work`, async () => {
    const card = await bench.run(server, "components", { start: 3 });
    const { guest } = card;
    await guest.getByText("counted from 3").waitFor();
    // The test above allowed the tool until Transom ends.
    await guest.getByRole("button", { name: "Add" }).click();
    await guest.getByText("that is 42").waitFor();
    await guest.getByRole("button", { name: "Say" }).click();
    await card.ask.getByText("in your name").waitFor();
    await card.answer("allow");
    await card.close();
  });
}

test("the page itself had no mishap", () => assert.deepEqual(bench.mishaps, []));
