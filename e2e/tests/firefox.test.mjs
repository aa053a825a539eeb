// One view of each kind in Firefox ESR: what our page, sandbox, porch and view library need of a browser is not Chromium's alone.
import assert from "node:assert/strict";
import plain from "node:test";
import { after, test } from "../rig/test.mjs";
import { findFirefox, startFirefox, until } from "../rig/firefox.mjs";
import { runTool, startHost } from "../rig/host.mjs";
import { prepareMatrix } from "../rig/matrix.mjs";

/** What is shown in the guest of each, once it has its data. */
const ROWS = {
  "ext-apps 0.4.1": { shown: "counted from 3" },
  "ext-apps 2.0.4": { shown: "counted from 3" },
  vue: { shown: "counted from 3" },
  svelte: { shown: "counted from 3" },
  solid: { shown: "counted from 3" },
  "mcp-ui adapter": { shown: 'given {"from":3}' },
  "mcp-ui linked": { shown: 'given {"from":3}' },
  "mcp-ui plain": { shown: 'given {"from":3}', embedded: true },
};

if (!findFirefox()) plain("views in Firefox", { skip: "firefox-esr is not installed, and scripts/e2e could not install it" });
else await play();

async function play() {
  const matrix = await prepareMatrix((name, way) => name in ROWS && way === "HTTP");
  const demo = await startHost();
  const host = await startHost({ servers: matrix.servers });
  const browser = await startFirefox();
  after(async () => {
    await browser.close();
    await Promise.all([host.stop(), demo.stop(), matrix.stop()]);
  });
  const mishaps = [];
  const open = async ({ url }) => {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 2400 });
    // Which lanes the views on it took.
    await page.evaluateOnNewDocument(() => {
      window.lanes = [];
      addEventListener("transom-lane", ({ detail }) => window.lanes.push(detail.lane));
    });
    // Firefox tells the page's listener what the policy of a guest stopped too: a library that looks whether it may build code.
    page.on("pageerror", (error) => String(error).includes("Content-Security-Policy") || mishaps.push(String(error)));
    await page.goto(url);
    return page;
  };
  const page = await open(host);

  for (const [name, row] of Object.entries(ROWS))
    test(`${name} in Firefox: is shown its data, and calls a tool after a question`, async () => {
      const card = await run(page, `${name} over HTTP`, "count", { from: 3 });
      if (row.embedded) await card.answer("allow");
      await card.shows("#result", row.shown);
      const tall = await card.box((view) => view.getBoundingClientRect().height);
      await card.click("#add");
      await card.answer("allow");
      await card.shows("#sum", "that is 42");
      assert.ok(tall > 0);
      await card.close();
    });

  test("our own view in Firefox takes the fast lane, and the page had no mishap", async () => {
    const page = await open(demo);
    await run(page, "demo", "show_weather", {});
    await until("the lane of our own view", () => page.evaluate(() => window.lanes.includes("port")));
    assert.deepEqual(mishaps, []);
  });
}

/** Runs a tool from its form, and returns what a test does with the card that it opened. */
async function run(page, server, tool, values) {
  await until(`${server} is ready`, () =>
    page.evaluate((name) => [...document.querySelectorAll("section.server.ready h2")].some((each) => each.textContent === name), server),
  );
  const view = await page.evaluate(runTool, { server, tool, values });
  const ask = `dialog.ask[data-view="${view}"][open]`;
  const card = `transom-view[view="${view}"]`;
  /** The guest: below the page its sandbox, the porch, and itself. */
  const guest = () =>
    until(`the guest of ${server}`, async () => {
      let frame = await (await page.evaluateHandle((card) => document.querySelector(card).shadowRoot.querySelector("iframe"), card)).contentFrame();
      for (let depth = 0; depth < 2; depth++) frame = await (await frame.$("iframe")).contentFrame();
      return frame;
    });
  return {
    box: (look) => page.$eval(card, look),
    async shows(selector, words) {
      await until(`${words} in ${server}`, async () => {
        const text = await (await guest()).$eval(selector, (each) => each.textContent);
        return text.includes(words);
      });
    },
    /** As a person does: the pointer is moved over the view, and then pressed. */
    async click(selector) {
      const button = await (await guest()).waitForSelector(selector);
      await until(`a place for ${selector} of ${server}`, () => button.boundingBox());
      await button.hover();
      await button.click();
    },
    async answer(choice) {
      const picked = await until(`a question of ${server}`, () =>
        page.evaluate(
          (ask, choice) => [choice, `${choice}-always`, `${choice}-until-end`].find((each) => document.querySelector(`${ask} button.${each}`)),
          ask,
          choice,
        ),
      );
      // A click counts once the buttons are armed.
      const button = `${ask} button.${picked}`;
      await until(`an armed question of ${server}`, () => page.evaluate((ask) => "armed" in document.querySelector(ask).dataset, ask));
      await page.click(button);
    },
    async close() {
      await page.evaluate((card) => document.querySelector(card).closest("article").querySelector("button.close").click(), card);
      await until(`the end of ${server}`, () => page.evaluate((card) => !document.querySelector(card), card));
    },
  };
}
