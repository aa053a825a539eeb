// How the page looks and is used by keyboard and by screen reader: axe finds nothing serious, in both themes and three widths.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, startHost } from "../rig/host.mjs";
import { shoot, SIZES } from "../rig/screens.mjs";
import { after, test } from "../rig/test.mjs";

const server = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../servers/forms.mjs");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const demo = await startHost();
const host = await startHost({ servers: { forms: { command: process.execPath, args: [server] } } });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await demo.stop();
  await host.stop();
});

// The address of a host is good once: one page is used for all that is tried there.
const bench = await openBench(browser, host, { viewport: { width: 1440, height: 900 } });

/** What axe calls serious or critical on the page as it is; what is in the frames of views is their authors'. */
async function faults(page) {
  // By the debugger: the page's policy lets no script in.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { iframes: false, resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
  });
}

test("a page with a view, in every width and theme, has nothing serious for axe", async () => {
  const { page, context, cards } = await openBench(browser, demo, { viewport: { width: 1440, height: 900 } });
  await cards().first().frameLocator("iframe").frameLocator("iframe").frameLocator("iframe").locator("#degrees", { hasText: "°C" }).waitFor();
  await shoot(page, "view");
  for (const colorScheme of ["light", "dark"])
    for (const [width, height] of SIZES) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      for (const area of width < 700 ? ["left", "centre", "right"] : ["centre"]) {
        await page.evaluate((area) => (document.body.dataset.area = area), area);
        assert.deepEqual(await faults(page), [], `${colorScheme} ${width} ${area}`);
      }
    }
  await context.close();
});

test("forms, answers, runs and the palette have nothing serious for axe", async () => {
  const { page } = bench;
  await bench.ready("forms");
  await shoot(page, "empty");
  assert.deepEqual(await faults(page), []);
  await page.locator('details.tool > summary[title="echo_nested"]').click();
  await page.locator(".field").first().waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const { box } = await bench.run("forms", "show_resources");
  await box.locator(".result").waitFor();
  await page.getByRole("tab", { name: "Runs" }).click();
  await page.locator("#add-server > summary").click();
  assert.deepEqual(await faults(page), []);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await faults(page), []);
  await page.keyboard.press("Control+k");
  await page.locator("dialog.palette[open]").waitFor();
  assert.deepEqual(await faults(page), []);
  await shoot(page, "palette");
  await page.keyboard.press("Escape");
});

test("the palette finds a tool by keyboard alone, and its form gets the keyboard", async () => {
  const { page } = bench;
  await page.emulateMedia({ colorScheme: "light" });
  await page.reload();
  await bench.ready("forms");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("echo nested");
  await page.locator("#palette-list [aria-selected=true]", { hasText: "echo_nested" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator('details.tool[open] > summary[title="echo_nested"]').waitFor();
  await page.waitForFunction(() => document.activeElement?.title === "echo_nested");
  // The ring is there to be seen.
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog.palette[open]").count(), 0);
  assert.deepEqual(bench.mishaps, []);
});

test("areas are sized and folded by keyboard, and stay so after a reload", async () => {
  const { page } = bench;
  await bench.ready("forms");
  const edge = page.getByRole("separator", { name: "Width of the servers" });
  const width = async () => Number(await edge.getAttribute("aria-valuenow"));
  const before = await width();
  await edge.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((before) => Number(document.querySelector(".splitter.left").ariaValueNow) > before, before);
  const wide = await width();
  await page.getByRole("button", { name: "Hide what happened" }).click();
  await page.reload();
  await bench.ready("forms");
  assert.equal(await width(), wide);
  await page.getByRole("button", { name: "Show what happened" }).waitFor();
});
