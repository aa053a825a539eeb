// ATK-36, H-26, H-40 to H-47: what a view can reach. Nothing gets out, and nothing of the host's is within its reach.
import assert from "node:assert/strict";
import { openListener } from "../rig/listener.mjs";
import { after, test } from "../rig/test.mjs";
import { openScene } from "./scene.mjs";

const listener = await openListener();
after(() => listener.close());
const scene = await openScene({ after });
const { host, bench, openHostile, neighbourWorks, rowsOf, audited } = scene;
const effects = async (card) => (await rowsOf(card)).filter(({ kind }) => kind === "effect");

test("H-26, ATK-36 nothing that was not declared gets out of a view", async (t) => {
  const { view, card } = await openHostile(t);
  const attacks = [
    ["fetch", "blocked"],
    ["fetch without cors", "blocked"],
    ["image", "blocked"],
    ["script", "blocked"],
    ["style", "blocked"],
    ["beacon", "sent"],
    ["socket", "blocked"],
    ["events", "blocked"],
    ["worker", "blocked"],
    ["frame", "sent"],
    ["popup", "blocked"],
    ["preconnect", "sent"],
    ["prefetch", "sent"],
    // Last: Chromium puts an error page in the place of a document whose form it did not send.
    ["form", "sent"],
  ];
  for (const [name, outcome] of attacks)
    assert.equal(await view.evaluate(([name, url]) => attack(name, url), [name, listener.url]), outcome, name);
  // One that nobody stops, from another page, comes after everything that was on its way.
  const probe = await bench.context.newPage();
  await probe.goto(`${listener.url}probe`).catch(() => {});
  await probe.close();
  const words = listener.knocks.map(({ words }) => words).filter((words) => !words.includes("probe"));
  // Chromium connects ahead of a frame's navigation, before it asks the policy, and then says nothing on the line.
  assert.deepEqual(words.filter(Boolean), []);
  assert.ok(words.length <= 1, "and only for the frame");
  assert.deepEqual(await effects(card), []);
  await neighbourWorks();
});

test("H-42 the host page and the sandbox are out of reach", async (t) => {
  const { view, card } = await openHostile(t);
  const reached = await view.evaluate((url) => ({
    sandbox: reach(() => parent.parent.document),
    rewritten: reach(() => (parent.parent.postMessage = () => {})),
    top: reach(() => top.document),
    frame: reach(() => parent.frameElement),
    name: reach(() => top.sessionStorage),
    siblings: reach(() => top.frames[0].document),
    navigate: top_(url),
    cookie: document.cookie,
    referrer: document.referrer,
    address: location.href,
  }), listener.url);
  assert.equal(reached.sandbox, "SecurityError");
  assert.equal(reached.rewritten, "SecurityError");
  assert.equal(reached.top, "SecurityError");
  assert.equal(reached.name, "SecurityError");
  assert.equal(reached.siblings, "SecurityError");
  assert.ok(["null", "SecurityError"].includes(reached.frame), reached.frame);
  assert.equal(reached.navigate, "SecurityError");
  assert.equal(reached.cookie, "");
  assert.ok(!reached.referrer.includes("token") && !reached.address.includes("token"));
  assert.ok(bench.page.url().startsWith(host.origin), "the page is where it was");
  assert.deepEqual(await effects(card), []);
  await neighbourWorks();
});

test("H-42 three origins for one view, and a site that no other view is on", async (t) => {
  const sites = [];
  for (const opened of [await openHostile(t), await openHostile(t)]) {
    const guest = await opened.view.evaluate(() => origin);
    const sandbox = await opened.card.sandbox.locator("html").evaluate(() => origin);
    assert.equal(new Set([guest, sandbox, host.origin]).size, 3);
    const [, site] = new RegExp(`^http://([0-9a-z]{32}\\.localhost):${host.sandboxPort}$`).exec(guest);
    // The sandbox is below its own guest, in its process; and still neither is in the other's agent.
    assert.match(sandbox, new RegExp(`^http://[0-9a-z]{32}\\.${site}:${host.sandboxPort}$`));
    assert.equal(await opened.view.evaluate(() => originAgentCluster), true);
    assert.equal(await opened.card.sandbox.locator("html").evaluate(() => originAgentCluster), true);
    const shared = await opened.view.evaluate((site) => {
      try {
        document.domain = site;
        return parent.parent.document.body.nodeName;
      } catch (error) {
        return error.name;
      }
    }, site);
    assert.equal(shared, "SecurityError");
    sites.push(site);
  }
  assert.notEqual(sites[0], sites[1]);
  await neighbourWorks();
});

test("H-90 a page's own words do not open what only a person may", async (t) => {
  const { view, card } = await openHostile(t);
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "http://127.0.0.1:1/", "data:text/html,hi"]) {
    const refused = await view.evaluate((url) => ask("ui/open-link", { url }), url);
    assert.ok(refused.message, `${url}: ${JSON.stringify(refused)}`);
  }
  assert.equal(await card.ask.count(), 0);
  await audited(card, ({ kind, method, outcome }) => kind === "verdict" && method === "ui/open-link" && outcome === "refused");
  assert.deepEqual(await effects(card), []);
  await neighbourWorks();
});

test("H-96 a file is saved after a yes, under a name that leads nowhere", async (t) => {
  const { view, card } = await openHostile(t);
  const resource = { uri: "file:///../../.bashrc", mimeType: "text/plain", text: "alias ls=rm" };
  const answer = view.evaluate((resource) => ask("ui/download-file", { contents: [{ type: "resource", resource }] }), resource);
  await card.ask.getByText("wants to save").waitFor();
  const saved = bench.page.waitForEvent("download");
  await card.answer("allow");
  const file = await saved;
  assert.doesNotMatch(file.suggestedFilename(), /[/\\]|^\./);
  assert.equal((await answer).message, undefined);
  const kinds = (await rowsOf(card)).filter(({ method, kind }) => method === "ui/download-file" || kind === "decision").map(({ kind }) => kind);
  assert.deepEqual(kinds, ["waits", "decision", "verdict", "effect"], "written down in this order");
  await neighbourWorks();
});

scene.lastly();
