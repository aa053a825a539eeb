// The published conformance suite's scenarios for servers, played against the examples over HTTP.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { after, test } from "../rig/test.mjs";
import { startExample } from "../rig/examples.mjs";

const suite = new URL("../servers/node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url);
const folder = mkdtempSync(path.join(tmpdir(), "transom-conformance-"));
after(() => rmSync(folder, { recursive: true, force: true }));
// It is started once for each scenario, and reads some hundred modules to start: in one file it does so in a third of the time.
const runner = path.join(folder, "suite.cjs");
await build({
  entryPoints: [fileURLToPath(suite)],
  outfile: runner,
  bundle: true,
  minify: true,
  platform: "node",
  format: "cjs",
  define: { "import.meta.url": JSON.stringify(suite.href) },
  logLevel: "error",
});
const run = promisify(execFile);

// Each with the revisions that it is written for.
const PLAYED = {
  "server-initialize": ["2025-06-18", "2025-11-25"],
  "server-session-lifecycle": ["2025-03-26", "2025-06-18", "2025-11-25"],
  ping: ["2025-06-18", "2025-11-25"],
  "tools-list": ["2025-06-18", "2025-11-25", "2026-07-28"],
  "resources-list": ["2025-06-18", "2025-11-25", "2026-07-28"],
  "sep-2164-resource-not-found": ["2026-07-28"],
  "dns-rebinding-protection": ["2025-11-25", "2026-07-28"],
  caching: ["2026-07-28"],
  "http-header-validation": ["2026-07-28"],
  "server-sse-multiple-streams": ["2025-11-25", "2026-07-28"],
  "input-required-result-unsupported-methods": ["2026-07-28"],
};

// Nearly every other scenario calls tools, reads resources or gets prompts of the suite's own reference server, by name. A server
// of views that had them would prove that somebody wrote them. By reason:
const NOT_PLAYED = {
  "wants tools of the suite's own server": [
    "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content",
    "tools-call-with-logging", "tools-call-error", "tools-call-with-progress", "json-schema-2020-12",
    "http-custom-header-server-validation", "server-sse-polling",
  ],
  // 20 of its 25 checks pass; the others are about prompts and about such tools.
  "wants prompts and tools of the suite's own server beside what passes": ["server-stateless"],
  "wants resources of the suite's own server, and subscriptions to them": [
    "resources-read-text", "resources-read-binary", "resources-templates-read", "resources-subscribe", "resources-unsubscribe",
  ],
  "wants a server that asks its client something; a view asks the person itself": [
    "tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums",
    "input-required-result-basic-elicitation", "input-required-result-basic-sampling", "input-required-result-basic-list-roots",
    "input-required-result-request-state", "input-required-result-multiple-input-requests", "input-required-result-multi-round",
    "input-required-result-missing-input-response", "input-required-result-non-tool-request", "input-required-result-result-type",
    "input-required-result-tampered-state", "input-required-result-capability-check", "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
  ],
  "there are no prompts, no completions and no log to set a level of": [
    "prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image",
    "completion-complete", "logging-set-level",
  ],
  "another extension": [
    "sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest", "tasks-lifecycle",
    "tasks-capability-negotiation", "tasks-wire-fields", "tasks-request-state-removal", "tasks-mrtr-input", "tasks-request-headers",
    "tasks-dispatch-and-envelope", "tasks-status-notifications", "tasks-required-task-error", "tasks-mrtr-composition",
  ],
};

test("every scenario for servers is played, or there is a reason", async () => {
  const { stdout } = await run(process.execPath, [runner, "list"]);
  const [servers] = stdout.split("Client scenarios");
  const all = [...servers.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  const known = [...Object.keys(PLAYED), ...Object.values(NOT_PLAYED).flat()];
  assert.deepEqual(all.sort(), known.sort());
});

// One without and one with tools that only views may call, so that its lists differ by client.
for (const name of ["weather", "dashboard"]) {
  const server = await startExample(name);
  after(server.stop);
  for (const [scenario, revisions] of Object.entries(PLAYED))
    for (const revision of revisions)
      test(`${name}: ${scenario} in ${revision}`, async () => {
        const words = ["server", "--url", server.url, "--scenario", scenario, "--spec-version", revision];
        const { stdout } = await run(process.execPath, [runner, ...words]).catch((error) => error);
        const [, passed, total, warnings] = /Passed: (\d+)\/(\d+), 0 failed, (\d+) warnings/.exec(stdout) ?? [];
        assert.ok(passed > 0 && passed === total && warnings === "0", stdout);
      });
}
