// `transom doctor` on servers that are broken in one way each: it stops at the step, names the cause and says what to change.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "../rig/test.mjs";
import { binary } from "../rig/host.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "transom-doctor-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const broken = fileURLToPath(new URL("../servers/broken.mjs", import.meta.url));

/** What the doctor says of a server. */
function look(mood, words = []) {
  const args = ["doctor", "--no-toml", "--json", ...words, "--", process.execPath, broken, mood];
  return new Promise((done) => {
    execFile(binary(), args, { timeout: 100_000 }, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      done({ code, stderr, report: stdout ? JSON.parse(stdout) : undefined });
    });
  });
}

test("a view that is whole is followed to its size, and pictured", async () => {
  const shot = path.join(folder, "seen.png");
  const { code, report, stderr } = await look("whole", ["--screenshot", shot, "--wait", "8"]);
  assert.equal(code, 0, `${stderr} ${JSON.stringify(report, null, 1)}`);
  assert.ok(report.steps.every(({ state }) => state === "ok"));
  assert.equal(readFileSync(shot).subarray(1, 4).toString(), "PNG");
});

const CAUSES = [
  ["no-server", "connect"],
  ["no-tools", "list"],
  ["no-link", "link"],
  ["no-document", "read"],
  ["wrong-mime", "mime"],
  ["no-jsonrpc", "initialize"],
  ["csp", "initialize"],
  ["script-error", "initialize"],
  ["wrong-window", "initialize"],
  ["srcdoc", "initialize"],
  ["no-script", "initialize"],
  ["never-connects", "initialize"],
  ["wrong-source", "initialized"],
  ["tool-failed", "result"],
  ["no-handler", "paint"],
];
for (const [cause, step] of CAUSES)
  test(`${cause} is found at ${step}`, async () => {
    const { code, report, stderr } = await look(cause, ["--wait", "5"]);
    const found = report?.steps.find(({ state }) => state === "broken");
    assert.deepEqual([found?.name, found?.cause, code], [step, cause, 1], `${stderr} ${JSON.stringify(report, null, 1)}`);
    assert.ok(found.advice.length > 20 && found.words.length > 5);
    assert.ok(report.steps.at(-1).state === "not-reached");
  });
