// mcp-ui's form, meant ill: documents in results that are none, and messages of every wrong shape. All of it is said, and the
// neighbour does not notice.
import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { openScene } from "./scene.mjs";

const odd = { command: process.execPath, args: [path.resolve(import.meta.dirname, "../servers/mcp-ui-odd.mjs")] };
const { bench, neighbourWorks, audited, lastly } = await openScene({ after, servers: { odd } });

/** Opens a view that a person has to agree to first. */
async function open(tool) {
  const card = await bench.run("odd", tool);
  await card.ask.getByText("made anew for each request").waitFor();
  await card.answer("allow");
  return card;
}

for (const [tool, words] of [
  ["base64", "not base64"],
  ["picture", "not UTF-8"],
  ["lies", 'the type "image/png"'],
  ["remote", "remote-dom"],
  ["empty", "the document is empty"],
  ["bad_links", "none of them can be opened"],
  ["large", "limit 16777216"],
])
  test(`what is no document is shown as text, and why: ${tool}`, async () => {
    const card = await bench.run("odd", tool);
    await card.note.getByText(words).waitFor();
    assert.equal(await card.box.locator("iframe").count(), 0);
    await card.box.locator("pre.answer").waitFor();
    await neighbourWorks();
    await card.close();
  });

test("a result of 50 MB is refused in words, and its server is asked again afterwards", async () => {
  const card = await bench.run("odd", "huge");
  await card.box.locator(".answer, .note", { hasText: /large|limit|bytes/ }).first().waitFor();
  assert.equal(await card.box.locator("iframe").count(), 0);
  await neighbourWorks();
  await card.close();
  const again = await bench.run("odd", "look");
  await again.box.getByText("looked").waitFor();
  await again.close();
});

test("of many views in one result the first is shown, and the others are counted", async () => {
  const card = await open("many");
  await card.guest.getByText("number 0").waitFor();
  await card.box.locator(".banner", { hasText: /has \d+ more, which are not shown/ }).waitFor();
  await neighbourWorks();
  await card.close();
});

test("a document that never says anything stays, and is not called unready", async () => {
  const card = await open("mute");
  await card.guest.getByText("has nothing to say").waitFor();
  await audited(card, ({ kind, sha256 }) => kind === "document" && sha256);
  // The neighbour's call comes after whatever was due for it.
  await neighbourWorks();
  assert.equal(await card.note.textContent(), "");
  await card.close();
});

test("a declaration in a result opens nothing", async () => {
  const card = await open("framed");
  await card.guest.getByText("kept in").waitFor();
  const { policy } = await audited(card, ({ kind, policy }) => kind === "document" && policy);
  assert.doesNotMatch(policy, /example\.com/);
  await card.close();
});

test("a list of addresses is text, whatever stands in it, and its links are asked about", async () => {
  const card = await bench.run("odd", "links");
  await card.guest.getByText("more in the list are not shown").waitFor();
  assert.equal(await card.guest.getByRole("button", { name: "Open" }).count(), 10);
  assert.equal(await (await card.frame()).title(), "Addresses");
  await card.press(card.guest.getByRole("button", { name: "Open" }).first());
  await card.ask.getByText("wants to open").waitFor();
  await card.answer("deny");
  await card.close();
});

test("messages of every wrong shape do nothing, are answered where they can be, and the view goes on", async () => {
  const card = await open("talks");
  const view = await card.frame();
  await view.evaluate(() => {
    const cyclic = { toolName: "look" };
    cyclic.params = cyclic;
    for (const type of ["tool", "prompt", "link", "intent", "notify", "ui-size-change", "ui-request-data", "ui-lifecycle-iframe-render-data"])
      for (const payload of [undefined, null, 7, "x", [], {}, cyclic, { toolName: {}, prompt: [], url: 7, intent: null, message: {}, width: "wide", height: -1 }, new Map([[1, 2]])])
        say({ type, payload, messageId: `${type} ${typeof payload}` });
    for (const messageId of [{}, [], true, 1.5, "m".repeat(5000), null]) say({ type: "tool", messageId, payload: { toolName: "look" } });
    for (const message of [{ type: 7 }, { type: "tool".repeat(5000) }, { type: {} }, { type: "__proto__" }, [], "tool", null]) say(message);
    say({ type: "tool", messageId: "last", payload: { toolName: "look", params: {} } });
  });
  await view.waitForFunction(() => told.some(({ type, messageId, payload }) => type === "ui-message-response" && messageId === "last" && payload.response));
  const answers = await view.evaluate(() => told.filter(({ type }) => type === "ui-message-response"));
  const failed = answers.filter(({ payload }) => payload.error);
  assert.ok(failed.length > 20, `${failed.length}`);
  assert.ok(failed.every(({ payload }) => typeof payload.error.message === "string"));
  // No question came of it.
  assert.equal(await card.ask.count(), 0);
  await neighbourWorks();
  await card.close();
});

test("one message of 100 MB, and a flood of small ones: the view is stopped, and nobody else", async () => {
  // Agreed to above: who said yes to where it comes from is not asked again.
  const card = await bench.run("odd", "talks");
  await card.guest.getByText("talks").waitFor();
  const view = await card.frame();
  await view.evaluate(() => {
    say({ type: "prompt", messageId: "big", payload: { prompt: "x".repeat(1e8) } });
    setInterval(() => {
      for (let at = 0; at < 2000; at++) say({ type: "tool", messageId: at, payload: {} });
    }, 10);
  });
  await card.note.getByText("The view was stopped").waitFor();
  await neighbourWorks();
});

lastly();
