import { fileURLToPath } from "node:url";
import { compile } from "svelte/compiler";
import { defineConfig } from "vitest/config";

// The same tests on the source and on what is shipped.
const built = process.env.TRANSOM_TEST === "dist";
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const module = (name: string) =>
  at(built ? `dist/${name}.js` : `src/${name}.ts`);

export default defineConfig({
  plugins: [
    {
      // The workbench stands beside this package and has its packages.
      name: "workbench",
      resolveId(source, importer) {
        const bare = !/^[./]/.test(source);
        return bare && importer?.includes("/workbench/")
          ? this.resolve(source, at("package.json"))
          : undefined;
      },
    },
    {
      name: "svelte",
      transform: (code, filename) =>
        filename.endsWith(".svelte")
          ? compile(code, { filename, generate: "client" }).js
          : undefined,
    },
  ],
  resolve: {
    // Frameworks have another build for servers, in which nothing is ever mounted.
    conditions: ["browser"],
    alias: [
      { find: /^transom$/, replacement: module("index") },
      { find: /^transom\/fetch$/, replacement: module("fetch/index") },
      { find: /^transom\/frames$/, replacement: module("frames/index") },
      { find: /^transom\/(fetch\/[\w-]+)$/, replacement: module("$1") },
      { find: /^transom\/(frames\/[\w-]+)$/, replacement: module("$1") },
      { find: /^transom\/(\w+)$/, replacement: module("$1") },
    ],
  },
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    environment: "happy-dom",
    environmentOptions: {
      happyDOM: {
        settings: { disableIframePageLoading: true },
      },
    },
    setupFiles: ["test/setup.ts"],
    server: { deps: { inline: ["svelte", "solid-js"] } },
  },
});
