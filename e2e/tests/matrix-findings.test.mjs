// What `check` says of servers that nobody here wrote: every line was read and is right, so every line is listed here, and no other
// one is printed.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { suite } from "node:test";
import { after, test } from "../rig/test.mjs";
import { binary } from "../rig/host.mjs";
import { prepareMatrix } from "../rig/matrix.mjs";

// The official libraries leave it to the author to advertise the extension.
const UNSAID = "note server-01";
// With the SDK and zod in the document.
const LARGE = "warning server-17 ui://matrix/view";

/** The findings of each kind of server: level, rule, and the tool or view that it is about. */
const FOUND = {
  "mcp-ui adapter": [UNSAID],
  "mcp-ui plain": [],
  "mcp-ui linked": [UNSAID],
  "mcp-ui address": [],
  ...Object.fromEntries(["0.0.7", "0.2.0", "0.2.2", "0.4.1", "1.0.1", "1.7.5"].map((version) => [`ext-apps ${version}`, [UNSAID]])),
  "ext-apps 2.0.4": [LARGE, UNSAID],
  ...Object.fromEntries(["vue", "svelte", "solid"].map((name) => [name, [LARGE, UNSAID]])),
  ...Object.fromEntries(["vue", "svelte", "solid"].map((name) => [`transom/${name}`, [UNSAID]])),
  fastmcp: [LARGE, "warning server-19 add", "note server-07 count", "note server-07 components"],
  "python sdk": [LARGE, "note server-07 count", "note server-21 count", "note server-21 add"],
  "mcp-use": [
    "warning document-06 ui://views/counter.html",
    UNSAID,
    // Where it is started, its views may reach it there: a loopback address.
    "note server-11 ui://views/counter.html",
    "note server-11 ui://views/counter.html",
    "note document-01 ui://views/counter.html",
  ],
  xmcp: ["error server-07 count", UNSAID, "note server-09 ui://app/count.html", "note document-03 ui://app/count.html"],
};

const matrix = await prepareMatrix((name, way) => way === (name === "mcp-use" ? "HTTP" : "stdio"));
after(() => matrix.stop());

suite("findings of the matrix", { concurrency: 2 }, () => {
  for (const [name, server] of Object.entries(matrix.servers))
    test(name, async () => {
      const [{ findings }] = (await check(server)).servers;
      const lines = findings.map(({ level, rule, place }) => [level, rule, place.tool ?? place.view ?? ""].join(" ").trim());
      assert.deepEqual(lines, FOUND[name.replace(/ over .*/, "")], JSON.stringify(findings, null, 1));
    });
});

async function check({ url, command, args, cwd, env }) {
  const words = url ? [url] : ["--", command, ...args];
  // Exit code 1 says that something was found.
  const printed = await new Promise((done) =>
    execFile(binary(), ["check", "--json", ...words], { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 26 }, (_, out, error) => done(out || error)),
  );
  return JSON.parse(printed);
}
