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

/** Documents with a framework: on the newest ext-apps, and on our own package for that framework. */
export const frameworkView = Object.fromEntries(
  Object.entries({
    vue: [".vue", `import { createApp } from "vue";`, "createApp(View).mount(root);"],
    svelte: [".svelte", `import { mount } from "svelte";`, "mount(View, { target: root });"],
    solid: [".solid.jsx", `import { render } from "solid-js/web";`, "render(View, root);"],
  }).flatMap(([name, [kind, imports, draw]]) => {
    const make = (file) => () => document(`${imports} import View from "./${file}${kind}"; ${MOUNT} ${draw}`);
    return [
      [name, make("View")],
      [`transom/${name}`, make("Ours")],
    ];
  }),
);

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
    alias: {
      "ext-apps": path.join(VIEWS, "node_modules", `ext-apps-${version}`),
      ...Object.fromEntries(["vue", "svelte", "solid"].map((name) => [`transom/${name}`, path.resolve(HERE, `../../web/src/${name}.ts`)])),
    },
    define: { "process.env.NODE_ENV": '"production"', __VUE_OPTIONS_API__: "false", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false" },
    nodePaths: [path.join(VIEWS, "node_modules")],
    plugins: [one, vue, svelte, solid],
  });
  const html = readFileSync(path.join(HERE, "view.html"), "utf8");
  return html.replace("/* the view */", () => inline(outputFiles[0].text));
}

/** One copy of each framework, whoever imports it: our package has another one beside it for its own tests. */
const one = {
  name: "one",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^(vue|svelte|solid-js)(\/|$)/ }, ({ path: wanted, kind, pluginData }) =>
      pluginData === one ? undefined : resolve(wanted, { kind, resolveDir: VIEWS, pluginData: one }),
    );
  },
};

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
