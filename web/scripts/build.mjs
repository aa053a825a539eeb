// Builds dist/: the ES modules, the two classic scripts, and the declarations.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const shared = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
};

rmSync(`${root}dist`, { recursive: true, force: true });

// Modules share chunks, so that a page with two of them has one engine.
await build({
  ...shared,
  entryPoints: ["src/index.ts", "src/view.ts", "src/host.ts", "src/react.ts"].filter((f) => existsSync(root + f)),
  external: ["react"],
  format: "esm",
  splitting: true,
  outdir: "dist",
  chunkNames: "chunk-[hash]",
});

// Classic scripts: one that a server writes into its HTML, two that a host serves.
for (const [entry, name, globalName] of [
  ["src/index.ts", "transom.global.js", "transom"],
  ["src/host.ts", "host.global.js", "transomHost"],
  ["src/sandbox.ts", "sandbox.js"],
]) {
  if (!existsSync(root + entry)) continue;
  await build({
    ...shared,
    entryPoints: [entry],
    format: "iife",
    ...(globalName && { globalName }),
    outfile: `dist/${name}`,
  });
  if (/<\/script|<!--/i.test(readFileSync(`${root}dist/${name}`, "utf8")))
    throw new Error(`${name} cannot be written into HTML`);
}

writeFileSync(`${root}dist/sandbox.d.ts`, "export {};\n");
if (!process.argv.includes("--no-types"))
  execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
