// Takes one defence after the other away in a copy of the tree, and expects its test to fail there.
//   node without.mjs COPY [words]     the copy is made anew from the tree; words pick defences by their names
//   node without.mjs COPY --together [words]     takes all of them away at once, for one build: quicker, and a test may then
//                                                fail for want of another's defence
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { DEFENCES, fileOf } from "./defences.mjs";

const TOGETHER = "--together";
const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const [copy, ...given] = process.argv.slice(2);
const words = given.filter((word) => word !== TOGETHER);
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

/** What became of its test: the names of those that failed; nothing if it was not even built. */
function failures({ test, unit, kills }) {
  if (unit) {
    const [crate, ...rest] = unit;
    const { stdout } = run("cargo", ["test", "--package", crate, ...rest]);
    const ran = [...stdout.matchAll(/^test (\S+) \.\.\. (ok|FAILED)$/gm)];
    return ran.length > 0 ? ran.filter(([, , word]) => word === "FAILED").map(([, name]) => name) : undefined;
  }
  const { status, stderr } = build();
  if (status !== 0) return void process.stderr.write(stderr);
  const [file, name] = test;
  const { stdout } = run("node", ["e2e/run.mjs", fileOf(file), `--name=${name}`], kills && { TRANSOM_KILLS: String(kills) });
  return [...stdout.matchAll(/^failed: (.*)$/gm)].map(([, name]) => name);
}

const chosen = DEFENCES.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const testOf = ({ test, unit }) => test?.join(": ") ?? unit.join(" ");

// A test that fails with every defence in its place proves nothing by failing without one.
const broken = chosen.filter((defence) => failures(defence)?.length !== 0);
if (broken.length > 0) {
  process.stderr.write(`these fail as they are:\n${broken.map((defence) => `  ${testOf(defence)}\n`).join("")}`);
  process.exit(1);
}

let missed = 0;
function judge(defence) {
  const failed = failures(defence);
  const word = failed ? (failed.length > 0 ? "red" : "GREEN") : "DOES NOT BUILD";
  if (word !== "red") missed++;
  process.stdout.write(`| ${defence.name} | ${failed?.join("; ").replaceAll("|", "\\|") || testOf(defence)} | ${word} |\n`);
}
const together = given.includes(TOGETHER);
const backs = together ? chosen.map(change) : [];
for (const defence of chosen) {
  const back = together ? () => {} : change(defence);
  judge(defence);
  back();
}
// Two may stand in one file.
backs.reverse().forEach((back) => back());
process.exitCode = missed === 0 ? 0 : 1;
