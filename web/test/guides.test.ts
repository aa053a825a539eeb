/** The TypeScript of the README and the guides, compiled as a reader would. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const PAGES = ["README.md", "../docs/views.md", "../docs/host.md"];

const listings = PAGES.flatMap((page) =>
  [...readFileSync(page, "utf8").matchAll(/^```(tsx?)\n([^]*?)^```$/gm)].map(
    ([, kind, code], index) => ({
      name: `${path.basename(page, ".md")}-${index}.${kind}`,
      code: code!,
    }),
  ),
);

test("every page has some", () => {
  expect(listings.length).toBeGreaterThanOrEqual(5);
});

test("they compile", () => {
  // Beside the sources, so that packages are found where ours are.
  const folder = mkdtempSync(path.resolve(".guides-"));
  try {
    const config = {
      extends: path.resolve("tsconfig.test.json"),
      compilerOptions: {
        types: [],
        lib: ["es2022", "dom", "dom.iterable"],
        moduleDetection: "force",
      },
      include: [],
      files: listings.map(({ name }) => name),
    };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
    for (const { name, code } of listings)
      writeFileSync(path.join(folder, name), code);
    expect(compile(folder)).toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);

/** What the compiler says. */
function compile(folder: string): string {
  try {
    execFileSync("node_modules/.bin/tsc", ["-p", folder], {
      encoding: "utf8",
    });
    return "";
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
