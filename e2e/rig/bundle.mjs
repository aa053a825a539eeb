// Turns an entry file, or a few lines of source, into one script for a page. Bundles are made once per process.
import { build } from "esbuild";
import path from "node:path";
import { fileURLToPath } from "node:url";

const HOME = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const made = new Map();

/** Bundles a file of `pages/` (or an absolute path) into a classic script; `alias` puts one module in the place of another. */
export function bundle(file, alias = {}) {
  const entry = path.resolve(HOME, "pages", file);
  const key = JSON.stringify([entry, alias]);
  if (!made.has(key)) made.set(key, esbuild({ entryPoints: [entry] }, alias));
  return made.get(key);
}

/** Wraps scripts into a document; each is inlined, as a real ui:// resource does it. */
export function page({ scripts = [], head = "", body = "", lang = "en" }) {
  const inlined = scripts
    .map((script) => `<script>${inline(script)}</script>`)
    .join("\n");
  return `<!doctype html><html lang="${lang}"><head><meta charset="utf-8">${head}</head><body>${body}${inlined}</body></html>`;
}

/** Makes a script safe to stand between script tags. */
export function inline(script) {
  return script
    .replaceAll(/<\/(script)/gi, "<\\/$1")
    .replaceAll("<!--", "<\\!--");
}

async function esbuild(options, alias) {
  const { outputFiles } = await build({
    bundle: true,
    format: "iife",
    target: "es2022",
    platform: "browser",
    charset: "utf8",
    legalComments: "none",
    logLevel: "error",
    write: false,
    // One React for the view and for our hooks; in development, because only there StrictMode mounts twice.
    alias: {
      transom: path.resolve(HOME, "../web/src/index.ts"),
      react: path.resolve(HOME, "node_modules/react"),
      ...alias,
    },
    define: { "process.env.NODE_ENV": '"development"' },
    nodePaths: [path.join(HOME, "node_modules")],
    ...options,
  });
  return outputFiles[0].text;
}
