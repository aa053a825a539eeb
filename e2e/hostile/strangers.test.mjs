// ATK-1 to ATK-19: who speaks. A view reaches nobody but its own host, and passes for nobody else.
import assert from "node:assert/strict";
import { bundle } from "../rig/bundle.mjs";
import { openListener } from "../rig/listener.mjs";
import { after, test } from "../rig/test.mjs";
import { watch } from "../rig/trio.mjs";
import { openScene } from "./scene.mjs";

const listener = await openListener();
after(() => listener.close());
const scene = await openScene({ after });
const { bench, neighbour, openHostile, neighbourWorks, reached, rowsOf, audited, refusals } = scene;

const STRANGER = await bundle("stranger.js");
/** What came of a view beside its opening and its handshake. */
const deeds = async (card) =>
  (await rowsOf(card)).filter(({ kind, method }) => !["open", "document", "counts"].includes(kind) && method !== "ui/initialize");

test("ATK-1 a view posts every message to the host page: none counts, it finds no other view's frames, and it is ended", async (t) => {
  const { view, card } = await openHostile(t);
  const before = (await rowsOf(neighbour.card)).length;
  await view.evaluate(STRANGER);
  assert.equal(await view.evaluate(() => top.frames.length), 0, "frames in a shadow tree are in nobody's list");
  await view.evaluate(() => void attack(top));
  await card.note.getByText("The view was stopped: it wrote to this page itself, past its sandbox.").waitFor();
  await neighbourWorks();
  const end = (await deeds(card)).map(({ kind, outcome }) => `${kind} ${outcome}`);
  assert.deepEqual(end, ["close stopped: it wrote to this page itself, past its sandbox"], "what was said to the page is not taken for what was said to the sandbox");
  // Of a call: its verdict, its effect, and what came of it.
  assert.equal((await rowsOf(neighbour.card)).length, before + 3, "and nothing but its own call is written down for the other");
});

test("ATK-3 a view that navigates itself away gets nowhere, and its place is nobody's", async (t) => {
  const { view, card } = await openHostile(t);
  const knocks = listener.knocks.length;
  await view.evaluate((url) => void (location.href = url), listener.url).catch(() => {});
  await card.guest.locator("body[data-ready]").waitFor({ state: "detached" });
  assert.deepEqual(listener.knocks.slice(knocks).filter(({ words }) => words), []);
  assert.deepEqual(await deeds(card), []);
  await neighbourWorks();
});

test("ATK-9 a payload that claims an origin and a source of its own is no more than it was", async (t) => {
  const { view, card } = await openHostile(t);
  const claims = { origin: bench.page.url(), source: "host", isTrusted: true, view: neighbour.card.view, server: "neighbour" };
  const answer = await view.evaluate((claims) => {
    const answered = ask("tools/call", { name: "steady", arguments: {}, ...claims });
    post({ id: 77, method: "tools/call", params: { name: "steady" }, ...claims });
    return answered;
  }, claims);
  assert.match(answer.message, /not a tool of this view's server/);
  const refused = await audited(card, ({ kind, id }) => kind === "verdict" && id === "77");
  assert.deepEqual([refused.outcome, refused.server], ["refused", "stranger"]);
  await neighbourWorks();
});

test("ATK-13 a frame inside the view is not the view", async (t) => {
  const { view, card } = await openHostile(t);
  await reached(view);
  const before = (await rowsOf(card)).length;
  const porch = await watch(view.parentFrame());
  const sandbox = await watch(view.parentFrame().parentFrame());
  await view.evaluate(() => {
    const child = document.body.appendChild(document.createElement("iframe"));
    const say = (target) => `<script>
      const params = { name: "look", attack: true };
      ${target}.postMessage({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, "*");
    </script>`;
    child.contentDocument.write(say("parent.parent.parent"));
    // One that is of another origin does not get the porch's function.
    const other = Object.assign(document.createElement("iframe"), { sandbox: "allow-scripts", srcdoc: say("parent.parent") });
    document.body.append(other);
  });
  await porch(1);
  await sandbox(1);
  assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked at stranger");
  assert.deepEqual(await reached(view), ["look"]);
  // Three rows each for the two calls of its own.
  assert.equal((await rowsOf(card)).length, before + 6);
  await neighbourWorks();
});

test("ATK-19 messages in the sandbox's name, and answers to nobody, change nothing", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => {
    for (const name of ["sandbox-proxy-ready", "sandbox-ready", "sandbox-stopped"]) {
      post({ method: `ui/notifications/${name}`, params: {} });
      top.postMessage({ jsonrpc: "2.0", method: `ui/notifications/${name}`, params: {} }, "*");
    }
    post({ method: "ui/notifications/sandbox-resource-ready", params: { html: "<h1>replaced</h1>" } });
    post({ method: "ui/notifications/tool-result", params: { content: [{ type: "text", text: "forged" }] } });
    post({ id: 4711, result: { forged: true } });
    post({ id: "q0", result: {} });
  });
  // Whoever is still served after all that was not thrown off its feet.
  assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked at stranger");
  assert.equal(await card.guest.locator("h1").count(), 0);
  assert.notEqual(await card.guest.locator("body").getAttribute("data-result"), "forged");
  await refusals(card, 2);
  await neighbourWorks();
});

scene.lastly();
