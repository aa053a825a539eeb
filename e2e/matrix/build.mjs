// Builds the matrix's views, each with its library as its authors would: one document, nothing beside it.
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inline } from "../rig/bundle.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const VIEWS = path.resolve(HERE, "../views");
const require = createRequire(path.join(VIEWS, "package.json"));

/** A document on one line of ext-apps, without a framework. */
export const plainView = (version) => document(`import ${JSON.stringify(path.join(HERE, "view.js"))};`, version);

/** A document with a framework, on the newest ext-apps. */
export const frameworkView = {
  vue: () => document(`import { createApp } from "vue"; import View from "./View.vue"; ${MOUNT} createApp(View).mount(root);`),
  svelte: () => document(`import { mount } from "svelte"; import View from "./View.svelte"; ${MOUNT} mount(View, { target: root });`),
  solid: () => document(`import { render } from "solid-js/web"; import View from "./View.solid.jsx"; ${MOUNT} render(View, root);`),
};

const MOUNT = `const root = document.createElement("main"); document.body.replaceChildren(root);`;

async function document(contents, version = "2.0.4") {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: HERE },
    bundle: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    logLevel: "error",
    minify: true,
    write: false,
    conditions: ["browser", "svelte"],
    alias: { "ext-apps": path.join(VIEWS, "node_modules", `ext-apps-${version}`) },
    define: { "process.env.NODE_ENV": '"production"', __VUE_OPTIONS_API__: "false", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false" },
    nodePaths: [path.join(VIEWS, "node_modules")],
    plugins: [vue, svelte, solid],
  });
  const html = readFileSync(path.join(HERE, "view.html"), "utf8");
  return html.replace("/* the view */", () => inline(outputFiles[0].text));
}

const vue = compiled("vue", /\.vue$/, (source, filename) => {
  const { parse, compileScript } = require("vue/compiler-sfc");
  const { descriptor } = parse(source, { filename });
  return compileScript(descriptor, { id: "view", inlineTemplate: true }).content;
});

const svelte = compiled("svelte", /\.svelte$/, (source, filename) => {
  const { compile } = require("svelte/compiler");
  return compile(source, { filename, generate: "client" }).js.code;
});

const solid = compiled("solid", /\.solid\.jsx$/, async (source, filename) => {
  const { transformAsync } = require("@babel/core");
  const presets = [require.resolve("babel-preset-solid")];
  return (await transformAsync(source, { filename, presets, babelrc: false, configFile: false })).code;
});

function compiled(name, filter, compile) {
  return {
    name,
    setup({ onLoad }) {
      onLoad({ filter }, async ({ path: file }) => ({ contents: await compile(readFileSync(file, "utf8"), file), loader: "js" }));
    },
  };
}
