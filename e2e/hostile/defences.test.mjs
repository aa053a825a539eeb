// What `scripts/without-defences` takes away is still there, and so are the tests that are to notice.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "../rig/test.mjs";
import { DEFENCES } from "./defences.mjs";

const read = (file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

test("every defence stands where it is said to stand, exactly once", () => {
  const places = DEFENCES.flatMap(({ also, ...defence }) => [defence, ...(also ? [also] : [])]);
  const lost = places.filter(({ file, find }) => read(file).split(find).length !== 2);
  assert.deepEqual(lost.map(({ file, find }) => `${file}: ${find}`), []);
});

test("every test that is to notice is there", () => {
  const lost = DEFENCES.filter(({ test: [file, words] }) => !read(`e2e/hostile/${file}.test.mjs`).includes(words));
  assert.deepEqual(lost.map(({ test }) => test.join(": ")), []);
});
