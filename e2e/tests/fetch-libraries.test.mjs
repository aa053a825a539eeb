// INS-12, SSE-9: libraries as they are published do in a view what they do in a tab.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { openFetch } from "../rig/fetch.mjs";

const stage = await openFetch({ view: "fetch.libraries.view.js", script: "fetch.libraries.js" });
after(() => stage.stop());

const run = (where, name) => where.evaluate((name) => globalThis.LIBRARIES[name](), name);
for (const name of await stage.tab.evaluate(() => Object.keys(globalThis.LIBRARIES)))
  test(name, async () => {
    const [native, ours] = await Promise.all([run(stage.tab, name), run(stage.guest, name)]);
    assert.deepEqual(ours, native);
  });
