// The postMessage transport in real windows: frames and popups, same site and across sites, both architectures.
import assert from "node:assert/strict";
import { ask, next, openOuter, putInner, reason, setUp, start } from "../rig/frames.mjs";
import { bundle, page } from "../rig/bundle.mjs";
import { openTheatre } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";

const theatre = await openTheatre({ after });
const { site } = theatre;
const places = { "same site": () => site.neighbour, "across sites": () => site.stranger };

for (const [place, origin] of Object.entries(places))
  for (const popup of [false, true])
    test(`ARC-2 setup and connection, ${place}, in a ${popup ? "popup" : "frame"}`, async (t) => {
      const url = await putInner(site, { origin: origin(), query: { title: "Pi <b>" } });
      const { host, mishaps } = await openOuter(t, theatre, url, { popup });
      const { value } = await setUp(host);
      assert.deepEqual(value, {
        title: "Pi <b>",
        visibility: { requirement: "hidden" },
        origin: origin(),
        permissions: [],
      });
      assert.equal(await start(host), "open");
      const { result } = await ask(host, "echo", { text: "ü€😀" });
      assert.deepEqual(result, { text: "ü€😀" });
      await host.evaluate(() => outer.close());
      assert.equal(await host.evaluate(() => document.querySelectorAll("iframe").length), 0);
      assert.deepEqual(mishaps, []);
    });

for (const layout of ["standard", "inverted"])
  for (const outerSdk of ["1", "2"])
    for (const innerSdk of ["1", "2"])
      test(`ARC-1 ${layout}: SDK ${outerSdk}.x outside, ${innerSdk}.x inside`, async (t) => {
        const [mine, theirs] = layout === "standard" ? ["client", "server"] : ["server", "client"];
        const url = await putInner(site, {
          scripts: ["frames.sdk.js"],
          query: { role: theirs, sdk: innerSdk },
        });
        const { host, frameAt } = await theatre.openStage(t, { scripts: ["frames.sdk.js"] });
        const used = await host.evaluate(([url, role, sdk]) => openSdk(url, role, sdk), [url, mine, outerSdk]);
        const expected = { tools: ["add"], text: "5" };
        if (layout === "standard") assert.deepEqual(used, expected);
        else assert.deepEqual(await next(await frameAt(url), "used"), expected);
      });

// A page of somebody else's, which speaks one dialect only: the older text's, or the later type file's.
const HELLO = {
  A: { protocolVersion: "1.0", requiresVisibleSetup: false },
  B: { minProtocolVersion: "1.0", maxProtocolVersion: "1.0", requiresVisibleSetup: false, requestedPermissions: [] },
};
const COMPLETE = {
  A: { status: "success", serverTitle: "Stub", transportVisibility: { requirement: "optional", optionalMessage: "why" } },
  B: { status: "success", displayName: "Stub", transportVisibility: { requirement: "optional", description: "why" } },
};
const innerStub = (dialect) => `
  const setup = location.hash === "#setup";
  const say = (type, more, target) => parent.postMessage({ type, ...more }, target);
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== parent) return;
    if (data.type === "MCP_SETUP_HANDSHAKE_REPLY" && data.protocolVersion === "1.0")
      say("MCP_SETUP_COMPLETE", ${JSON.stringify(COMPLETE[dialect])}, origin);
    if (data.type === "MCP_TRANSPORT_HANDSHAKE_REPLY")
      say("MCP_TRANSPORT_ACCEPTED", { sessionId: data.sessionId }, origin);
    if (data.type === "MCP_MESSAGE")
      say("MCP_MESSAGE", { payload: { jsonrpc: "2.0", id: data.payload.id, result: data.payload.params } }, origin);
  });
  if (setup) say("MCP_SETUP_HANDSHAKE", ${JSON.stringify(HELLO[dialect])}, "*");
  else say("MCP_TRANSPORT_HANDSHAKE", { protocolVersion: "1.0" }, "*");`;

