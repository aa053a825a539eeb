// Fetch over MCP in a host that knows nothing of it: ext-apps' plain AppBridge between a view and the server. Everything is pulled.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "../rig/test.mjs";
import { bundle } from "../rig/bundle.mjs";
import { abortReaches } from "../rig/fetch.mjs";
import { example } from "../rig/host.mjs";
import { requestOf } from "../rig/requests.mjs";
import { mountFrame, openTheatre, putView } from "../rig/stage.mjs";

const { site, openStage } = await openTheatre({ after });

/** A host page with AppBridge of one line of ext-apps, a view of ours in it, the server behind it, and a tab of the backend's own. */
async function open(t, version) {
  const folder = mkdtempSync(path.join(tmpdir(), "transom-bridge-"));
  const [document, place] = ["page.html", "place"].map((name) => path.join(folder, name));
  writeFileSync(document, "<!doctype html><title>Shown by the test itself</title>");
  const server = spawn(example("fetch"), [document, place], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(server, "exit");
  t.after(async () => {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const { host, frameAt, context } = await openStage(t, { scripts: [`ext-apps-${version}.host.js`, `ext-apps-${version}.client.js`, "plain-host.js"] });
  await host.exposeFunction("writeLine", (line) => void server.stdin.write(`${line}\n`));
  createInterface({ input: server.stdout }).on("line", (line) => host.evaluate((line) => globalThis.hearLine(line), line).catch(() => {}));
  const address = await putView(site, { scripts: ["fetch.view.js"] });
  await mountFrame(host, address);
  const guest = await frameAt(address);
  await host.evaluate(() => ear.next("initialized"));
  assert.ok(existsSync(place));
  const origin = readFileSync(place, "utf8");
  const tab = await context.newPage();
  await tab.goto(origin);
  await tab.addScriptTag({ content: await bundle("fetch.xhr.js") });
  return { host, guest, tab, origin };
}

for (const version of [2, 1])
  test(`ext-apps ${version}.x: requests, streams, events and sockets do what they do in a tab`, async (t) => {
    const { guest, tab, origin } = await open(t, version);
    const same = async (steps, given) => {
      const [native, ours] = await Promise.all([tab.evaluate(steps, given), guest.evaluate(steps, given)]);
      assert.deepEqual(ours, native);
      return ours;
    };
    const descriptions = Array.from({ length: 30 }, (_, at) => requestOf(at + 5_000));
    await same((all) => Promise.all(all.map((each) => globalThis.observe(each))), descriptions);

    assert.equal(await same(async () => (await (await fetch("/stream/zeros/1000000")).arrayBuffer()).byteLength), 1_000_000);
    await same(
      () =>
        new Promise((done) => {
          const source = new EventSource("/stream/events");
          source.addEventListener("tick", ({ data, lastEventId }) => done((source.close(), [data, lastEventId])));
        }),
    );
    await same(
      () =>
        new Promise((done) => {
          const socket = new WebSocket("/ws/echo", "chat");
          const told = [];
          socket.onopen = () => ["one", "two", "goodbye"].forEach((words) => socket.send(words));
          socket.onmessage = ({ data }) => told.push(data);
          socket.onclose = ({ code, reason, wasClean }) => done([told, socket.protocol, code, reason, wasClean]);
        }),
    );

    // ERR-5: an abort goes through the bridge and its client, to the backend.
    await abortReaches(origin, guest);
  });
