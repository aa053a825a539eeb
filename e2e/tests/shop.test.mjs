// The shop of examples/shop: one page, in a tab of its own, in a view with the shop in the server's process, and in a view with a shop that
// runs somewhere else. The same person does the same in all three.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { example, startExample } from "../rig/examples.mjs";
import { ROOT } from "../rig/guides.mjs";
import { openBench, startHost } from "../rig/host.mjs";

const storefront = await startExample("storefront", []);
const host = await startHost({ servers: { shop: example("shop"), elsewhere: { ...example("shop"), env: { SHOP: storefront.url } } } });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
  await storefront.stop();
});

// One pixel, red.
const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==", "base64");

/** What a person does in the shop; `agree` is what they answer a host that asks about a request, where there is one. */
async function visit(shop, agree) {
  await agree("GET /api/chat");
  await shop.getByText("Good day. The kiln is still warm").waitFor();
  assert.equal(await shop.locator("#shelf li").count(), 6);
  await shop.getByText("Empty. Add something you like.").waitFor();
  await shop.getByText("None yet.").waitFor();
  await shop.locator("#feed.live").waitFor();

  await shop.getByRole("button", { name: "Add Mug" }).click();
  await agree("PUT /api/basket/mug");
  await shop.locator("#total", { hasText: "€ 18.00" }).waitFor();
  // The yes was for the route, and so for all that is put into the basket.
  await shop.getByRole("button", { name: "Add Vase" }).click();
  await shop.locator("#total", { hasText: "€ 57.00" }).waitFor();
  await shop.locator("#lines li", { hasText: "Mug" }).getByRole("button", { name: "One more" }).click();
  await shop.locator("#total", { hasText: "€ 75.00" }).waitFor();
  await shop.locator("#lines li", { hasText: "Vase" }).getByRole("button", { name: "One less" }).click();
  await shop.locator("#total", { hasText: "€ 36.00" }).waitFor();

  await shop.locator("input[type=file]").setInputFiles({ name: "söñ, 1.png", mimeType: "image/png", buffer: PICTURE });
  await shop.locator("#custom").getByRole("button", { name: "Send" }).click();
  await agree("POST /api/pictures");
  await shop.getByText(`We have it: söñ, 1.png, ${PICTURE.length} bytes.`).waitFor();
  const preview = shop.locator("#preview");
  await preview.waitFor();
  // As the shop sent it back: decoded, one pixel wide.
  await preview.evaluate((image) => image.decode());
  assert.equal(await preview.evaluate(({ naturalWidth }) => naturalWidth), 1);
  await shop.locator("#total", { hasText: "€ 65.00" }).waitFor();

  await shop.getByRole("button", { name: "Order" }).click();
  await agree("POST /api/orders");
  await shop.getByText(/^Thank you\. Order \d+, € 65\.00\.$/).waitFor();
  await shop.locator("#orders").getByText("on its way").waitFor();
  assert.equal(await shop.locator("#orders .done").count(), 3);
  await shop.getByText("Empty. Add something you like.").waitFor();

  await shop.getByLabel("Message").fill("Is the bowl dishwasher safe?");
  await shop.locator("#chat").getByRole("button", { name: "Send" }).click();
  await shop.locator("#talk .mine", { hasText: "Is the bowl dishwasher safe?" }).waitFor();
  await shop.getByText("the dishwasher is fine").waitFor();
}

/** As a picture for whoever looks: `SHOTS=folder`. */
async function shoot(target, name) {
  if (process.env.SHOTS) await target.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`) });
}

const bench = await openBench(browser, host);

test("in a tab of its own", async () => {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } });
  const page = await context.newPage();
  const mishaps = [];
  page.on("pageerror", (error) => mishaps.push(String(error)));
  await page.goto(storefront.url);
  await visit(page, async () => {});
  await shoot(page, "shop-tab");
  assert.deepEqual(mishaps, []);
  await context.close();
});

for (const name of ["shop", "elsewhere"])
  test(`in a view: ${name === "shop" ? "the shop in the server's process" : "a shop that runs somewhere else"}`, async () => {
    const card = await bench.run(name, "open_shop");
    const asked = [];
    await visit(card.guest, async (request) => {
      await card.ask.getByText(`"${request}"`).waitFor();
      asked.push(request);
      await card.answer("allow-always");
    });
    assert.equal(await card.ask.count(), 0);
    await shoot(card.box, `shop-${name}`);
    assert.deepEqual(bench.mishaps, []);
    await card.close();
    const rows = (await host.audit()).map((row) => JSON.stringify(row));
    for (const request of asked) assert.ok(rows.some((row) => row.includes(request)), request);
    assert.ok(!rows.some((row) => row.includes("dishwasher") || row.includes("basket=")), "neither words nor proof are written down");
  });

test("what a view knows of a shop elsewhere is neither its address nor its cookie", async () => {
  const card = await bench.run("elsewhere", "open_shop");
  await card.guest.locator("#shelf li").first().waitFor();
  const frame = await card.frame();
  const told = await frame.evaluate(async () => {
    const response = await fetch("/api/basket");
    return JSON.stringify([response.url, [...response.headers], document.cookie, await response.text()]);
  });
  assert.ok(!told.includes(new URL(storefront.url).port), told);
  assert.ok(!told.includes("basket="), told);
  // What the server opens is all there is: the shop's own page is not.
  assert.equal(await frame.evaluate(() => fetch("/").catch(({ cause }) => cause.code)), "blocked");
  await card.close();
});

test("one line of the page is for hosts, and in a tab it does nothing", async () => {
  const read = (file) => readFileSync(path.join(ROOT, "examples/shop", file), "utf8");
  const lines = read("index.html").split("\n").filter((line) => /transom|mcp/i.test(line));
  assert.deepEqual(lines, ["<script>globalThis.transom?.carry();</script>"]);
  for (const file of ["shop.js", "shop.css"]) assert.doesNotMatch(read(file), /transom|mcp/i);
  const page = await browser.newPage();
  await page.goto(storefront.url);
  const found = await page.evaluate(() => [typeof transom, ...[fetch, XMLHttpRequest, EventSource, WebSocket].map((each) => /\[native code\]/.test(each))]);
  assert.deepEqual(found, ["undefined", true, true, true, true]);
  await page.close();
});
