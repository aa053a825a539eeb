// Streams belong to one instance of one view: others cannot read them, and they end with it although nothing reads them.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { countsOf, openFetch } from "../rig/fetch.mjs";

const stage = await openFetch();
after(() => stage.stop());
const { bench, card, origin } = stage;

const ended = async () => (await countsOf(origin))[1];
async function until(condition) {
  while (!(await condition())) await new Promise((done) => setTimeout(done, 10));
}
const open = (guest) =>
  guest.evaluate(async () => {
    await fetch("/api/bytes/html");
    const { structuredContent } = await app.callServerTool({ name: "http_request", arguments: { url: "/stream/quiet", stream: true } });
    return structuredContent.streamId;
  });
const read = (guest, streamId) =>
  guest.evaluate(
    (streamId) =>
      app.callServerTool({ name: "http_stream_read", arguments: { streamId, offset: 0, waitMs: 0 } }).then(
        ({ structuredContent }) => structuredContent.nextOffset,
        ({ message }) => message,
      ),
    streamId,
  );

test("HST-4 a stream is read by the view that opened it, and by no other view of its server", async () => {
  const other = await (await bench.run("fetch", "show")).frame();
  const id = await open(stage.guest);
  await open(other);
  assert.equal(await read(stage.guest, id), "piece 0\n".length);
  assert.match(await read(other, id), /not given that "streamId"/);
});

test("HST-5 a reload ends what the view had open, and its handle is dead", async () => {
  const before = await ended();
  const id = await open(stage.guest);
  await stage.guest.evaluate(() => void location.reload()).catch(() => {});
  // Two by now: the one of the test before was still open.
  await until(async () => (await ended()) === before + 2);
  const guest = await card.frame();
  await guest.waitForFunction(() => globalThis.app?.getHostCapabilities());
  assert.match(await read(guest, id), /not given that "streamId"/);
});

test("HST-3 a view that is closed ends what nothing reads", async () => {
  const before = await ended();
  await open(await card.frame());
  await card.close();
  await until(async () => (await ended()) === before + 1);
  const rows = (await stage.host.audit()).map((row) => JSON.stringify(row));
  assert.ok(rows.some((row) => row.includes('"release"') && row.includes("http_stream_cancel")));
});
