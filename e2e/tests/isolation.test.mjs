// `transom isolation`: nothing gets out with a host, nearly everything without one. The second half is what gives the
// first its weight: each attempt is shown to work where nothing stops it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { binary } from "../rig/host.mjs";
import { test } from "../rig/test.mjs";

// More than all that the command itself is ready to wait for, so that it is the one to say what it waited for.
const LIMIT = 420_000;

function isolation(...args) {
  // Below the ports that systems hand out by themselves; where one is taken all the same, the command takes the next pair.
  const port = 17_520 + (process.pid % 7_000) * 2;
  const words = ["isolation", "--json", "--port", String(port), ...args];
  return new Promise((done) => {
    execFile(binary(), words, { timeout: LIMIT - 30_000, killSignal: "SIGINT" }, (error, stdout, stderr) => {
      done({ code: error?.code ?? error?.signal ?? 0, stderr, report: stdout ? JSON.parse(stdout) : undefined });
    });
  });
}

/** Its report; without one, what it said instead. */
async function findings(...args) {
  const { code, stderr, report } = await isolation(...args);
  assert.ok(report, `no report, but ${code}: ${stderr}`);
  const those = (...outcomes) => report.findings.filter(({ outcome }) => outcomes.includes(outcome));
  return {
    code,
    those: (...outcomes) => those(...outcomes).map(({ id }) => id),
    /** Fails, and says what became of them, unless there are none but these. */
    none(outcomes, but = []) {
      const found = those(...outcomes).filter(({ id }) => !but.includes(id));
      const lines = found.map(({ id, outcome, how }) => `  ${id}: ${outcome} (${how ?? "without a word"})`);
      assert.equal(lines.length, 0, `in ${report.browser}\n${lines.join("\n")}\n${stderr}`);
    },
  };
}

// What no host can close.
const OPEN = ["preconnect", "webrtc"];

test(
  "H-26 a hostile view in the real host gets nothing out that a host can keep in",
  async () => {
    const { code, those, none } = await findings();
    none(["escaped", "broken", "not-tried"]);
    assert.equal(code, 0);
    // It is named, and is no longer than this. That it would be heard is shown without a host.
    none(["open"], OPEN);
    assert.ok(those("blocked").length >= 50);
  },
  LIMIT,
);

test(
  "the same attempts succeed where there is no host",
  async () => {
    const { code, those, none } = await findings("--naive");
    assert.equal(code, 1);
    // Without a host there is nobody to be lied to, and Chromium prefetches to its own rules.
    none(["blocked", "broken", "not-tried"], ["host-socket", "ready-spoof", "call-spoof", "foreign-tool", "call-twin", "port-object", "speculation"]);
    assert.deepEqual(those("open"), OPEN);
    assert.ok(those("escaped").length >= 45);
  },
  LIMIT,
);

test("a browser that is not there is said to be missing", async () => {
  const { code, stderr } = await isolation("--browser", "/nowhere/chromium");
  assert.equal(code, 2);
  assert.match(stderr, /cannot start .*chromium/);
});
