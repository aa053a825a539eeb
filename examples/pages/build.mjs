// Bundles the sample pages: node build.mjs FOLDER writes one folder for each, ready to be served on an origin of its own.
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const home = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? "dist");
// The packages are beside this file, or beside the folder that is written: nothing needs to be installed here.
const packages = [home, path.dirname(out)].find((folder) => existsSync(path.join(folder, "node_modules")));
if (!packages) throw new Error("npm ci comes first");
const { build } = createRequire(path.join(packages, "package.json"))("esbuild");

export const PAGES = ["pi", "json", "mermaid", "folder", "dashboard", "copilot", "client"];

for (const page of PAGES) {
  const [from, to] = [path.join(home, page), path.join(out, page)];
  mkdirSync(to, { recursive: true });
  copyFileSync(path.join(from, "index.html"), path.join(to, "index.html"));
  copyFileSync(path.join(home, "shared/page.css"), path.join(to, "page.css"));
  const entryPoints = ["main.js", "worker.js"].map((file) => path.join(from, file)).filter((file) => existsSync(file));
  await build({
    entryPoints,
    outdir: to,
    bundle: true,
    minify: true,
    // A large library comes in a file of its own, beside the handshake and not before it.
    splitting: true,
    format: "esm",
    target: "es2022",
    chunkNames: "[name]-[hash]",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    nodePaths: [path.join(packages, "node_modules")],
    alias: { "transom/frames": path.resolve(home, "../../web/src/frames/index.ts") },
  });
  if (!readFileSync(path.join(to, "main.js")).length) throw new Error(`${page} is empty`);
}
