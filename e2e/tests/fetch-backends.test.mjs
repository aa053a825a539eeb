// WSK-12, INS-12: clients as they are published, with the servers that they were written for, which run somewhere else (`HttpProxy::upstream`).
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBackends } from "../rig/backends.mjs";
import { openFetch } from "../rig/fetch.mjs";

const backends = await startBackends();
const open = (version) => openFetch({ view: `fetch.htmx-${version}.view.js`, script: `fetch.htmx-${version}.js`, upstream: backends.origin });
const stages = [await open(4), await open(2)];
after(async () => {
  for (const stage of stages) await stage.stop();
  await backends.stop();
});

const run = (where, name) => where.evaluate((name) => globalThis.LIBRARIES[name](), name);
for (const [name, { tab, guest }] of [
  ["graphql-ws", stages[0]],
  ["socket.io-client, from polling to WebSocket", stages[0]],
  ["socket.io-client, by polling alone", stages[0]],
  ["htmx 4", stages[0]],
  ["htmx 2", stages[1]],
])
  test(name, async () => {
    const native = await run(tab, name);
    assert.deepEqual(await run(guest, name), native);
    assert.ok(native.flat().length > 1, JSON.stringify(native));
  });
