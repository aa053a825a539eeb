/** Sentences about the source that must stay true. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => [name, readFileSync(`src/${name}`, "utf8")] as const);
const code = (text: string) => text.replace(/\/\*[^]*?\*\/|\/\/.*/g, "");

describe.each(sources)("%s", (name, text) => {
  // The porch stands in for a window's own function, and has nobody to tell from anybody.
  test.runIf(name !== "port.ts" && name !== "porch.ts")(
    "only port.ts posts messages or listens for them",
    () => {
      expect(code(text)).not.toMatch(
        /\.postMessage\(|addEventListener\(\s*["']message["']|(?<!socket|lane)\.onmessage\s*=[^=]/,
      );
    },
  );

  test("no console, no any, no eval, no storage, no default export", () => {
    expect(code(text)).not.toMatch(
      /\bconsole\b|:\s*any\b|\bas any\b|\beval\(|new Function|localStorage|sessionStorage|document\.cookie|export default/,
    );
  });

  test("no HTML from a string", () => {
    expect(code(text)).not.toMatch(
      /innerHTML|insertAdjacentHTML|document\.write/,
    );
  });
});
