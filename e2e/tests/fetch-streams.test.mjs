// Responses that arrive bit by bit in a view, through the real host: read, given up, and as events.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { countsOf, openFetch, settled, until } from "../rig/fetch.mjs";

const stage = await openFetch();
after(() => stage.stop());
const { guest, tab, origin } = stage;

const counts = () => countsOf(origin);

test("STR-2 the first piece is there before the last, and nobody asked for a stream", async () => {
  const pieces = await guest.evaluate(async () => {
    const reader = (await fetch("/stream/drip")).body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("piece 12\n")) text += (await reader.read()).value;
    await reader.cancel();
    return text.split("\n").slice(0, 13);
  });
  assert.deepEqual(pieces, Array.from({ length: 13 }, (_, at) => `piece ${at}`));
});

// ERR-6.
const ENDS = {
  "reader.cancel": () => globalThis.reader.cancel(),
  "an abort": () => globalThis.controller.abort("enough"),
};
for (const [name, end] of Object.entries(ENDS))
  test(`STR-5 ${name} ends it at the backend`, async () => {
    const [begun, ended] = await settled(origin);
    await guest.evaluate(async () => {
      globalThis.controller = new AbortController();
      globalThis.reader = (await fetch("/stream/drip", { signal: controller.signal })).body.getReader();
      await reader.read();
      globalThis.next = reader.read().then(({ done }) => done, (reason) => reason);
    });
    assert.equal((await counts())[0], begun + 1);
    await guest.evaluate(end);
    await until(async () => (await counts())[1] === ended + 1);
    if (name === "an abort")
      assert.equal(await guest.evaluate(async () => { for (;;) { const next = await globalThis.next; if (next !== false) return next; globalThis.next = reader.read().then(({ done }) => done, (reason) => reason); } }), "enough");
  });

// STR-1, STR-7.
for (const size of [0, 1, 65_536, 65_537, 262_144, 262_145, 5_000_000])
  test(`STR-1 ${size} bytes arrive`, async () => {
    const seen = await guest.evaluate(async (size) => {
      const response = await fetch(`/stream/zeros/${size}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      return [bytes.length, bytes.every((byte) => byte === 0)];
    }, size);
    assert.deepEqual(seen, [size, true]);
  });

// SSE-3, SSE-5, SSE-7: a tab and a view hear the same, over a connection that ends and is made again.
test("SSE-5 events are those that a tab hears", async () => {
  const listen = () =>
    new Promise((done) => {
      const source = new EventSource("/stream/events");
      const told = [["begin", source.readyState, source.url.endsWith("/stream/events")]];
      const note = ({ type, data, lastEventId }) => {
        told.push([type, source.readyState, data, lastEventId]);
        if (lastEventId === "6") done((source.close(), [...told, source.readyState]));
      };
      source.onmessage = note;
      source.onopen = note;
      source.onerror = note;
      source.addEventListener("tick", note);
    });
  const [native, ours] = await Promise.all([tab.evaluate(listen), guest.evaluate(listen)]);
  assert.deepEqual(ours, native);
});

// SSE-4.
for (const [name, path] of Object.entries({ "no events": "/api/echo", "an error": "/api/status/500", "nothing": "/api/status/204" }))
  test(`SSE-4 ${name} ends it for good`, async () => {
    const listen = (path) =>
      new Promise((done) => {
        const source = new EventSource(path);
        source.onerror = ({ type }) => done([type, source.readyState]);
      });
    const [native, ours] = await Promise.all([tab.evaluate(listen, path), guest.evaluate(listen, path)]);
    assert.deepEqual(ours, native);
  });

test("STR-5 a view that is closed ends its streams", async () => {
  const [begun, ended] = await settled(origin);
  await guest.evaluate(async () => {
    const reader = (await fetch("/stream/quiet")).body.getReader();
    await reader.read();
    // It waits for more, and so there is a call that the host gives up.
    reader.read().catch(() => {});
  });
  assert.equal((await counts())[0], begun + 1);
  await stage.card.close();
  await until(async () => (await counts())[1] === ended + 1);
});
