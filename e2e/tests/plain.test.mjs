// On a plainly started Chromium with a fresh profile: storage that is really partitioned, timers that are really throttled.
import assert from "node:assert/strict";
import { startPlainBrowser } from "../rig/browser.mjs";
import { openSite } from "../rig/site.mjs";
import { openStage } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import { openTrio, reload } from "../rig/trio.mjs";

const [plain, site] = await Promise.all([startPlainBrowser(), openSite()]);
after(async () => {
  await plain.close();
  await site.close();
});
const theatre = {
  site,
  openStage: (t, options) =>
    openStage(t, { site, context: plain.context, ...options }),
};
const open = (t, more = {}) =>
  openTrio(t, theatre, { element: true, host: { port: true }, ...more });
const ping = (host) => host.evaluate(() => theHost.send("ping"));

const inventory = (frame) =>
  frame.evaluate(async () => ({
    local: { ...localStorage },
    session: { ...sessionStorage },
    cookies: document.cookie,
    databases: (await indexedDB.databases()).length,
    caches: await caches.keys(),
  }));
const NOTHING = {
  local: {},
  session: {},
  cookies: "",
  databases: 0,
  caches: [],
};

for (const port of [true, false])
  test(`a whole session leaves nothing in anyone's storage (${port ? "port" : "window"})`, async (t) => {
    const trio = await open(t, { host: { port } });
    await trio.host.evaluate(() => {
      theHost.handle("tools/call", () => ({ content: [] }));
      theHost.send("ui/notifications/tool-input", { arguments: { secret: 1 } });
      theHost.send("ui/notifications/tool-result", {
        content: [{ type: "text", text: "secret" }],
      });
    });
    await trio.view.evaluate(() =>
      app.callServerTool({ name: "t" }).then(() => {}),
    );
    assert.deepEqual(await ping(trio.host), {});
    for (const frame of [trio.host, trio.sandbox, trio.view])
      assert.deepEqual(await inventory(frame), NOTHING);
  });

test("two guests have two storages, and neither is the sandbox's or the page's", async (t) => {
  const [one, two] = [await open(t), await open(t)];
  await one.view.evaluate(() => localStorage.setItem("mine", "1"));
  assert.equal(
    await one.view.evaluate(() => localStorage.getItem("mine")),
    "1",
  );
  for (const frame of [one.host, one.sandbox, two.view, two.sandbox])
    assert.equal(
      await frame.evaluate(() => localStorage.getItem("mine")),
      null,
    );
});

test("a guest under the same name finds its storage again after a reload", async (t) => {
  const trio = await open(t);
  await trio.view.evaluate(() => localStorage.setItem("kept", "yes"));
  await reload(trio);
  assert.equal(
    await trio.view.evaluate(() => localStorage.getItem("kept")),
    "yes",
  );
});

test("V-31 an opaque guest has no storage, and the library does not miss it", async (t) => {
  const trio = await open(t, {
    raw: true,
    message: { sandbox: "allow-scripts" },
  });
  const denied = await trio.view.evaluate(() => {
    try {
      return String(localStorage);
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(denied, "SecurityError");
  assert.deepEqual(await ping(trio.host), {});
});

test("cookies set by a guest do not travel to the page's or the sandbox's port", async (t) => {
  const trio = await open(t);
  await trio.view.evaluate(() => (document.cookie = "evil=1; path=/"));
  for (const frame of [trio.host, trio.sandbox])
    assert.ok(!(await frame.evaluate(() => document.cookie)).includes("evil"));
});

/** Puts another tab in front, so that the page's timers are throttled to one a second. */
async function hide(t, trio) {
  const front = await plain.context.newPage();
  t.after(() => front.close());
  await front.bringToFront();
  await trio.host.waitForFunction(
    () => document.visibilityState === "hidden",
    undefined,
    { polling: 100 },
  );
}

test("in a hidden tab calls are answered at full speed: nothing waits for a timer", async (t) => {
  const trio = await open(t);
  await trio.host.evaluate(() =>
    theHost.handle("tools/call", ({ arguments: args }) => ({
      content: [],
      structuredContent: args,
    })),
  );
  await hide(t, trio);
  // One timer a second would let two of these through before the test's limit, not two thousand.
  const answers = await trio.view.evaluate(async () => {
    const answers = [];
    for (let n = 0; n < 2000; n++)
      answers.push(
        (await app.callServerTool({ name: "t", arguments: { n } }))
          .structuredContent.n,
      );
    return answers;
  });
  assert.deepEqual(
    answers,
    Array.from({ length: 2000 }, (_, n) => n),
  );
});

test("in a hidden tab the newest partial input arrives, in order and before the input", async (t) => {
  const trio = await open(t);
  await hide(t, trio);
  await trio.view.evaluate(() => {
    globalThis.heard = [];
    app.ontoolinputpartial = ({ arguments: { n } }) => {
      heard.push(n);
      for (const end = performance.now() + 2; performance.now() < end;);
    };
    globalThis.whole = new Promise(
      (done) =>
        (app.ontoolinput = ({ arguments: { n } }) => (heard.push(n), done())),
    );
  });
  await trio.host.evaluate(() => {
    for (let n = 0; n < 1000; n++)
      theHost.send("ui/notifications/tool-input-partial", { arguments: { n } });
    theHost.send("ui/notifications/tool-input", { arguments: { n: 1000 } });
  });
  await trio.view.evaluate(() => whole);
  const heard = await trio.view.evaluate(() => globalThis.heard);
  assert.deepEqual(
    heard,
    [...heard].sort((a, b) => a - b),
  );
  assert.deepEqual(heard.slice(-2), [999, 1000]);
});

test("in a hidden tab a call that nobody answers still ends", async (t) => {
  const trio = await open(t);
  await trio.host.evaluate(() =>
    theHost.handle("tools/call", () => new Promise(() => {})),
  );
  await hide(t, trio);
  const code = await trio.view.evaluate(() =>
    app
      .callServerTool({ name: "t" }, { timeout: 50 })
      .catch((error) => error.code),
  );
  assert.equal(code, "Timeout");
});

test("partial inputs without an end: the newest arrives although nothing follows it", async (t) => {
  const trio = await open(t);
  await trio.view.evaluate(() => {
    globalThis.newest = new Promise((done) => {
      app.ontoolinputpartial = ({ arguments: { n } }) => {
        for (const end = performance.now() + 2; performance.now() < end;);
        if (n === 999) done(n);
      };
    });
  });
  await trio.host.evaluate(() => {
    for (let n = 0; n < 1000; n++)
      theHost.send("ui/notifications/tool-input-partial", { arguments: { n } });
  });
  assert.equal(await trio.view.evaluate(() => newest), 999);
});
