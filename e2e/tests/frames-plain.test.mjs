// The postMessage transport on a plainly started Chromium: storage that is really partitioned, timers that are really throttled.
import assert from "node:assert/strict";
import { startPlainBrowser } from "../rig/browser.mjs";
import { openOuter, putInner, setUp, start } from "../rig/frames.mjs";
import { openSite } from "../rig/site.mjs";
import { openStage } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";

const [plain, site] = await Promise.all([startPlainBrowser(), openSite()]);
after(async () => {
  await plain.close();
  await site.close();
});
const theatre = {
  site,
  openStage: (t, options) => openStage(t, { site, context: plain.context, ...options }),
};

/** Connects, and returns the inner page. */
async function open(t, url, options) {
  const stage = await openOuter(t, theatre, url, options);
  assert.equal(await start(stage.host), "open");
  const page = options?.popup
    ? plain.context.pages().find((page) => page.url() === url)
    : await stage.frameAt(url);
  return { ...stage, page };
}
const keep = (page, value) =>
  page.evaluate((value) => localStorage.setItem(inner.session.storageKey("v"), value), value);
const kept = (page) => page.evaluate(() => localStorage.getItem(inner.session.storageKey("v")));

for (const [place, origin] of [
  ["same site", () => site.neighbour],
  ["across sites", () => site.stranger],
])
  test(`SES-2 SES-6 SES-7 ${place}: what a session keeps is there for it again, and for no other session`, async (t) => {
    const url = await putInner(site, { origin: origin() });
    const sessionId = `kept-${place.replaceAll(" ", "-")}`;
    const one = await open(t, url, { sessionId });
    await keep(one.page, "mine");
    await one.host.evaluate(() => outer.close());
    const again = await open(t, url, { sessionId });
    assert.equal(await kept(again.page), "mine");
    const other = await open(t, url, { sessionId: `${sessionId}-2` });
    assert.equal(await kept(other.page), null);
  });

test("SES-3 ATK-21 another allowed page that learnt the session's name does not find what it kept", async (t) => {
  const allow = [site.host, site.neighbour];
  const url = await putInner(site, { allow });
  const mine = await open(t, url, { sessionId: "leaked" });
  await keep(mine.page, "secret");
  const thief = await openStage(t, {
    site,
    context: plain.context,
    origin: site.neighbour,
    scripts: ["frames.outer.js"],
  });
  await thief.host.evaluate((url) => prepare(url, { sessionId: "leaked" }), url);
  assert.equal(await start(thief.host), "open");
  assert.equal(await kept(await thief.frameAt(url)), null);
});

test("SES-6 what was kept in a popup is not there in a frame of another site", async (t) => {
  const url = await putInner(site, { origin: site.stranger });
  const sessionId = "popup-then-frame";
  // A click: plain Chromium blocks a popup without one.
  const stage = await openOuter(t, theatre, url, { sessionId, popup: true }, { body: "<button>open</button>" });
  await stage.host.evaluate(() => {
    document.querySelector("button").onclick = () =>
      void settled(outer.start()).then((end) => ear.hear("started", end.error?.code ?? "open"));
  });
  await stage.host.click("button");
  assert.equal(await stage.host.evaluate(() => ear.next("started")), "open");
  const popup = plain.context.pages().find((page) => page.url() === url);
  await keep(popup, "in the popup");
  const framed = await open(t, url, { sessionId });
  assert.equal(await kept(framed.page), null);
});

test("VIS-6 SES-8 timers in a hidden page run as they do in a shown one, and not as in one that is not laid out", async (t) => {
  const url = await putInner(site, { origin: site.stranger });
  const { host, page } = await open(t, url);
  // Counted, not timed: how many chained timers fire before one long wait is over, in the three ways to hide a frame.
  const fired = () =>
    page.evaluate(
      () =>
        new Promise((done) => {
          let count = 0;
          let going = true;
          const next = () => {
            if (going) setTimeout(() => (count++, next()), 0);
          };
          next();
          setTimeout(() => ((going = false), done(count)), 3_000);
        }),
    );
  const hidden = await fired();
  await host.evaluate(() => (control.frame.style.cssText = "display:none"));
  const gone = await fired();
  assert.ok(hidden > gone * 5, JSON.stringify({ hidden, gone }));
});

test("MSG-3h a setup without a person shows nothing", async (t) => {
  const url = await putInner(site);
  const { host } = await openOuter(t, theatre, url);
  await host.evaluate(() => {
    globalThis.shown = 0;
    const { show } = control;
    control.show = () => (shown++, show.call(control));
  });
  assert.equal((await setUp(host)).value.title, "Echo");
  assert.equal(await host.evaluate(() => shown), 0);
});
