// What `scripts/without-defences` takes away is still there, and so are the tests that are to notice.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "../rig/test.mjs";
import { DEFENCES, fileOf } from "./defences.mjs";

const read = (file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

test("every defence stands where it is said to stand, exactly once", () => {
  const places = DEFENCES.flatMap(({ also, ...defence }) => [defence, ...(also ? [also] : [])]);
  const lost = places.filter(({ file, find }) => read(file).split(find).length !== 2);
  assert.deepEqual(lost.map(({ file, find }) => `${file}: ${find}`), []);
});

/** A file of tests with what it imports from beside it: some tests are named there. */
function named(file) {
  const text = read(`e2e/${fileOf(file)}.test.mjs`);
  return [text, ...[...text.matchAll(/from "\.\/(\w+\.mjs)"/g)].map(([, name]) => read(`e2e/hostile/${name}`))].join("\n");
}

/** The Rust files of a crate, its tests included. */
function sources(crate) {
  const home = new URL(`../../crates/${crate}/`, import.meta.url);
  const files = readdirSync(home, { recursive: true }).filter((name) => name.endsWith(".rs"));
  return files.map((name) => readFileSync(new URL(name, home), "utf8")).join("\n");
}

test("every test that is to notice is there", () => {
  const browser = DEFENCES.filter(({ test }) => test);
  const lost = browser.filter(({ test: [file, words] }) => !named(file).includes(words));
  assert.deepEqual(lost.map(({ test }) => test.join(": ")), []);
  const rust = DEFENCES.filter(({ unit }) => unit);
  const missing = rust.filter(({ unit }) => !new RegExp(`fn \\w*${unit.at(-1)}\\w*\\(`).test(sources(unit[0])));
  assert.deepEqual(missing.map(({ unit }) => unit.join(" ")), []);
  assert.equal(browser.length + rust.length, DEFENCES.length);
});
