// Our host beside a reference host page, in turns, in Chromium. Prints ratios; asserts nothing.
//   node run.mjs [--rounds=12] [--sandbox=other-site|same-site] [--far=150] [--only=open,trip,prefetch]
import { readFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../browser/lib/chrome.mjs";
import { median } from "../browser/lib/stats.mjs";
import { freePort, runTool, startHost } from "../../e2e/rig/host.mjs";
import { startServer } from "./server.mjs";

const HOME = path.dirname(fileURLToPath(import.meta.url));
const BROWSER = path.resolve(HOME, "../browser");
const { build } = createRequire(path.join(BROWSER, "package.json"))("esbuild");
process.env.TRANSOM ??= path.resolve(HOME, "../../target/release/transom");

const options = {
  rounds: "12",
  sandbox: "other-site",
  far: "150",
  only: "open,trip,prefetch",
};
for (const word of process.argv.slice(2)) {
  const [, name, value] = /^--(\w+)=(.*)$/.exec(word) ?? [];
  if (!(name in options))
    throw new Error(
      `${word}: one of ${Object.keys(options)
        .map((key) => `--${key}=`)
        .join(" ")}`,
    );
  options[name] = value;
}
const ROUNDS = Number(options.rounds);
const wanted = (phase) => options.only.split(",").includes(phase);

const bundle = async (file) => {
  const built = await build({
    entryPoints: [path.join(HOME, file)],
    nodePaths: [path.join(BROWSER, "node_modules")],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
    logLevel: "error",
  });
  return built.outputFiles[0].text;
};
const page = (script) =>
  `<!doctype html><html><head><meta charset="utf-8"></head><body><script type="module">${script.replaceAll(/<\/(script)/gi, "<\\/$1").replaceAll("<!--", "<\\!--")}</script></body></html>`;

const server = await startServer(
  page(await bundle("view.js")),
  Number(options.far),
);
const site = await startSite();
const servers = { bench: { url: server.url } };
const closing = [() => server.close(), () => site.close()];
let runs = 0;

try {
  const theirs = await openReference();
  const ours = await openOurs();
  if (wanted("open")) await opens(theirs, ours);
  if (wanted("trip"))
    for (const [size, count] of [
      [100, 200],
      [100_000, 30],
    ])
      await trips(theirs, ours, size, count);
  if (wanted("prefetch")) await prefetch();
} finally {
  for (const close of closing.reverse()) await close();
}
process.exit(0);

/** A click, until the view says that it is ready. */
async function opens(theirs, ours) {
  const samples = { theirs: [], ours: [] };
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, host] of Object.entries({ theirs, ours })) {
      const { opened } = await once(host, "near", {});
      // The first warms up both sides' processes.
      if (round > 0) samples[name].push(opened);
    }
  tell(
    "tool click to view initialised, ours / theirs",
    samples.ours,
    samples.theirs,
    1.1,
  );
}

/** A view's call, through the gate, to the server and back. */
async function trips(theirs, ours, size, count) {
  const samples = { theirs: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, host] of Object.entries({ theirs, ours }))
      samples[name].push(
        median((await once(host, "near", { size, count })).trips),
      );
  tell(
    `tools/call of ${size} B there and back, ours / theirs`,
    samples.ours,
    samples.theirs,
    1.1,
  );
}

/** The first opening of a fresh host and page, and the second. */
async function prefetch() {
  const samples = { with: [], without: [], second: [] };
  for (let round = 0; round < Math.max(4, ROUNDS / 2); round++)
    for (const way of ["with", "without"]) {
      const host = await openOurs(way === "with" ? [] : ["--no-prefetch"]);
      samples[way].push((await once(host, "far", {})).opened);
      if (way === "with")
        samples.second.push((await once(host, "far", {})).opened);
      for (const close of closing.splice(-2).reverse()) await close();
    }
  const far = `a server ${options.far} ms away`;
  tell(
    `first open, ${far}, with prefetch / without`,
    samples.with,
    samples.without,
    0.6,
  );
  tell(
    `second open / first, ${far}, with prefetch`,
    samples.second,
    samples.with,
    1,
  );
}

async function once(host, tool, values) {
  const run = ++runs;
  const report = server.report(run);
  const clicked = await host.click(tool, { run, ...values });
  const { ready, trips } = await report;
  await host.clear();
  return { opened: ready - clicked, trips };
}

async function openReference() {
  const name = options.sandbox === "same-site" ? "localhost" : "127.0.0.1";
  const query = new URLSearchParams({
    server: server.url,
    sandbox: `http://${name}:${site.port}/sandbox`,
  });
  const chrome = await launch();
  closing.push(() => chrome.close());
  const tab = await chrome.open(`http://localhost:${site.port}/?${query}`);
  await until(tab, "globalThis.isReady");
  return {
    click: (tool, values) =>
      tab.evaluate(
        `(() => { const at = performance.timeOrigin + performance.now(); void run(${JSON.stringify(tool)}, ${JSON.stringify(values)}); return at; })()`,
      ),
    clear: () => tab.evaluate("clear()"),
  };
}

async function openOurs(args = []) {
  const host = await startHost({ servers, args: ["--no-data", ...args] });
  closing.push(() => host.stop());
  const chrome = await launch();
  closing.push(() => chrome.close());
  const tab = await chrome.open(host.url);
  await until(tab, `document.querySelector("section.server.ready")`);
  const gone = `!document.querySelector("article.view")`;
  return {
    click: (tool, values) =>
      tab.evaluate(
        `(() => { const at = performance.timeOrigin + performance.now(); (${runTool})(${JSON.stringify({ server: "bench", tool, values })}); return at; })()`,
      ),
    async clear() {
      await tab.evaluate(
        `document.querySelector("article.view button.close").click()`,
      );
      await until(tab, gone);
    },
  };
}

/** Waits until something is so in a page, looking again and again. */
function until(tab, condition) {
  return tab.evaluate(
    `new Promise((done) => { const look = () => (${condition}) ? done(true) : setTimeout(look, 10); look(); })`,
  );
}

/** The reference page, and on the other origin its sandbox. */
async function startSite() {
  const reference = page(await bundle("reference.js"));
  const relay = page(
    readFileSync(path.join(BROWSER, "adapters/default.proxy.js"), "utf8"),
  );
  const handler = (request, response) => {
    const sandbox = request.url.startsWith("/sandbox");
    const policy =
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-src 'none'";
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      ...(sandbox && { "content-security-policy": policy }),
    });
    response.end(sandbox ? relay : reference);
  };
  const port = await freePort();
  const listeners = await Promise.all(
    ["127.0.0.1", "::1"].map(
      (address) =>
        new Promise((done) => {
          const each = http
            .createServer(handler)
            .once("error", () => done(each))
            .listen(port, address, () => done(each));
        }),
    ),
  );
  return {
    port,
    close: () =>
      listeners.forEach((each) => (each.closeAllConnections(), each.close())),
  };
}

function tell(what, ours, theirs, bar) {
  const ratio = median(ours) / median(theirs);
  const ms = [ours, theirs]
    .map((all) => `${median(all).toFixed(2)} ms`)
    .join(" / ");
  console.log(
    `${what.padEnd(64)} ${ratio.toFixed(2)}  bar ${bar}  ${ratio <= bar ? "met" : "MISSED"}  (${ms}, ${ours.length} rounds)`,
  );
}
