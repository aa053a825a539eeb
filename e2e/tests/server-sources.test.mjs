// Where transom-server takes documents from, as a browser shows them: a folder with a font, a bundler's output, a function, a
// template; and what becomes of the last two while their server is being written.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { bundle, page } from "../rig/bundle.mjs";
import { wideFont } from "../rig/font.mjs";
import { example, openBench, startHost } from "../rig/host.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "transom-sources-"));
const save = (name, text) => writeFileSync(path.join(folder, name), text);
mkdirSync(path.join(folder, "folder"));
save("folder/wide.ttf", wideFont());
save("folder/dot one.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>`);
save("folder/page.css", `@import "font.css"; #wide { font: 100px Wide, monospace } #dot { background: url("dot\\ one.svg") }`);
save(
  "folder/font.css",
  `@font-face { font-family: "Wide"; src: url(old.eot); src: url("old.eot?#iefix") format("embedded-opentype"), url("wide.ttf") format("truetype") }`,
);
save(
  "folder/page.js",
  `// This talks of import "./nothing.js" and of </script>, and does neither.
const app = new transom.App({ name: "folder", version: "1.0.0" });
app.ontoolresult = ({ structuredContent }) => (document.querySelector("#said").textContent = structuredContent.said + " </script>");
app.connect();`,
);
save(
  "folder/index.html",
  `\uFEFF<!DOCTYPE HTML>\r\n<HTML LANG=en><HEAD><LINK REL=STYLESHEET HREF=page.css><SCRIPT DEFER SRC=page.js></SCRIPT></HEAD>\r
<BODY><span id="wide">A</span><img id="one" src="dot%20one.svg" srcset="dot%20one.svg 1x,dot%20one.svg 2x" alt=""><p id="said"></p><!-- <img src=gone.png> --></BODY></HTML>`,
);
const own = `const app = new library.App({ name: "bundle", version: "1.0.0" });
app.ontoolresult = ({ structuredContent }) => (document.querySelector("#said").textContent = structuredContent.said);
app.connect();`;
save("bundle.html", page({ scripts: [await bundle("transom.view.js"), own], body: `<p id="said"></p>` }));
save("words.txt", "First <words>");

const servers = { sources: { command: example("sources"), args: [folder] } };
const browser = await startBrowser();
const hosts = [];
after(async () => {
  await browser.close();
  for (const host of hosts) await host.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(options) {
  const host = await startHost({ servers, ...options });
  hosts.push(host);
  // What the policy of a view stops is said in the view.
  const prepare = (context) =>
    context.addInitScript(() => {
      globalThis.stopped = [];
      addEventListener("securitypolicyviolation", ({ blockedURI, violatedDirective }) => stopped.push(`${violatedDirective} ${blockedURI}`));
    });
  return openBench(browser, host, { prepare });
}
const bench = await start({});

test("a folder's font is there, under a policy that lets no font be loaded", async () => {
  const policies = new Map();
  bench.page.on("response", (response) => policies.set(response.url(), response.headers()["content-security-policy"]));
  const card = await bench.run("sources", "folder");
  await card.guest.locator("#said", { hasText: "the folder </script>" }).waitFor();
  const frame = await card.frame();
  const found = await frame.evaluate(async () => {
    await document.fonts.ready;
    const [font] = await document.fonts.load("100px Wide", "A");
    const { width } = document.querySelector("#wide").getBoundingClientRect();
    await document.querySelector("#one").decode();
    return { status: font?.status, width, dot: document.querySelector("#one").naturalWidth > 0, mode: document.compatMode, stopped };
  });
  assert.deepEqual(found, { status: "loaded", width: 300, dot: true, mode: "CSS1Compat", stopped: [] });
  assert.match(policies.get(frame.url()), /^(?!.*font-src[^;]*data:).*default-src/, "and no policy was loosened for it");
  await card.close();
});

test("what a bundler made runs as it is, with the client that it brought", async () => {
  const card = await bench.run("sources", "bundle");
  await card.guest.locator("#said", { hasText: "the bundle" }).waitFor();
  const found = await (await card.frame()).evaluate(() => ({ ours: typeof globalThis.transom, stopped }));
  assert.deepEqual(found, { ours: "undefined", stopped: [] });
  await card.close();
});

for (const kind of ["function", "template"])
  test(`a ${kind} makes a document`, async () => {
    const card = await bench.run("sources", kind);
    await card.guest.locator("#said", { hasText: `the ${kind}` }).waitFor();
    // Only a template knows what must be escaped.
    const words = kind === "template" ? "First <words>" : "First";
    assert.equal((await card.guest.locator("h1").innerText()).trim(), words);
    await card.close();
  });

test("a function's and a template's views follow a server that is started again", async () => {
  const bench = await start({ verb: "dev", args: ["--watch", path.join(folder, "words.txt")] });
  const cards = { function: await bench.run("sources", "function"), template: await bench.run("sources", "template") };
  const shows = async (kind, words) => {
    const view = cards[kind].guest.frameLocator("iframe");
    await view.locator("h1", { hasText: words }).waitFor();
    await view.locator("#said", { hasText: `the ${kind}` }).waitFor();
  };
  for (const kind of Object.keys(cards)) await shows(kind, "First");
  for (const words of ["Second", "Third"]) {
    save("words.txt", words);
    for (const kind of Object.keys(cards)) await shows(kind, words);
  }
  assert.equal(await bench.cards().count(), 2, "in the same views, with the last result");
  assert.equal(await cards.function.ask.count(), 0);
  assert.deepEqual(bench.mishaps, []);
});

test("nothing went wrong on the page", () => assert.deepEqual(bench.mishaps, []));
