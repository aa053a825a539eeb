// How soon the page is painted for the first time, beside a static page of the same bytes: the same script and style sheet, of which
// the script is loaded and not run. In turns, in one browser, without anything cached. Prints the ratio of the medians.
//   node bench/host/paint.mjs [ROUNDS]
import { once } from "node:events";
import { createServer } from "node:http";
import { startBrowser } from "../../e2e/rig/browser.mjs";
import { startHost } from "../../e2e/rig/host.mjs";

const rounds = Number(process.argv[2] ?? 21);
const host = await startHost();
const read = async (path) => (await fetch(host.origin + path)).text();
const [html, script, style] = await Promise.all(["/", "/workbench.js", "/workbench.css"].map(read));
// The words that the page begins with, so that both have something to paint.
const words = '<div id="app"><header class="head"><h1>Transom</h1></header><p>Nothing is shown yet</p></div>';
const files = {
  "/": ["text/html", html.replace('<div id="app"></div>', words).replace('<script type="module" src="/workbench.js"></script>', '<link rel="preload" as="script" href="/workbench.js">')],
  "/workbench.js": ["text/javascript", script],
  "/workbench.css": ["text/css", style],
};
const site = createServer(({ url }, response) => {
  const [kind, text] = files[url] ?? ["text/plain", ""];
  response.writeHead(200, { "content-type": kind, "cache-control": "no-store" }).end(text);
}).listen(0, "127.0.0.1");
await once(site, "listening");
const still = `http://127.0.0.1:${site.address().port}/`;

const browser = await startBrowser();
const times = { page: [], still: [] };
for (let round = 0; round < rounds; round++)
  for (const [name, url] of [["page", host.origin], ["still", still]]) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url, { waitUntil: "load" });
    const painted = await page.evaluate(
      () =>
        new Promise((done) =>
          new PerformanceObserver((list) => done(list.getEntriesByName("first-contentful-paint")[0]?.startTime)).observe({ type: "paint", buffered: true }),
        ),
    );
    if (painted !== undefined) times[name].push(painted);
    await context.close();
  }
await browser.close();
site.close();
await host.stop();
const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
const [page, plain] = [median(times.page), median(times.still)];
process.stdout.write(`first paint of the page / of a static page of the same bytes: ${(page / plain).toFixed(2)} (bar 1.5; ${rounds} rounds)\n`);
