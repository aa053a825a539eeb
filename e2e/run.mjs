// Runs the browser tests and ends with the slowest files and one line: `N passed, N failed`.
//   node run.mjs                    everything
//   node run.mjs attacks lane       files whose path contains a word
//   node run.mjs --name=ATK-27      tests whose name contains these words
import { once } from "node:events";
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
  );

// What takes long comes first, so that nothing long is left over at the end; the table below says when this is out of date.
const LONG = [
  "tests/matrix",
  "tests/host-published",
  "tests/attacks-data",
  "hostile/flood",
  "tests/examples",
  "tests/guides",
  "tests/element",
  "tests/lane",
  "tests/attacks-origin",
  "tests/lifecycle",
  "tests/attacks-session",
  "tests/server-conformance",
].map((name) => `${name}.test.mjs`);
// What waits for a minute and does nothing meanwhile: beside the others, of which there are as many as cores.
const IDLE = ["tests/host-bad-servers.test.mjs"];
const rank = (name) => (LONG.indexOf(name) + LONG.length + 1) % (LONG.length + 1);
const absolute = (name) => path.join(home, name);
const lanes = [
  { concurrency: 1, files: files.filter((name) => IDLE.includes(name)) },
  {
    concurrency: 2,
    files: files
      .filter((name) => !IDLE.includes(name))
      .sort((a, b) => rank(a) - rank(b)),
  },
]
  .filter(({ files }) => files.length > 0)
  .map((lane) => ({ ...lane, files: lane.files.map(absolute) }));
const all = lanes.flatMap(({ files }) => files);

const plain = (text) => text.replaceAll(/[^\w ]/g, "\\$&");
let passed = 0;
const failed = [];
const seconds = new Map();
const settings = {
  timeout: 900_000,
  ...(names.length > 0 && {
    testNamePatterns: names.map((name) => RegExp(plain(name.slice("--name=".length)))),
  }),
};

async function play(lane) {
  const stream = run({ ...lane, ...settings });
  // A file that cannot even start is reported as a test under its own path; one that ran is not.
  stream.on("test:pass", ({ name }) => {
    if (!all.includes(name)) passed += 1;
  });
  stream.on("test:fail", ({ name, details }) => {
    if (details?.error?.failureType !== "subtestsFailed") failed.push(name);
  });
  stream.on("test:complete", ({ name, details }) => {
    if (all.includes(name)) seconds.set(name, details.duration_ms / 1000);
  });
  const report = stream.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await once(report, "end");
}
await Promise.all(lanes.map(play));

const slowest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, 10);
for (const [name, spent] of slowest)
  process.stdout.write(
    `${spent.toFixed(1).padStart(7)} s  ${path.relative(home, name)}\n`,
  );
process.stdout.write(failed.map((name) => `failed: ${name}\n`).join(""));
process.stdout.write(`${passed} passed, ${failed.length} failed\n`);
process.exitCode = failed.length === 0 && passed > 0 ? 0 : 1;
