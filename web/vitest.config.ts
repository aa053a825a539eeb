import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// The same tests on the source and on what is shipped.
const built = process.env.TRANSOM_TEST === "dist";
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const module = (name: string) =>
  at(built ? `dist/${name}.js` : `src/${name}.ts`);

export default defineConfig({
  resolve: {
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
  },
});
