// A view's `fetch()` through the real host: what the backend sees of an abort, and what people are asked.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { abortReaches, countsOf, openFetch, settled, until } from "../rig/fetch.mjs";

const stage = await openFetch();
after(() => stage.stop());
const { guest, origin } = stage;

const counts = () => countsOf(origin);

test("the sandbox has no network, and the view's fetch works all the same", async () => {
  const seen = await guest.evaluate(async (origin) => {
    const native = await fetch(`${origin}/api/echo`).then(() => "reached", (error) => error.name);
    const carried = await fetch("/api/bytes/html").then((response) => response.text());
    return { native, carried };
  }, origin);
  assert.deepEqual(seen, { native: "TypeError", carried: "<h1>käse</h1>" });
});

test("ERR-5 an abort reaches the backend", async () => {
  await abortReaches(origin, guest);
});

test("ERR-2 what no route opens is a TypeError with its cause, and reaches nobody", async () => {
  const error = await guest.evaluate(() => fetch("/admin").catch(({ name, message, cause }) => ({ name, message, cause })));
  assert.equal(error.name, "TypeError");
  assert.equal(error.message, "Failed to fetch");
  assert.deepEqual([error.cause.code, error.cause.tool], ["blocked", "http_request"]);
});

test("FSE-12 only the view is offered the tool", async () => {
  const names = await stage.bench.server("fetch").locator("details.tool > summary").evaluateAll((all) => all.map((each) => each.title));
  assert.deepEqual(names, ["show"]);
});

test("FSE-17 a response is data, whatever it is called", async () => {
  const before = await guest.evaluate(() => document.documentElement.outerHTML.length);
  await guest.evaluate(() => fetch("/api/bytes/html").then((response) => response.blob()));
  assert.equal(await guest.evaluate(() => document.documentElement.outerHTML.length), before);
});

test("ERR-9 a view that is closed ends what it asked for", async () => {
  const [begun, ended] = await settled(origin);
  await guest.evaluate(() => void fetch("/api/slow").catch(() => {}));
  await until(async () => (await counts())[0] === begun + 1);
  await stage.card.close();
  await until(async () => (await counts())[1] === ended + 1);
});
