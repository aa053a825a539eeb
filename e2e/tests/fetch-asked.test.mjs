// What a person is asked about a view's requests: each route by itself, with its method, path and size; and what is written down.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { openFetch } from "../rig/fetch.mjs";

const stage = await openFetch({ toml: '[policy.routes]\n"* /api/status/{code}" = "deny"\n' });
after(() => stage.stop());
const { guest, card, host } = stage;

const send = (method, url, body) =>
  guest.evaluate(
    ([method, url, body]) =>
      fetch(url, { method, body }).then(
        ({ status }) => status,
        ({ cause }) => cause.code,
      ),
    [method, url, body],
  );

test("FSE-16 what reads goes, and an always is for one route", async () => {
  assert.equal(await send("GET", "/api/echo?secret=hush"), 200);
  assert.equal(await card.ask.count(), 0);
  const posted = send("POST", "/api/echo?secret=hush", "hush");
  await card.ask.getByText('"POST /api/echo" with 4 bytes').waitFor();
  await card.ask.getByText('a yes for longer is for all of "POST /api/{*rest}"').waitFor();
  await card.answer("allow-always");
  assert.equal(await posted, 200);
  assert.equal(await send("POST", "/api/bytes/html", "hush"), 200);
  const deleted = send("DELETE", "/api/echo");
  await card.ask.getByText('"DELETE /api/echo" with 0 bytes').waitFor();
  await card.answer("deny");
  assert.equal(await deleted, "blocked");
});

test("FSE-5 what no route takes, and what the operator forbids, is asked about by nobody", async () => {
  assert.equal(await send("POST", "/admin", "x"), "blocked");
  assert.equal(await send("GET", "/api/status/200"), "blocked");
  assert.equal(await card.ask.count(), 0);
});

test("FSE-14 the audit names method and path, and neither a query nor a body", async () => {
  const rows = (await host.audit()).map((row) => JSON.stringify(row));
  for (const words of ["http_request GET /api/echo", "http_request POST /api/echo", "http_request DELETE /api/echo", "http_request POST /admin"])
    assert.ok(rows.some((row) => row.includes('"verdict"') && row.includes(words)), words);
  assert.ok(rows.some((row) => row.includes('"effect"') && row.includes("http_request POST /api/echo")));
  assert.ok(!rows.some((row) => row.includes("hush")));
});
