// What every test of the hostile suite stands on: the real host with a server that means no good, one that does, a view of
// each on the page, and the audit.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startBrowser } from "../rig/browser.mjs";
import { bundle, page } from "../rig/bundle.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";
import { test } from "../rig/test.mjs";

/** Opens the scene for a test file. `servers` are more of them. */
export async function openScene({ after, servers = {}, ...options }) {
  const folder = mkdtempSync(path.join(tmpdir(), "transom-hostile-"));
  const document = path.join(folder, "neighbour.html");
  writeFileSync(document, page({ body: "<p>A neighbour</p>", scripts: [await bundle("neighbour.view.js")] }));
  const library = hostile("library", document);
  const host = await startHost({
    servers: { stranger: hostile("suite", "stranger"), neighbour: library, ...servers },
    ...options,
  });
  const browser = await startBrowser();
  after(async () => {
    await browser.close();
    await host.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const bench = await openBench(browser, host);
  const scene = Object.assign(helpers(host, bench), { host, browser, bench, folder, library });
  scene.neighbour = await scene.openNeighbour();
  return scene;
}

function helpers(host, bench) {
  const scene = {
    async openNeighbour() {
      const card = await bench.run("neighbour", "steady");
      await card.guest.locator("body[data-ready]").waitFor();
      return { card, view: await card.frame() };
    },
    /** The view that does whatever a test tells it to; taken off the page when the test ends. */
    async openHostile(t, server = "stranger", tool = "open") {
      const card = await bench.run(server, tool);
      await card.guest.locator("body[data-ready]").waitFor();
      t?.after(() => card.box.evaluateAll((boxes) => boxes.forEach((box) => box.remove())));
      return { card, view: await card.frame() };
    },
    /** Fails unless the neighbour is served as before, and has heard nothing but its own. */
    async neighbourWorks({ view } = scene.neighbour) {
      const { content } = await view.evaluate(() => call("steady"));
      assert.equal(content[0].text, "words of steady");
      const told = await view.evaluate(() => told.map(({ event, content }) => `${event} ${content?.[0].text ?? ""}`));
      assert.deepEqual(told.filter((each) => !each.startsWith("hostcontextchanged")), ["toolinput ", "toolresult words of steady"]);
    },
    /** What the hostile server was asked by views since this was last wanted, as it tells itself. */
    async reached(view) {
      const { content } = await view.evaluate(() => call("seen"));
      return JSON.parse(content[0].text).filter((name) => name !== "open");
    },
    /** The rows of one view. */
    rowsOf: async ({ view }) => (await host.audit()).filter((row) => row.view === view),
    /** A row of a view that fits, as soon as there is one: nothing announces what is written. */
    async audited(card, fits, words = String(fits)) {
      const find = async () => (await scene.rowsOf(card)).find(fits);
      return scene.until(find, `a row of the view: ${words}`);
    },
    async until(look, words) {
      for (const end = Date.now() + 60_000; Date.now() < end; await delay(100)) {
        const found = await look();
        if (found) return found;
      }
      return assert.fail(`waited in vain for ${words}`);
    },
    /** Waits until so many messages of a view that were no requests are written down as refused. */
    refusals: (card, wanted) =>
      scene.until(async () => {
        const rows = (await scene.rowsOf(card)).filter(({ kind }) => kind === "counts");
        const refused = rows.reduce((sum, row) => sum + row.refused, 0);
        assert.ok(refused <= wanted, `${refused} were refused, and not ${wanted}`);
        return refused === wanted;
      }, `${wanted} refused messages are written down`),
    /** The last test of a file. */
    lastly: () =>
      test("the page had no mishap, and the audit holds", async () => {
        assert.deepEqual(bench.mishaps, []);
        await host.audit();
      }),
  };
  return scene;
}

/** Greets anew with the wish for a port, and takes it (D15): from then on its messages are text. */
export const takePort = (view) =>
  view.evaluate(
    () =>
      new Promise((done) => {
        addEventListener("message", ({ data, ports: [port] }) => {
          if (data.id !== "port" || !port) return;
          globalThis.say = (text) => port.postMessage(text);
          port.onmessage = (event) => dispatchEvent(new MessageEvent("message", { data: JSON.parse(event.data) }));
          say('{"jsonrpc":"2.0","method":"ui/notifications/initialized"}');
          done();
        });
        const appCapabilities = { experimental: { "transom/port": {} } };
        const params = { appInfo: { name: "stranger", version: "1" }, appCapabilities, protocolVersion: "2026-01-26" };
        post({ id: "port", method: "ui/initialize", params });
      }),
  );
export const looksByPort = async (view) => {
  const answer = await view.evaluate(
    () =>
      new Promise((done) => {
        waiting.set("by-port", done);
        say('{"jsonrpc":"2.0","id":"by-port","method":"tools/call","params":{"name":"look"}}');
      }),
  );
  assert.equal(answer.content[0].text, "looked at stranger");
};
