// `fetch` in a tab against ours in a view, to one backend: whatever a page can see of a response is the same, field by field.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { after, test } from "../rig/test.mjs";
import { openFetch } from "../rig/fetch.mjs";
import { requestOf } from "../rig/requests.mjs";

const stage = await openFetch();
after(() => stage.stop());

/** Seeds that have failed before, which are always tried. */
const KEPT = [5, 14, 19, 42, 58, 70, 192];
const SEEDS = [...KEPT, ...Array.from({ length: 400 }, (_, at) => at + 1)];

const observe = (where, descriptions) => where.evaluate((all) => Promise.all(all.map((each) => globalThis.observe(each))), descriptions);

/** What differs, each in a line that names its seed. */
async function differences(descriptions, name) {
  const [native, ours] = await Promise.all([observe(stage.tab, descriptions), observe(stage.guest, descriptions)]);
  return descriptions.flatMap((description, at) => {
    const names = Object.keys({ ...native[at], ...ours[at] }).filter((key) => !isDeepStrictEqual(native[at][key], ours[at][key]));
    const short = (value) => JSON.stringify(value)?.slice(0, 300);
    return names.slice(0, 2).map((key) => `${name(at)} ${key}: ${short(ours[at][key])}, natively ${short(native[at][key])} of ${short(description)}`);
  });
}

// REQ-1, REQ-7, REQ-8, BOD-1, BOD-3, BOD-4, RES-1, RES-2, RES-3, RES-7, RES-8, RES-9, RES-10, RES-11, RES-12, RES-15, ERR-1, ERR-4, ERR-5.
test("400 requests that were made up are answered alike", async () => {
  const found = [];
  for (let at = 0; at < SEEDS.length; at += 10) {
    const seeds = SEEDS.slice(at, at + 10);
    found.push(...(await differences(seeds.map(requestOf), (each) => `seed ${seeds[each]}`)));
  }
  assert.deepEqual(found, []);
}, 600_000);

// What a generator would seldom meet.
const ODD = {
  "REQ-1 every header that no page may send": { url: "/api/echo", init: { headers: Object.fromEntries(["Accept-Charset", "Connection", "Cookie", "Date", "DNT", "Host", "Origin", "Referer", "TE", "Via", "Proxy-X", "Sec-X", "Keep-Alive", "Upgrade"].map((name) => [name, "1"])) } },
  "REQ-4 a body with GET": { url: "/api/echo", body: { kind: "text", text: "x" } },
  "REQ-5 a mode that is the browser's own": { url: "/api/echo", init: { mode: "navigate" } },
  "REQ-5 no-cors": { url: "/api/echo", init: { mode: "no-cors", headers: { "x-a": "1", accept: "text/html" } } },
  "REQ-5 a method that no-cors does not have": { url: "/api/echo", init: { mode: "no-cors", method: "PUT" } },
  "REQ-5 only-if-cached from elsewhere": { url: "/api/echo", init: { cache: "only-if-cached" } },
  "REQ-5 integrity that is right": { url: "/api/bytes/nul", integrity: "sha256-WbJxrhu8sdMdQZKYF/Sxb7Q5608xUgta0dXOmJIKcTg=" },
  "REQ-5 integrity that is wrong": { url: "/api/bytes/nul", integrity: "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" },
  "REQ-6 a user in the address": { url: "http://me:pw@localhost/api/echo" },
  "a method that is none": { url: "/api/echo", init: { method: "GE T" } },
  "a method that no page may send": { url: "/api/echo", init: { method: "TRACE" } },
  "a header that is none": { url: "/api/echo", init: { headers: { "a b": "c" } } },
  "RES-15 five megabytes": { url: "/api/bytes/large" },
  "a body of a megabyte": { url: "/api/echo", init: { method: "POST" }, body: { kind: "buffer", text: "0123456789abcdef".repeat(65_536) } },
};
for (const [name, description] of Object.entries(ODD)) test(name, async () => assert.deepEqual(await differences([description], () => name), []));
