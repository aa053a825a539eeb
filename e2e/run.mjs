// Runs the browser tests and ends with the slowest files and one line: `N passed, N failed`.
//   node run.mjs                    everything
//   node run.mjs attacks lane       files whose path contains a word
//   node run.mjs --name=ATK-27      tests whose name contains these words
import { readdirSync } from "node:fs";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const given = process.argv.slice(2);
const words = given.filter((word) => !word.startsWith("--name="));
const names = given.filter((word) => word.startsWith("--name="));
const home = path.dirname(fileURLToPath(import.meta.url));
const files = ["tests", "hostile"]
  .flatMap((folder) =>
    readdirSync(path.join(home, folder)).map((name) => `${folder}/${name}`),
  )
  .filter((name) => name.endsWith(".test.mjs"))
  .filter(
    (name) => words.length === 0 || words.some((word) => name.includes(word)),
  )
  .map((name) => path.join(home, name));

const plain = (text) => text.replaceAll(/[^\w ]/g, "\\$&");
let passed = 0;
const failed = [];
const seconds = new Map();
// A file that cannot even start is reported as a test under its own path; one that ran is not.
const stream = run({
  files,
  concurrency: 2,
  timeout: 900_000,
  ...(names.length > 0 && {
    testNamePatterns: names.map((name) => RegExp(plain(name.slice("--name=".length)))),
  }),
});
stream.on("test:pass", ({ name }) => {
  if (!files.includes(name)) passed += 1;
});
stream.on("test:fail", ({ name, details }) => {
  if (details?.error?.failureType !== "subtestsFailed") failed.push(name);
});
stream.on("test:complete", ({ name, details }) => {
  if (files.includes(name)) seconds.set(name, details.duration_ms / 1000);
});
const report = stream.compose(new spec());
report.pipe(process.stdout, { end: false });
report.on("end", () => {
  const slowest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, 10);
  for (const [name, spent] of slowest)
    process.stdout.write(`${spent.toFixed(1).padStart(7)} s  ${path.relative(home, name)}\n`);
  process.stdout.write(failed.map((name) => `failed: ${name}\n`).join(""));
  process.stdout.write(`${passed} passed, ${failed.length} failed\n`);
  process.exitCode = failed.length === 0 && passed > 0 ? 0 : 1;
});
