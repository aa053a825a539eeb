// `XMLHttpRequest` in a tab against ours in a view: the same events in the same order, and the same at the end.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { openFetch } from "../rig/fetch.mjs";

const stage = await openFetch();
after(() => stage.stop());

const text = (text) => ({ kind: "text", text });
const CASES = {
  "XHR-1 a GET": { url: "/api/echo?x=1#part" },
  "XHR-1 a POST, with the events of its upload": { method: "POST", url: "/api/echo", body: text("käse") },
  "XHR-1 an empty response": { url: "/api/bytes/none" },
  "XHR-1 a HEAD": { method: "HEAD", url: "/api/echo" },
  "XHR-2 headers are joined, and forbidden ones ignored": { url: "/api/echo", headers: [["X-A", "1"], ["x-a", "2"], ["Cookie", "a=1"], ["Sec-X", "1"], ["Host", "evil.test"]] },
  "XHR-2 what is not open, or wrong": { url: "/api/echo", before: ["send unopened", "header unopened", "open TRACE", "open no method", "open no address", "odd header", "odd value", "odd type", "credentials", "text of none", "handlers"] },
  "XHR-3 JSON": { url: "/api/bytes/json", type: "json" },
  "XHR-3 JSON that is none": { url: "/api/bytes/bad-json", type: "json" },
  "XHR-3 a buffer": { url: "/api/bytes/binary", type: "arraybuffer" },
  "XHR-3 a blob": { url: "/api/bytes/html", type: "blob" },
  "XHR-3 a document": { url: "/api/bytes/html", type: "document" },
  "XHR-3 text": { url: "/api/bytes/bom", type: "text" },
  "XHR-4 headers": { url: "/api/echo" },
  "XHR-5 a time that is over": { url: "/api/slow", timeout: 50 },
  "XHR-5 a time that is not": { url: "/api/echo", timeout: 60_000 },
  "XHR-6 an abort on the way": { url: "/api/slow", stop: true },
  "XHR-6 an abort on the way up": { method: "POST", url: "/api/slow", body: text("x"), stop: true },
  "XHR-6 an abort before it is sent": { url: "/api/echo", before: ["abort unopened", "abort opened"] },
  "XHR-7 too many redirects": { url: "/api/hops/25" },
  "XHR-9 a charset": { url: "/api/bytes/latin1" },
  "XHR-9 another charset by hand": { url: "/api/bytes/latin1", mime: "text/plain; charset=utf-8" },
  "XHR-9 sixteen bits": { url: "/api/bytes/utf16" },
  "XHR-9 where it came from": { url: "/api/to/302?/api/echo%3Fmoved" },
  "XHR-10 an error that is an answer": { url: "/api/status/500" },
  "XHR-11 a form": { method: "POST", url: "/api/status/200", body: { kind: "form", pairs: [["a", "1"], ["f", "x", "f.bin"]], type: "image/png", text: "" } },
  "XHR-11 a query": { method: "POST", url: "/api/echo", body: { kind: "query", pairs: [["a", "1 2"]], text: "" } },
  "XHR-11 a blob": { method: "PUT", url: "/api/echo", body: { kind: "blob", text: "x", type: "image/png" } },
  "XHR-11 a buffer": { method: "POST", url: "/api/echo", body: { kind: "buffer", text: "x" } },
  "XHR-11 a body that GET does not have": { url: "/api/echo", body: text("x") },
};
const observe = (where, description) => where.evaluate((given) => globalThis.observeXhr(given), description);
/**
 * A form's size has its boundary in it, which is its maker's. And Chromium tells of an upload that fails where there is none; by the standard, an
 * upload without a body is complete from the start.
 */
const plain = (seen, { body }) => ({
  ...seen,
  events: seen.events.filter((event) => body || !event.startsWith("upload")).map((event) => (body?.kind === "form" ? event.replace(/ \d+ true$/, "") : event)),
});

for (const [name, description] of Object.entries(CASES))
  test(name, async () => {
    const [native, ours] = await Promise.all([observe(stage.tab, description), observe(stage.guest, description)]);
    assert.deepEqual(plain(ours, description), plain(native, description));
  });

test("XHR-8 a request that would hold the page up is refused", async () => {
  const seen = await observe(stage.guest, { url: "/api/echo", before: ["open in sync"] });
  assert.equal(seen.attempts[0], "InvalidAccessError");
});

test("DEF-16 every line of headers has its end", async () => {
  const block = await stage.guest.evaluate(
    () =>
      new Promise((done) => {
        const xhr = new XMLHttpRequest();
        xhr.open("GET", "/api/echo");
        xhr.onload = () => done(xhr.getAllResponseHeaders());
        xhr.send();
      }),
  );
  assert.match(block, /^(?:[a-z-]+: .*\r\n)+$/);
});