// The other way round: an outer page that reads one dialect's names only, and throws at what it misses.
const outerStub = (dialect) => `
  globalThis.drive = (url, setup) => new Promise((done) => {
    const frame = document.createElement("iframe");
    const origin = new URL(url).origin;
    const say = (message) => frame.contentWindow.postMessage(message, origin);
    const reply = { protocolVersion: "1.0", sessionId: "stub-session" };
    addEventListener("message", ({ source, data }) => {
      if (source !== frame.contentWindow) return;
      if (data.type === "MCP_SETUP_HANDSHAKE") {
        const version = ${dialect === "A" ? "data.protocolVersion" : "data.minProtocolVersion <= '1.0' && data.maxProtocolVersion"};
        if (version === "1.0") say({ type: "MCP_SETUP_HANDSHAKE_REPLY", ...reply });
      }
      if (data.type === "MCP_SETUP_COMPLETE")
        done([data.${dialect === "A" ? "serverTitle" : "displayName"}, data.transportVisibility.requirement]);
      if (data.type === "MCP_TRANSPORT_HANDSHAKE") say({ type: "MCP_TRANSPORT_HANDSHAKE_REPLY", ...reply });
      if (data.type === "MCP_TRANSPORT_ACCEPTED" && data.sessionId === "stub-session")
        say({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", id: 1, method: "echo", params: { x: 1 } } });
      if (data.type === "MCP_MESSAGE") done(data.payload.result);
    });
    frame.src = url + (setup ? "#setup" : "");
    document.body.append(frame);
  });`;

for (const dialect of ["A", "B"]) {
  test(`DIA-3 our outer side with an inner page that speaks only dialect ${dialect}`, async (t) => {
    const origin = site.fresh();
    const url = site.put(origin, "/stub", page({ scripts: [innerStub(dialect)] }));
    const { host } = await openOuter(t, theatre, url);
    const { value } = await setUp(host);
    assert.deepEqual([value.title, value.visibility], ["Stub", { requirement: "optional", description: "why" }]);
    assert.equal(await start(host), "open");
    assert.deepEqual((await ask(host, "anything", { x: 1 })).result, { x: 1 });
  });

  test(`DIA-3 our inner side with an outer page that speaks only dialect ${dialect}`, async (t) => {
    const url = await putInner(site);
    const { host } = await theatre.openStage(t);
    await host.addScriptTag({ content: outerStub(dialect) });
    assert.deepEqual(await host.evaluate((url) => drive(url, true), url), ["Echo", "hidden"]);
    assert.deepEqual(await host.evaluate((url) => drive(url, false), url), { x: 1 });
  });
}

test("VIS-4 twenty times shown and hidden, the page keeps its state", async (t) => {
  const url = await putInner(site);
  const { host } = await openOuter(t, theatre, url);
  await start(host);
  await ask(host, "count");
  const seen = await host.evaluate(() => {
    const seen = [];
    for (let i = 0; i < 20; i++) {
      control.show();
      seen.push(getComputedStyle(control.frame).visibility);
      control.hide();
      seen.push(getComputedStyle(control.frame).visibility);
    }
    return seen;
  });
  assert.deepEqual([...new Set(seen)], ["visible", "hidden"]);
  assert.deepEqual((await ask(host, "count")).result, { count: 2 });
});

test("MSG-1d a setup that must be seen is seen before the page goes on, and hidden frames cannot be reached by the keyboard", async (t) => {
  const url = await putInner(site, { query: { visible: "" }, body: "<button>go</button>" });
  const { host, frameAt } = await openOuter(t, theatre, url);
  await host.evaluate(() => void (globalThis.setup = settled(outer.setup())));
  const frame = await frameAt(`${url}#setup`);
  await next(frame, "pinned");
  assert.equal(await host.evaluate(() => getComputedStyle(control.frame).visibility), "visible");
  await frame.evaluate(() =>
    inner.complete({ status: "error", code: "USER_CANCELLED", message: "no" }),
  );
  const { error } = await host.evaluate(() => setup);
  assert.deepEqual([error.code, error.message], ["USER_CANCELLED", "no"]);
  // Hidden while it runs: tabbing goes past it.
  await host.evaluate(() => outer.start());
  await host.keyboard.press("Tab");
  assert.equal(await host.evaluate(() => document.activeElement === control.frame), false);
});

test("LIF-3 a page that reloads in mid-request: the request ends, and the next generation answers", async (t) => {
  const url = await putInner(site);
  const { host } = await openOuter(t, theatre, url);
  await start(host);
  await ask(host, "count");
  const pending = ask(host, "reload");
  assert.deepEqual(await pending, { closed: "PEER_RELOADED" });
  assert.equal(await next(host, "reload"), 2);
  assert.equal(await start(host), "open");
  assert.deepEqual((await ask(host, "count")).result, { count: 1 });
});

test("LIF-4 a hundred requests in flight at a reload: each ends once, and none is answered by the page after", async (t) => {
  const url = await putInner(site);
  const { host } = await openOuter(t, theatre, url);
  await start(host);
  const ends = await host.evaluate(async () => {
    const asked = Array.from({ length: 100 }, (_, n) => ask("never", { n }));
    void ask("reload");
    return (await Promise.all(asked)).map(({ closed }) => closed);
  });
  assert.deepEqual([...new Set(ends)], ["PEER_RELOADED"]);
  await next(host, "reload");
  await start(host);
  assert.deepEqual((await ask(host, "echo", { after: 1 })).result, { after: 1 });
});

