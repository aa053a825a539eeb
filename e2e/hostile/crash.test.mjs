// A host that is killed at any moment: the audit holds, and nothing was done that is not in it.
//
// A few kills here, with a browser; `scripts/kill-audit` does a hundred without one, and TRANSOM_KILLS sets how many.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startBrowser } from "../rig/browser.mjs";
import { auditRows, hostile, openBench, startHost } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";

const KILLS = Number(process.env.TRANSOM_KILLS ?? 4);
const folder = mkdtempSync(path.join(tmpdir(), "transom-killed-"));
const data = path.join(folder, "data");
const browser = await startBrowser();
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

test(`a host killed ${KILLS} times in the middle of its work has written down whatever it did`, async (t) => {
  const args = ["--data-dir", data];
  const noted = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const file = path.join(folder, `notes-${kill}`);
    const host = await startHost({ servers: { stranger: hostile("suite", "stranger", file) }, args });
    const bench = await openBench(browser, host);
    const card = await bench.run("stranger", "open");
    await card.guest.locator("body[data-ready]").waitFor();
    const view = await card.frame();
    // Another moment each time, by how far the view has come; three calls are under way at any.
    const moment = 1 + Math.floor(Math.random() * 60);
    await view.evaluate(
      ([kill, moment]) =>
        new Promise((done) => {
          let n = 0;
          const note = async () => {
            for (;;) {
              const args = { kill, n: n++ };
              await call("note", args);
              if (n >= moment) done();
            }
          };
          for (let i = 0; i < 3; i++) void note();
        }),
      [kill, moment],
    );
    await host.kill();
    await bench.context.close();
    const notes = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
    assert.ok(notes.length >= moment - 3, "the view was at work");
    noted.push(...notes);
    // Fails unless the chain holds.
    const rows = await auditRows(data);
    const effects = rows.filter(({ kind, method }) => kind === "effect" && method === "tools/call");
    const written = new Set(effects.map(({ sha256 }) => sha256));
    const unwritten = noted.filter((note) => !written.has(sha256(note)));
    assert.deepEqual(unwritten, [], "what the server did is written down");
    // A verdict stands before every effect, and nothing but what was under way lacks its outcome.
    const mine = rows.filter(({ view }) => view === card.view);
    const count = (kind, more = () => true) => mine.filter((row) => row.kind === kind && row.call !== undefined && more(row)).length;
    assert.ok(count("verdict", ({ outcome }) => outcome === "allowed") >= count("effect"));
    assert.ok(count("effect") - count("outcome") <= 3, "no more is open than was under way");
    assert.ok(mine.every(({ seq, kind, call }) => kind !== "outcome" || mine.some((row) => row.kind === "effect" && row.call === call && row.seq < seq)));
  }
  t.diagnostic(`${noted.length} effects, each of them in the audit`);
});

test("after all that it starts, serves and ends as ever, with the same audit", async () => {
  const file = path.join(folder, "notes-last");
  const host = await startHost({ servers: { stranger: hostile("suite", "stranger", file) }, args: ["--data-dir", data] });
  const bench = await openBench(browser, host);
  const card = await bench.run("stranger", "open");
  await card.guest.locator("body[data-ready]").waitFor();
  const view = await card.frame();
  assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked at stranger");
  await bench.context.close();
  assert.equal(await host.stop(), 0);
  const rows = await auditRows(data);
  assert.equal(rows.filter(({ kind }) => kind === "start").length, KILLS + 1);
  assert.equal(rows.filter(({ kind }) => kind === "stop").length, 1);
});
