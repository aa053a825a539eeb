// ATK-21, ATK-50 and H-10 to H-15: whose tool, whose view, and for whom.
import assert from "node:assert/strict";
import { hostile } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";
import { openScene } from "./scene.mjs";

// The same program twice: the same tools, the same ui:// addresses, and documents of the same hash.
const scene = await openScene({ after, servers: { twin: hostile("suite", "twin") } });
const { bench, openHostile, neighbourWorks, reached, audited, rowsOf } = scene;

test("H-12 two servers with the same tools and the same views: each view reaches its own", async (t) => {
  for (const name of ["stranger", "twin"]) {
    const { view, card } = await openHostile(t, name);
    await card.guest.locator(`body[data-result="words of open from ${name}"]`).waitFor();
    await reached(view);
    assert.equal((await view.evaluate(() => call("look"))).content[0].text, `looked at ${name}`);
    assert.deepEqual(await reached(view), ["look"]);
    const row = await audited(card, ({ kind, about }) => kind === "effect" && about === "look");
    assert.equal(row.server, name);
  }
  await neighbourWorks();
});

test("H-12 what was allowed for one server is not allowed for another with the same names", async (t) => {
  const [first, second] = [await openHostile(t, "stranger"), await openHostile(t, "twin")];
  const allowed = first.view.evaluate(() => call("change"));
  await first.card.answer("allow-always");
  assert.equal((await allowed).content[0].text, "changed stranger");
  const asked = second.view.evaluate(() => call("change"));
  await second.card.ask.getByText('A view of "twin" wants to call').waitFor();
  assert.equal((await rowsOf(second.card)).filter(({ kind, about }) => kind === "effect" && about === "change").length, 0);
  await second.card.answer("deny");
  assert.match((await asked).message, /./);
  await audited(second.card, ({ kind, outcome, about }) => kind === "verdict" && outcome === "refused" && about === "change");
  await neighbourWorks();
});

test("H-12 a tool of another server is not to be had, by whatever name", async (t) => {
  const { view, card } = await openHostile(t);
  await reached(view);
  for (const name of ["steady", "neighbour.steady", "neighbour/steady", "neighbour:steady", ""]) {
    const refused = await view.evaluate((name) => call(name), name);
    assert.match(refused.message, /not a tool of this view's server/, name);
    await audited(card, ({ kind, about = "" }) => kind === "verdict" && about === name);
  }
  assert.deepEqual(await reached(view), []);
  await neighbourWorks();
});

test("H-11 a tool for the model alone is refused to a view, with an error, and the server never hears of it", async (t) => {
  const { view, card } = await openHostile(t);
  await reached(view);
  const refused = await view.evaluate(() => call("model_only"));
  assert.match(refused.message, /not visible to apps/);
  assert.ok(refused.code < 0);
  assert.deepEqual(await reached(view), []);
  const row = await audited(card, ({ kind, about }) => kind === "verdict" && about === "model_only");
  assert.equal(row.outcome, "refused");
  await neighbourWorks();
});

test("H-10 a tool for apps alone is neither shown nor called when the model's side asks for it", async (t) => {
  const { view } = await openHostile(t);
  await reached(view);
  const names = await bench.server("stranger").locator("details.tool summary").evaluateAll((all) => all.map(({ title }) => title));
  assert.deepEqual(names.sort(), ["model_only", "open"]);
  // The page does not show it; whoever asks through the page all the same is refused by the host.
  const id = await bench.page.evaluate(() => {
    const beside = document.querySelector("#views .view transom-view");
    const place = document.createElement("transom-view");
    place.setAttribute("view", "by-hand");
    place.tool = { server: "stranger", name: "look", arguments: {} };
    document.body.append(place);
    place.channel = beside.channel;
    globalThis.said = new Promise((done) => place.addEventListener("transom-text", ({ detail }) => done(detail)));
    return "by-hand";
  });
  const said = await bench.page.evaluate(() => said);
  assert.match(said.why, /look.* for its views alone/);
  assert.deepEqual(await reached(view), []);
  const row = await audited({ view: id }, ({ kind, outcome }) => kind === "verdict" && outcome === "refused");
  assert.deepEqual([row.server, row.about], ["stranger", "look"]);
  await neighbourWorks();
});

scene.lastly();