test("LIF-1 LIF-6 closed inside, closed outside, taken out of the document: each says which", async (t) => {
  const url = await putInner(site);
  const { host } = await openOuter(t, theatre, url);
  await start(host);
  await host.evaluate(() => void ask("close"));
  assert.equal(await reason(host), "PEER_CLOSED");
  for (const [how, expected] of [
    ["remove", "FRAME_REMOVED"],
    ["close", undefined],
  ]) {
    await host.evaluate((url) => prepare(url), url);
    await start(host);
    await host.evaluate((how) => void (how === "remove" ? control.frame.remove() : outer.close()), how);
    assert.equal(await reason(host), expected);
  }
});

test("PHS-7 MSG-7c a page that must be set up again says so, and is, under the same session", async (t) => {
  const url = await putInner(site);
  const { host } = await openOuter(t, theatre, url);
  const session = await host.evaluate(() => outer.session);
  await start(host);
  const required = { reason: "AUTH_EXPIRED", message: "sign in", canContinue: false };
  await host.evaluate((required) => void ask("require", required), required);
  assert.deepEqual(await next(host, "required"), required);
  assert.deepEqual(await ask(host, "echo"), { refused: "SETUP_REQUIRED" });
  await host.evaluate(async () => {
    const fresh = outer.again();
    await outer.close();
    attach(fresh);
  });
  assert.equal((await setUp(host)).value.title, "Echo");
  assert.equal(await start(host), "open");
  assert.equal(await host.evaluate(() => outer.session), session);
});

test("SEC-20 an opaque page is reached through a port, and has no storage", async (t) => {
  const url = await putInner(site, { query: { opaque: "" } });
  const { host, frameAt } = await openOuter(t, theatre, url, { opaque: true });
  assert.equal((await setUp(host)).value.title, "Echo");
  assert.equal(await start(host), "open");
  assert.deepEqual((await ask(host, "echo", { x: 1 })).result, { x: 1 });
  const frame = await frameAt(url);
  assert.deepEqual(
    await frame.evaluate(() => [self.origin, heardHere.map(({ data }) => data.type)]),
    ["null", ["MCPX_PORT"]],
  );
});

test("TMO-1 TMO-2 what is no page server is given up, with what was heard", async (t) => {
  const origin = site.fresh();
  const silent = site.put(origin, "/silent", page({ body: "hello" }));
  const refusing = site.put(origin, "/refusing", page({ body: "x" }), {
    "content-security-policy": "frame-ancestors 'none'",
  });
  for (const url of [silent, refusing, `${origin}/missing`]) {
    const { host } = await openOuter(t, theatre, url, { loadTimeout: 1_500 });
    const error = await start(host);
    assert.equal(error.code, "LOAD_TIMEOUT");
    assert.match(error.message, /did not announce/);
  }
});

test("MSG-6b a request in the very task of the acceptance is answered", async (t) => {
  const url = await putInner(site);
  const { host } = await openOuter(t, theatre, url);
  const answer = await host.evaluate(() => outer.start().then(() => ask("echo", { first: 1 })));
  assert.deepEqual(answer.result, { first: 1 });
});

test("ARC-6 ten thousand notifications arrive in order", async (t) => {
  const url = await putInner(site);
  const { host, frameAt } = await openOuter(t, theatre, url);
  await start(host);
  const frame = await frameAt(url);
  await frame.evaluate(() => {
    globalThis.order = [];
    inner.onmessage = ({ params }) => {
      order.push(params.n);
      if (order.length === 10_000) ear.hear("all");
    };
  });
  await host.evaluate(() => {
    for (let n = 0; n < 10_000; n++) void outer.send({ jsonrpc: "2.0", method: "n", params: { n } });
  });
  await next(frame, "all");
  assert.ok(await frame.evaluate(() => order.every((n, at) => n === at)));
});

test("the bundle of the inner side announces itself before the page has loaded", async (t) => {
  // An image that never comes keeps the load event away; STM-1, MSG-1b.
  const never = site.route(site.neighbour, "/never.png", () => new Promise(() => {}));
  const scripts = await Promise.all(["ear.js", "frames.inner.js"].map(bundle));
  const origin = site.fresh();
  const address = site.put(origin, "/early", page({ scripts, body: `<img src="${never}">` }));
  const { host } = await openOuter(t, theatre, `${address}?allow=${site.host}`);
  assert.equal(await start(host), "open");
});
