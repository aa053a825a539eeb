// ATK-15 to ATK-18, ATK-31, ATK-34, ATK-37: a view's life. It greets twice, answers twice, for another or never, reloads for
// ever, will not go, and nobody waits for it but itself.
import assert from "node:assert/strict";
import { hostile } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";
import { openScene } from "./scene.mjs";

const scene = await openScene({ after, servers: { odd: hostile("odd") } });
const { bench, neighbour, openHostile, neighbourWorks, reached, rowsOf, audited, refusals } = scene;

// Opened first, because its time runs out by the clock.
const never = await bench.run("odd", "never");

const closing = (view) => view.waitForFunction(() => heard.find(({ method }) => method === "ui/resource-teardown"));
const closes = (card, words) => audited(card, ({ kind, outcome }) => kind === "close" && words.test(outcome), String(words));
/** The card says that the view was stopped, and shows what the tool answered in its place. */
async function saysInstead(card, words) {
  await card.note.getByText("The view was stopped").waitFor();
  await card.box.locator(".answer", { hasText: words }).waitFor();
  assert.equal(await card.box.locator("iframe").count(), 0);
}

test("ATK-15 a second greeting is a new instance: what the first one waits for is given up", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => void call("wait").then(() => (globalThis.answered = true)));
  await audited(card, ({ kind, about }) => kind === "effect" && about === "wait");
  await view.evaluate(() => hello());
  await view.evaluate(() => call("release"));
  // Without an answer: the ids of the new instance may be those of the old one.
  assert.equal(await view.evaluate(() => globalThis.answered), undefined);
  assert.deepEqual(await reached(view), ["wait", "cancelled 0", "release"]);
  await neighbourWorks();
});

test("ATK-31 answers that nobody asked for, before, twice, or with both outcomes, settle nothing", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => {
    globalThis.hangs = true;
    // The host counts its questions from zero: these come before it has asked any.
    for (let id = 0; id < 5; id++) post({ id, result: {} });
    // Not even a message: the gate refuses it too.
    post({ id: 0, result: {}, error: { code: 1, message: "both" } });
  });
  await refusals(card, 6);
  await card.box.locator("button.close").click();
  const teardown = await (await closing(view)).jsonValue();
  assert.equal(await card.box.count(), 1, "it is there until it has answered");
  await view.evaluate((id) => {
    post({ id, result: {} });
    post({ id, result: {} });
    post({ id, error: { code: 1, message: "again" } });
  }, teardown.id);
  await card.box.waitFor({ state: "detached" });
  await closes(card, /^closed$/);
  assert.equal((await rowsOf(card)).filter(({ kind }) => kind === "close").length, 1);
  await neighbourWorks();
});

test("ATK-31 a view that answers for another ends nobody's waiting but its own", async (t) => {
  const [liar, other] = [await openHostile(t), await openHostile(t)];
  await other.view.evaluate(() => (globalThis.hangs = true));
  await other.card.box.locator("button.close").click();
  await closing(other.view);
  await liar.view.evaluate(() => {
    for (let id = 0; id < 20; id++) for (const name of [id, `${id}`]) post({ id: name, result: {} });
  });
  await refusals(liar.card, 40);
  assert.equal((await rowsOf(other.card)).filter(({ kind }) => kind === "close").length, 0);
  assert.equal(await other.card.box.count(), 1);
  await neighbourWorks();
});

test("ATK-31 a view that cancels, or reports on, the calls of another touches nothing", async (t) => {
  const { view, card } = await openHostile(t);
  await neighbour.view.evaluate(() => void (globalThis.waited = call("wait")));
  await audited(neighbour.card, ({ kind, about }) => kind === "effect" && about === "wait");
  await view.evaluate(() => {
    for (let id = 0; id < 50; id++)
      for (const requestId of [id, `${id}`]) {
        post({ method: "notifications/cancelled", params: { requestId } });
        post({ method: "notifications/progress", params: { progressToken: requestId, progress: 1 } });
      }
  });
  assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked at stranger");
  await neighbour.view.evaluate(() => call("release"));
  assert.match((await neighbour.view.evaluate(() => waited)).content[0].text, /^waited for /);
  assert.deepEqual((await rowsOf(card)).filter(({ kind, method }) => kind === "effect" && method === "tools/call").map(({ about }) => about), ["look"]);
  await neighbourWorks();
});

for (const [how, hang] of [
  ["never answers", () => (globalThis.hangs = true)],
  ["never yields", () => addEventListener("message", ({ data }) => { while (data.method === "ui/resource-teardown"); })],
])
  test(`ATK-18 a view that ${how} when it is closed is gone all the same`, async (t) => {
    const { view, card } = await openHostile(t);
    await view.evaluate(hang);
    await card.box.locator("button.close").click();
    await card.box.waitFor({ state: "detached" });
    await closes(card, /^closed$/);
    await neighbourWorks();
  });

test("ATK-37 a view that reloads for ever is stopped", async (t) => {
  const card = await bench.run("odd", "reloads");
  t.after(() => card.box.evaluate((box) => box.remove()));
  await saysInstead(card, "words of reloads");
  await bench.log("odd reloadsstopped: it was loaded over and over").waitFor();
  await closes(card, /loaded over and over/);
  await neighbourWorks();
});

test("ATK-37 a view that greets for ever is stopped", async (t) => {
  const { view, card } = await openHostile(t);
  void view.evaluate(async () => { for (;;) await hello(); }).catch(() => {});
  await saysInstead(card, "words of open");
  await closes(card, /loaded over and over/);
  await neighbourWorks();
});

test("ATK-34 a view that never says hello is stopped after its time", async () => {
  await never.note.getByText("never finished its handshake").waitFor({ timeout: 90_000 });
  await saysInstead(never, "words of never");
  await bench.log("odd neverstopped").waitFor();
  await closes(never, /never finished its handshake/);
  await neighbourWorks();
});

scene.lastly();
