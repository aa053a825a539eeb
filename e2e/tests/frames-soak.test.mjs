// Connections that come and go leave nothing behind: no listener, no frame, no heap. scripts/soak runs five hundred of them.
import assert from "node:assert/strict";
import { openOuter, putInner } from "../rig/frames.mjs";
import { openTheatre } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";

const theatre = await openTheatre({ after });
const CYCLES = Number(process.env.SOAK ?? 12);

/** What the outer page's process holds, after everything that can go has gone. */
async function weigh(cdp) {
  for (let i = 0; i < 3; i++) await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = await cdp.send("Performance.getMetrics");
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  return { heap: of("JSHeapUsedSize"), listeners: of("JSEventListeners"), nodes: of("Nodes"), frames: of("Frames") };
}

test(
  `SEC-22 ATK-35 ${CYCLES} times set up, connected and closed: nothing is left`,
  async (t) => {
    const url = await putInner(theatre.site, { origin: theatre.site.stranger });
    const { host, context } = await openOuter(t, theatre, url);
    const cdp = await context.newCDPSession(host);
    await cdp.send("Performance.enable");
    const cycle = (times) =>
      host.evaluate(
        async ([url, times]) => {
          for (let i = 0; i < times; i++) {
            prepare(url);
            await outer.setup();
            await outer.start();
            const { result } = await ask("echo", { i });
            if (result.i !== i) throw new Error("another answer");
            await outer.close();
            ear.left("close").length = 0;
            heardHere.length = 0;
          }
        },
        [url, times],
      );
    // What is made once is made.
    await cycle(5);
    const before = await weigh(cdp);
    await cycle(CYCLES);
    const now = await weigh(cdp);
    t.diagnostic(JSON.stringify({ before, now }));
    assert.deepEqual([now.listeners, now.frames], [before.listeners, before.frames]);
    assert.ok(now.nodes - before.nodes < 20, `${now.nodes - before.nodes} nodes`);
    // A few hundred bytes for each close that the test itself notes down.
    assert.ok(now.heap - before.heap < 200_000 + 1_000 * CYCLES, `${now.heap - before.heap} bytes`);
  },
  1_800_000,
);
