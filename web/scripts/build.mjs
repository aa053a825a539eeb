// Builds dist/: ES modules, classic scripts, and the declarations.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { MANGLED } from "./mangled.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const shared = {
  absWorkingDir: root,
  minify: true,
  target: "es2022",
  format: "esm",
  legalComments: "none",
  logLevel: "warning",
  mangleProps: new RegExp(`^(${Object.keys(MANGLED).join("|")})$`),
  mangleCache: MANGLED,
};
/** Less than the page's whole budget of 150, which its style sheet shares. */
const FIRST_LOAD = 135;

rmSync(`${root}dist`, { recursive: true, force: true });

// Who writes a server in Rust needs the views' scripts, and nothing else of all this.
if (process.argv.includes("--view")) {
  mkdirSync(`${root}dist`);
  await views();
  process.exit();
}

// One module per source file, so that a page which imports two of them has one engine.
await build({
  ...shared,
  entryPoints: readdirSync(`${root}src`, { recursive: true })
    .filter(
      (file) => file.endsWith(".ts") && !/^(sandbox|porch)\.ts$/.test(file),
    )
    .map((file) => `src/${file}`),
  outbase: "src",
  outdir: "dist",
});

// Classic scripts: what a server writes into its HTML, and what a host serves.
await views();
await classic("host.ts", "host.global.js", "transomHost");
await classic("sandbox.ts", "sandbox.js");
await classic("porch.ts", "porch.js");
for (const name of ["sandbox", "porch", "transom.global", "carry.global"])
  writeFileSync(`${root}dist/${name}.d.ts`, "export {};\n");

// The page of `transom run`, which stands beside this package and is no part of it.
if (process.argv.includes("--workbench")) await workbench();

if (!process.argv.includes("--no-types"))
  execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: "inherit",
  });

/**
 * The page, in one script and what it imports when it is first needed: files of `workbench/`, each under the hash of its
 * content.
 */
async function workbench() {
  const own = {
    ...shared,
    // Bundled whole: no member of it is anybody else's, and its packages have members of the same names.
    mangleProps: undefined,
    mangleCache: undefined,
    bundle: true,
    // The packages of the page are this package's, which stands beside it.
    nodePaths: [`${root}node_modules`],
    jsx: "automatic",
    jsxImportSource: "preact",
  };
  const { metafile } = await build({
    ...own,
    entryPoints: { workbench: "../workbench/page.tsx" },
    splitting: true,
    outdir: "dist",
    chunkNames: "workbench/[name]-[hash]",
    metafile: true,
  });
  firstLoad(metafile);
  await build({
    ...own,
    entryPoints: ["../workbench/expose.ts"],
    outfile: "dist/expose.js",
  });
  await build({
    ...own,
    entryPoints: ["../workbench/page.css"],
    outfile: "dist/workbench.css",
  });
  mkdirSync(`${root}dist/workbench`, { recursive: true });
  copyFileSync(`${root}../workbench/index.html`, `${root}dist/workbench.html`);
  copyFileSync(
    `${root}../workbench/icon.svg`,
    `${root}dist/workbench/icon.svg`,
  );
}

/** What a browser loads before anybody touches the page has a budget, in KB of gzip. */
function firstLoad({ outputs }) {
  const loaded = new Set(["dist/workbench.js"]);
  for (const file of loaded)
    for (const { path, kind } of outputs[file].imports)
      if (kind === "import-statement") loaded.add(path);
  const bytes = [...loaded].map(
    (file) => gzipSync(readFileSync(`${root}${file}`), { level: 9 }).length,
  );
  const total = bytes.reduce((sum, each) => sum + each, 0) / 1024;
  if (total > FIRST_LOAD)
    throw new Error(
      `the workbench loads ${total.toFixed(1)} KB before it is touched, and may load ${FIRST_LOAD}`,
    );
}

/** What a server writes into its documents: the view library, and the same with what is carried. */
async function views() {
  await classic("client.ts", "transom.global.js", "transom");
  await classic("fetch/global.ts", "carry.global.js", "transom");
}

/** Bundles into one script. Its exports become a global, without esbuild's getters for each. */
async function classic(entry, name, global) {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: [`src/${entry}`],
    bundle: true,
    write: false,
  });
  const [, body, exports] = /^([^]*?)(?:export\{([^}]*)\};)?\s*$/.exec(
    outputFiles[0].text,
  );
  const members = exports?.replace(/([\w$]+) as ([\w$]+)/g, "$2:$1");
  const script = global
    ? `var ${global}=(()=>{"use strict";${body}return{${members}}})();\n`
    : `(()=>{"use strict";${body}})();\n`;
  if (/<\/script|<!--/i.test(script))
    throw new Error(`${name} cannot be written into HTML`);
  // With the line, Chromium compiles all of it at once, and not each function when it is first called: most of them are.
  const first = global ? "//# allFunctionsCalledOnLoad\n" : "";
  writeFileSync(`${root}dist/${name}`, first + script);
}
