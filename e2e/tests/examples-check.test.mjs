// `transom check` has nothing to say about the examples, over pipes and over HTTP; nor does dev mode hide a document from it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { after, test } from "../rig/test.mjs";
import { EXAMPLES, example, startExample } from "../rig/examples.mjs";
import { binary, hostile } from "../rig/host.mjs";

const RECIPE = { title: "Toast", ingredients: [{ amount: "1", name: "bread" }], steps: ["Toast bread for 4 minutes."] };
// What a tool needs to be called; all the others are called unasked, because they only read.
const CALLS = { weather: [`get_forecast={"place":"Lisbon"}`], recipe: [`write_recipe=${JSON.stringify(RECIPE)}`] };

const check = (...words) =>
  new Promise((done) => {
    const child = execFile(binary(), ["check", ...words], { maxBuffer: 1 << 26 }, (_, out, err) => done({ code: child.exitCode, out, err }));
  });

for (const name of [...EXAMPLES, "shop"])
  test(`${name}: clean, with every tool called that opens its view`, async () => {
    const server = await startExample(name);
    after(() => server.stop());
    const { command } = example(name);
    const calls = (CALLS[name] ?? []).flatMap((call) => ["--call", call]);
    // The gallery's pictures are on this machine, which is worth a note, and on purpose.
    const noted = name === "gallery" ? ["--ignore", "server-11"] : [];
    const { code, out, err } = await check("--level", "note", "--json", ...noted, ...calls, server.url, "--", command);
    const { servers } = JSON.parse(out);
    assert.equal(servers.length, 2, err);
    for (const { place, findings, notChecked, lookedAt } of servers) {
      assert.deepEqual(findings, [], place);
      // What a backend sends in answer to a carried request, no look from outside can try.
      const untried = notChecked.filter(({ rules }) => name !== "shop" || !rules.includes("server-23"));
      assert.deepEqual(untried, [], place);
      assert.equal(lookedAt.calls, 1, place);
    }
    assert.equal(code, 0, err);
  });

test("a server in dev mode is judged by its documents, and the report says so", async () => {
  const { command } = example("weather");
  const words = ["--level", "note", "--call", CALLS.weather[0]];
  const still = await check(...words, "--json", "--", command);
  const live = await check(...words, "--json", "--env", "TRANSOM_DEV=1", "--", command);
  assert.equal(live.code, 0, live.out + live.err);
  const [[before], [after]] = [still, live].map(({ out }) => JSON.parse(out).servers);
  assert.deepEqual([before.dev, after.dev], [false, true]);
  assert.deepEqual(after.findings, before.findings);
  const { out } = await check(...words, "--env", "TRANSOM_DEV=1", "--", command);
  assert.match(out, /in dev mode \(TRANSOM_DEV=1\)/);
});

test("a SARIF log fits the schema that OASIS published", async () => {
  const schema = createRequire(import.meta.url).resolve("schemastore/schemas/json/sarif-2.1.0.json");
  // One of its patterns is none where regular expressions know Unicode.
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  addFormats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(schema, "utf8")));
  const { command, args } = hostile("suspect");
  // One that has much to say, and one that is not there.
  const { code, out } = await check("--level", "note", "--sarif", "http://127.0.0.1:9/mcp", "--", command, ...args);
  assert.equal(code, 2);
  const log = JSON.parse(out);
  assert.ok(log.runs.some(({ results }) => results.length > 3));
  assert.ok(validate(log), JSON.stringify(validate.errors?.slice(0, 5)));
  assert.ok(!validate({ ...log, runs: [{ ...log.runs[0], results: [{ level: "grave" }] }] }), "which is one that refuses");
});
