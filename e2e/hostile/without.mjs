// Takes one defence after the other away in a copy of the tree, and expects its test to fail there.
//   node without.mjs COPY [words]     the copy is made anew from the tree; words pick defences by their names
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { DEFENCES, fileOf } from "./defences.mjs";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const [copy, ...words] = process.argv.slice(2);
mkdirSync(copy, { recursive: true });

// What git knows and what is changed, but nothing that was built. What is the same already is left alone, and what is not
// is newer than anything built of it, so that cargo builds what differs, also after a run that was broken off.
const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28 });
const same = (one, other) => existsSync(other) && readFileSync(one).equals(readFileSync(other));
for (const file of files.split("\0").filter((file) => file && existsSync(path.join(ROOT, file))))
  if (!same(path.join(ROOT, file), path.join(copy, file))) cpSync(path.join(ROOT, file), path.join(copy, file));
for (const folder of ["e2e/node_modules", "e2e/servers/node_modules"])
  if (!existsSync(path.join(copy, folder))) symlinkSync(path.join(ROOT, folder), path.join(copy, folder));

const env = { ...process.env, CARGO_TARGET_DIR: path.join(copy, "target") };
const run = (command, args, more = {}) => {
  // Somebody may want every heavy step behind something of theirs.
  const [first, ...rest] = [...(process.env.BEFORE?.split(" ") ?? []), command, ...args];
  return spawnSync(first, rest, { cwd: copy, env: { ...env, ...more }, encoding: "utf8", maxBuffer: 1 << 28 });
};
const build = () => run("cargo", ["build", "--quiet", "--workspace", "--bins"]);

/** Changes a file of the copy; returns what changes it back. */
function change({ file, find, put, also }) {
  const place = path.join(copy, file);
  const text = readFileSync(place, "utf8");
  if (text.split(find).length !== 2) throw new Error(`${file} does not hold this exactly once: ${find}`);
  writeFileSync(place, text.replace(find, () => put));
  const back = also && change(also);
  return () => (writeFileSync(place, text), back?.());
}

/** What became of the one test: its names that failed, or nothing. */
function failures([file, name], kills) {
  const { stdout } = run("node", ["e2e/run.mjs", fileOf(file), `--name=${name}`], kills && { TRANSOM_KILLS: String(kills) });
  return [...stdout.matchAll(/^failed: (.*)$/gm)].map(([, name]) => name);
}

const chosen = DEFENCES.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

// A test that fails with every defence in its place proves nothing by failing without one.
const { status, stderr } = build();
const broken = status === 0 ? chosen.filter(({ test, kills }) => failures(test, kills).length > 0) : chosen;
if (broken.length > 0) {
  process.stderr.write(`${stderr}these fail as they are:\n${broken.map(({ test }) => `  ${test.join(": ")}\n`).join("")}`);
  process.exit(1);
}

let missed = 0;
for (const defence of chosen) {
  const back = change(defence);
  const { status, stderr } = build();
  const failed = status === 0 ? failures(defence.test, defence.kills) : [];
  back();
  const word = status === 0 ? (failed.length > 0 ? "red" : "GREEN") : "DOES NOT BUILD";
  if (word !== "red") missed++;
  process.stdout.write(`| ${defence.name} | ${failed.join("; ").replaceAll("|", "\\|") || defence.test.join(": ")} | ${word} |\n`);
  if (status !== 0) process.stderr.write(stderr);
}
process.exitCode = missed === 0 ? 0 : 1;
