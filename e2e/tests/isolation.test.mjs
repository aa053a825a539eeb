// `transom isolation`: nothing gets out with a host, nearly everything without one. The second half is what gives the
// first its weight: each attempt is shown to work where nothing stops it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { binary } from "../rig/host.mjs";
import { test } from "../rig/test.mjs";

function isolation(...args) {
  return new Promise((done) => {
    const words = ["isolation", "--json", "--port", String(17_520 + process.pid % 20_000), ...args];
    execFile(binary(), words, (error, stdout, stderr) => {
      done({ code: error?.code ?? 0, stderr, report: stdout && JSON.parse(stdout) });
    });
  });
}
const those = (report, ...outcomes) =>
  report.findings.filter(({ outcome }) => outcomes.includes(outcome)).map(({ id }) => id);

test("H-26 a hostile view in the real host gets nothing out that a host can keep in", async () => {
  const { code, stderr, report } = await isolation();
  assert.deepEqual(those(report, "escaped", "broken", "not-tried"), [], stderr);
  assert.equal(code, 0);
  // What no host can close is named, and is no longer than this.
  assert.deepEqual(those(report, "open"), ["preconnect", "webrtc"]);
  assert.ok(those(report, "blocked").length >= 50);
});

test("the same attempts succeed where there is no host", async () => {
  const { code, report } = await isolation("--naive");
  assert.equal(code, 1);
  // Without a host there is nobody to be lied to, and Chromium prefetches to its own rules.
  const hostOnly = ["host-socket", "ready-spoof", "call-spoof", "foreign-tool", "speculation"];
  assert.deepEqual(those(report, "blocked").filter((id) => !hostOnly.includes(id)), []);
  assert.ok(those(report, "escaped").length >= 45);
});

test("a browser that is not there is said to be missing", async () => {
  const { code, stderr } = await isolation("--browser", "/nowhere/chromium");
  assert.equal(code, 2);
  assert.match(stderr, /cannot start .*chromium/);
});
