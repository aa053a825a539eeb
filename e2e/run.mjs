// Runs the browser tests and ends with one line: `N passed, N failed`.
//   node run.mjs                    everything
//   node run.mjs attacks lane       files whose name contains a word
import { readdirSync } from "node:fs";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const words = process.argv.slice(2);
const home = path.join(path.dirname(fileURLToPath(import.meta.url)), "tests");
const files = readdirSync(home)
  .filter((name) => name.endsWith(".test.mjs"))
  .filter(
    (name) => words.length === 0 || words.some((word) => name.includes(word)),
  )
  .map((name) => path.join(home, name));

let passed = 0;
const failed = [];
// A file that cannot even start is reported as a test under its own path; one that ran is not.
const stream = run({ files, concurrency: 2, timeout: 900_000 });
stream.on("test:pass", ({ name }) => {
  if (!files.includes(name)) passed += 1;
});
stream.on("test:fail", ({ name, details }) => {
  if (details?.error?.failureType !== "subtestsFailed") failed.push(name);
});
const report = stream.compose(new spec());
report.pipe(process.stdout, { end: false });
report.on("end", () => {
  process.stdout.write(failed.map((name) => `failed: ${name}\n`).join(""));
  process.stdout.write(`${passed} passed, ${failed.length} failed\n`);
  process.exitCode = failed.length === 0 && passed > 0 ? 0 : 1;
});
