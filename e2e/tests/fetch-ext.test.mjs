// The same tools for a view that uses ext-apps' `App`: requests, streams, events, and an abort that reaches the backend.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { abortReaches, openFetch } from "../rig/fetch.mjs";
import { requestOf } from "../rig/requests.mjs";

const stage = await openFetch({ view: "fetch.ext.view.js" });
after(() => stage.stop());
const { guest, tab, origin } = stage;

test("forty requests that were made up are answered as in a tab", async () => {
  const descriptions = Array.from({ length: 40 }, (_, at) => requestOf(at + 1_000));
  const observe = (where) => where.evaluate((all) => Promise.all(all.map((each) => globalThis.observe(each))), descriptions);
  const [native, ours] = await Promise.all([observe(tab), observe(guest)]);
  assert.deepEqual(ours, native);
});

test("ERR-5 an abort reaches the backend", async () => {
  await abortReaches(origin, guest);
});

test("STR-12 a stream is pulled, and events are heard", async () => {
  const seen = await guest.evaluate(async () => {
    const bytes = await (await fetch("/stream/zeros/1000000")).arrayBuffer();
    const event = await new Promise((done) => {
      const source = new EventSource("/stream/events");
      source.addEventListener("tick", ({ data, lastEventId }) => done((source.close(), [data, lastEventId])));
    });
    return [bytes.byteLength, event];
  });
  assert.deepEqual(seen, [1_000_000, ["number 1\nof many", "1"]]);
});
