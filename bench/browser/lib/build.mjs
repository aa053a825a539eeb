// Bundles adapters/<name>.{host,view}.js into dist/. Views become one inline module script, as real ui:// resources are.
import { build, transform } from "esbuild";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { HOME } from "./serve.mjs";

const OPTIONS = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  platform: "browser",
  charset: "utf8",
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
  logLevel: "error",
  write: false,
};
// Chromium compiles all functions of a script that begins with this at once, instead of each when it is first called. What runs from
// beginning to end when a view opens starts sooner for it; 300 KB of which little runs would start later, so ext-apps is without it.
const EAGER = "//# allFunctionsCalledOnLoad\n";
const PROXIES = [
  ["default", "adapters/default.proxy.js"],
  ["transom", "../../web/src/sandbox.ts"],
  ["porch", "../../web/src/porch.ts"],
];
const adapter = (file) => path.join(HOME, "adapters", file);
const inline = (script) =>
  script.replaceAll(/<\/(script)/gi, "<\\/$1").replaceAll("<!--", "<\\!--");

/** Builds every adapter named (with or without "+quiet"), the proxies and the top page. */
export async function buildAdapters(names, { minify = true } = {}) {
  const dist = path.join(HOME, "dist");
  mkdirSync(dist, { recursive: true });
  const put = (file, text) => writeFileSync(path.join(dist, file), text);

  for (const name of new Set(names.map((name) => name.replace("+quiet", "")))) {
    put(`host.${name}.js`, await bundle("host", name, minify));
    put(
      `hostframe.${name}.html`,
      page(`<script type="module" src="/host.${name}.js"></script>`),
    );
    const view = `<script type="module">${name.startsWith("ext-apps") ? "" : EAGER}${inline(await bundle("view", name, minify))}</script>`;
    put(`view.${name}.html`, view);
    put(`guest.${name}.html`, page(view));
  }
  for (const [name, entry] of PROXIES)
    put(
      `proxy.${name}.js`,
      await esbuild({
        entryPoints: [path.join(HOME, entry)],
        format: "iife",
        minify,
      }),
    );
  put(
    "orchestrator.js",
    await esbuild({ entryPoints: [path.join(HOME, "lib/orchestrator.js")] }),
  );
  for (const [file, entry] of [
    ["windows.html", "windows-outer"],
    ["guest.windows.html", "windows-inner"],
  ]) {
    const script = await esbuild({
      entryPoints: [path.join(HOME, `lib/${entry}.js`)],
      minify,
    });
    put(file, page(`<script type="module">${EAGER}${inline(script)}</script>`));
  }
  put(
    "bench.html",
    page('<script type="module" src="/orchestrator.js"></script>'),
  );
}

const page = (script) =>
  `<!doctype html><html><head><meta charset="utf-8"></head><body>${script}</body></html>`;

// "// @bundler rollup" in an adapter's first line asks for Rollup and then esbuild's minifier, which is what a Vite app
// ships and the smaller of the two for ext-apps.
async function bundle(side, name, minify) {
  const file = adapter(`${name}.${side}.js`);
  if (!existsSync(file))
    throw new Error(`adapters/${name}.${side}.js not found`);
  const entry = path.join(HOME, `lib/${side}-runtime.js`);
  if (!readFileSync(file, "utf8").startsWith("// @bundler rollup"))
    return esbuild({
      entryPoints: [entry],
      alias: { "#adapter": file },
      minify,
    });
  const { rollup } = await import("rollup");
  const { nodeResolve } = await import("@rollup/plugin-node-resolve");
  const standIn = {
    name: "adapter",
    resolveId: (id) => (id === "#adapter" ? file : null),
  };
  const bundled = await rollup({
    input: entry,
    onwarn() {},
    plugins: [standIn, nodeResolve({ browser: true })],
  });
  const { output } = await bundled.generate({
    format: "esm",
    inlineDynamicImports: true,
  });
  if (!minify) return output[0].code;
  return (
    await transform(output[0].code, {
      minify: true,
      target: "es2022",
      format: "esm",
      legalComments: "none",
    })
  ).code;
}

async function esbuild(options) {
  return (await build({ ...OPTIONS, ...options })).outputFiles[0].text;
}
