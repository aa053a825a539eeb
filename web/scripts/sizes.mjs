// Prints what each part costs a page, against its budget, and beside ext-apps' hello view.
// KB is 1024 bytes; esbuild --minify for ES2022, gzip -9. Measured on dist/, as a user would bundle it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

const HELLO = (from) => `
import { App } from "${from}";
const app = new App({ name: "hello", version: "1.0.0" });
app.ontoolresult = (result) => { document.body.textContent = JSON.stringify(result.content); };
await app.connect();`;

const PARTS = [
  [
    "hello view: App connects and shows a result",
    4.1,
    () => bundle(HELLO("./dist/index.js")),
  ],
  [
    "complete view client, both faces",
    4.5,
    () => bundle('export * from "./dist/client.js"'),
  ],
  [
    "all that ext-apps exports to a view: the client, names of methods, stand-ins for schemas",
    5.5,
    () => bundle('export * from "./dist/index.js"'),
  ],
  ["sandbox script", 2.5, () => bundle('import "./dist/sandbox.js"')],
  ["porch script", 0.6, () => bundle('import "./dist/porch.js"')],
  [
    "<transom-view> with both channels",
    5.0,
    () => bundle('export * from "./dist/host.js"'),
  ],
  [
    "frames: outer side with both windows",
    8.3,
    () =>
      bundle(
        'export { OuterFrameTransport, IframeControl, PopupControl } from "./dist/frames/index.js"',
      ),
  ],
  [
    "frames: inner side",
    5.0,
    () =>
      bundle('export { InnerFrameTransport } from "./dist/frames/index.js"'),
  ],
  [
    "fetch over MCP: fetch alone",
    3.0,
    () => bundle('export { initMcpFetch } from "./dist/fetch/index.js"'),
  ],
  [
    "fetch over MCP: fetch, XMLHttpRequest, EventSource and WebSocket",
    9.0,
    () => bundle('export { initMcpHttp } from "./dist/fetch/index.js"'),
  ],
  [
    "classic script, to be written into HTML",
    4.6,
    () => readFileSync(`${root}dist/transom.global.js`),
  ],
  [
    "classic script with all that is carried",
    11.5,
    () => readFileSync(`${root}dist/carry.global.js`),
  ],
];

/** Every part with its size and its budget in bytes. */
export async function measure() {
  const parts = [];
  for (const [name, budget, make] of PARTS)
    parts.push({
      name,
      budget: Math.floor(budget * 1024),
      size: zipped(await make()),
    });
  return parts;
}

/** ext-apps' hello view, made in the same way. */
export async function measurePeer() {
  return zipped(await bundle(HELLO("@modelcontextprotocol/ext-apps")));
}

async function bundle(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    target: "es2022",
    format: "esm",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0].contents;
}

function zipped(bytes) {
  return gzipSync(bytes, { level: 9 }).length;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const kb = (bytes) => `${(bytes / 1024).toFixed(2)} KB`.padStart(10);
  const parts = await measure();
  for (const { name, budget, size } of parts)
    console.log(
      `${kb(size)} of ${kb(budget)}  ${size > budget ? "OVER " : ""}${name}`,
    );
  const peer = await measurePeer();
  console.log(
    `${kb(peer)}                ext-apps 2.0.4, the same hello view: ${(peer / parts[0].size).toFixed(1)} times ours`,
  );
  if (parts.some(({ budget, size }) => size > budget)) process.exitCode = 1;
}
