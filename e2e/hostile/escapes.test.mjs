// What a hostile view meets in the real host: nothing gets out, nothing gets in, and only it is stopped.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";
import { openListener } from "../rig/listener.mjs";

const host = await startHost({ servers: { stranger: hostile("view"), neighbour: hostile("odd") } });
const browser = await startBrowser();
const listener = await openListener();
after(async () => {
  await browser.close();
  listener.close();
  await host.stop();
});
const bench = await openBench(browser, host);

async function openHostile(t) {
  const card = await bench.run("stranger", "open");
  await card.guest.locator("body[data-ready]").waitFor();
  t.after(() => card.box.evaluate((box) => box.remove()));
  return { card, view: await card.frame() };
}

test("nothing that was not declared gets out of a view", async (t) => {
  const { view } = await openHostile(t);
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
});

test("the host page and the sandbox are out of reach", async (t) => {
  const { view } = await openHostile(t);
  const reached = await view.evaluate((url) => ({
    parent: reach(() => parent.document),
    top: reach(() => top.document),
    frame: reach(() => frameElement),
    name: reach(() => top.sessionStorage),
    siblings: reach(() => top.frames[0].document),
    navigate: top_(url),
    cookie: document.cookie,
    referrer: document.referrer,
    address: location.href,
  }), listener.url);
  assert.equal(reached.parent, "SecurityError");
  assert.equal(reached.top, "SecurityError");
  assert.equal(reached.name, "SecurityError");
  assert.equal(reached.siblings, "SecurityError");
  assert.ok(["null", "SecurityError"].includes(reached.frame), reached.frame);
  assert.equal(reached.navigate, "SecurityError");
  assert.equal(reached.cookie, "");
  assert.ok(!reached.referrer.includes("token") && !reached.address.includes("token"));
  assert.ok(bench.page.url().startsWith(host.origin), "the page is where it was");
});

test("three origins for one view, and a site that no other view is on", async (t) => {
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
        return parent.document.body.nodeName;
      } catch (error) {
        return error.name;
      }
    }, site);
    assert.equal(shared, "SecurityError");
    sites.push(site);
  }
  assert.notEqual(sites[0], sites[1]);
});

test("messages in the sandbox's name and answers to nobody change nothing", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => {
    post({ method: "ui/notifications/sandbox-proxy-ready", params: {} });
    post({ method: "ui/notifications/sandbox-resource-ready", params: { html: "<h1>replaced</h1>" } });
    post({ method: "ui/notifications/tool-result", params: { content: [{ type: "text", text: "forged" }] } });
    post({ id: 4711, result: { forged: true } });
    post({ id: "q0", result: {} });
    top.postMessage({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "look", arguments: {} } }, "*");
    top.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*");
  });
  // Whoever is still served after all that was not thrown off its feet.
  assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked");
  assert.equal(await card.guest.locator("h1").count(), 0);
  assert.notEqual(await card.guest.locator("body").getAttribute("data-result"), "forged");
  const calls = bench.log('stranger opentools/call "look": allowed');
  await calls.first().waitFor();
  assert.equal(await calls.count(), 1, "the one posted to the page itself was not heard");
});

test("a tool for the model alone is refused, and so is another server's", async (t) => {
  const { view } = await openHostile(t);
  const own = await view.evaluate(() => call("model_only"));
  assert.match(own.message, /not visible to apps/);
  const other = await view.evaluate(() => call("steady"));
  assert.match(other.message, /not a tool of this view's server/);
  await bench.log("model_only").first().waitFor();
});

test("a page's own words do not open what only a person may", async (t) => {
  const { view, card } = await openHostile(t);
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "http://127.0.0.1:1/", "data:text/html,hi"]) {
    const refused = await view.evaluate((url) => ask("ui/open-link", { url }), url);
    assert.ok(refused.message, `${url}: ${JSON.stringify(refused)}`);
  }
  assert.equal(await card.ask.count(), 0);
});

test("a file is saved after a yes, under a name that leads nowhere", async (t) => {
  const { view, card } = await openHostile(t);
  const resource = { uri: "file:///../../.bashrc", mimeType: "text/plain", text: "alias ls=rm" };
  const answer = view.evaluate((resource) => ask("ui/download-file", { contents: [{ type: "resource", resource }] }), resource);
  await card.ask.getByText("wants to save").waitFor();
  const saved = bench.page.waitForEvent("download");
  await card.answer("allow");
  const file = await saved;
  assert.doesNotMatch(file.suggestedFilename(), /[/\\]|^\./);
  assert.equal((await answer).message, undefined);
});

test("a flood stops the view that floods, and no other", async (t) => {
  const steady = await bench.run("neighbour", "steady");
  await steady.guest.locator("body[data-result]").waitFor();
  const { view, card } = await openHostile(t);
  // Slow enough for the relay to let it pass, and far more than the gate does. The loop ends with its frame.
  void view.evaluate(async () => {
    for (;;) {
      for (let n = 0; n < 50; n++) post({ method: "ui/notifications/no-such-thing", params: { n } });
      await new Promise((done) => setTimeout(done, 20));
    }
  }).catch(() => {});
  await card.note.getByText("The view was stopped").waitFor();
  assert.equal(await card.box.locator("iframe").count(), 0);
  assert.ok((await bench.log("over the limit").count()) < 200, "it must not be able to wash everything else out of the log");
  const neighbour = await steady.frame();
  assert.match(await neighbour.evaluate(() => call("steady").then(({ content }) => content[0].text)), /words of steady/);
  await steady.close();
});

test("a flood that the sandbox stops is told on the card and in the log", async (t) => {
  const { view, card } = await openHostile(t);
  const stopped = await bench.log("stranger openstopped").count();
  void view.evaluate(() => {
    // Only the sandbox sees these: it passes nothing on that is written in its own name.
    for (let n = 0; n < 40_000; n++) post({ method: "ui/notifications/sandbox-proxy-ready", params: { n } });
  }).catch(() => {});
  await card.note.getByText("The view was stopped").waitFor();
  await card.box.locator(".answer", { hasText: "words of open" }).waitFor();
  await bench.log("stranger openstopped").nth(stopped).waitFor();
  assert.equal(await card.box.locator("iframe").count(), 0);
  const another = await openHostile(t);
  assert.equal((await another.view.evaluate(() => call("look"))).content[0].text, "looked");
});

test("the page itself had no mishap", () => assert.deepEqual(bench.mishaps, []));
