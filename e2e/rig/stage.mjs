// One test's stage: a site, a browser context, a host page and the frames under it.
import { bundle, page } from "./bundle.mjs";
import { startBrowser } from "./browser.mjs";
import { openSite } from "./site.mjs";

/** What a test file shares: one browser and one site, closed after its tests. */
export async function openTheatre({ after }) {
  const [browser, site] = await Promise.all([startBrowser(), openSite()]);
  after(async () => {
    await browser.close();
    await site.close();
  });
  return {
    browser,
    site,
    openStage: (t, options) => openStage(t, { browser, site, ...options }),
  };
}

let stages = 0;

/** Opens a host page with the given scripts of `pages/`; it is closed when the test ends. */
export async function openStage(
  t,
  { browser, context, site, scripts = [], origin = site.host, headers, body },
) {
  const ours = context === undefined;
  context ??= await browser.newContext();
  const host = await context.newPage();
  // Long enough for a busy machine; what takes longer has failed, and is named.
  host.setDefaultTimeout(60_000);
  const mishaps = [];
  host.on("pageerror", (error) => mishaps.push(String(error)));
  t.after(() => (ours ? context.close() : host.close()));
  const sources = await Promise.all(["ear.js", ...scripts].map(bundle));
  const url = site.put(
    origin,
    `/stage-${++stages}`,
    page({ scripts: sources, body }),
    headers,
  );
  await host.goto(url);
  return {
    host,
    site,
    context,
    mishaps,
    frameAt: (address) => frameAt(host, address),
  };
}

/** Puts a document with the given scripts of `pages/` on an origin of its own, and returns its address. */
export async function putView(
  site,
  { scripts, origin = site.fresh(), path = "/", body, headers },
) {
  const sources = await Promise.all(["ear.js", ...scripts].map(bundle));
  return site.put(origin, path, page({ scripts: sources, body }), headers);
}

/** The frame that shows an address, as soon as there is one. */
export async function frameAt(host, address) {
  const fits = (frame) => frame.url() === address;
  const there = host.frames().find(fits);
  const frame = there ?? (await host.waitForEvent("framenavigated", fits));
  await frame.waitForLoadState("load");
  return frame;
}

/** Mounts a frame under `openHost`: the listener first, the address after. */
export async function mountFrame(
  host,
  address,
  { hostContext, hostCapabilities, ...more } = {},
) {
  await host.evaluate(
    async ({ address, options }) => {
      const frame = (globalThis.theFrame = document.createElement("iframe"));
      frame.setAttribute(
        "sandbox",
        "allow-scripts allow-same-origin allow-forms",
      );
      document.body.append(frame);
      globalThis.theHost = await openHost(frame, options);
      frame.src = address;
    },
    { address, options: { hostContext, hostCapabilities, ...more } },
  );
}

/** Mounts a <transom-view> whose host is in the page (pages/element.js). */
export async function mountElement(host, address, options = {}) {
  await host.evaluate(
    (options) => {
      globalThis.theHost = openElement(options);
      globalThis.theFrame = theHost.frame();
    },
    { src: address, ...options },
  );
}
