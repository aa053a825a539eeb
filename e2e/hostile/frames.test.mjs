// ATK-1 to ATK-41 against the postMessage transport, where a browser is needed to show them. What a table shows as well is
// in web/test/frames*.test.ts: ATK-7, ATK-9, ATK-15 to ATK-18, ATK-20 to ATK-23, ATK-25 to ATK-28, ATK-31, ATK-32.
import assert from "node:assert/strict";
import { ask, next, openOuter, putInner, reason, setUp, start } from "../rig/frames.mjs";
import { openTheatre, putView } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import { watch } from "../rig/trio.mjs";

const theatre = await openTheatre({ after });
const { site } = theatre;

/** Fails unless the connection is as it was: alive, nothing heard, nothing leaked. */
async function unharmed(host, evil) {
  assert.deepEqual((await ask(host, "echo", { real: 1 })).result, { real: 1 });
  assert.deepEqual(await host.evaluate(() => ["message", "close", "error", "required"].flatMap((name) => ear.left(name))), []);
  if (evil) await ignorant(host, evil);
}
/** Fails if the evil page holds a session id or a payload. */
async function ignorant(host, evil) {
  const session = await host.evaluate(() => outer.session);
  const heard = await evil.evaluate(() => received.map(({ text }) => text).join());
  assert.ok(!heard.includes(session), "the session's name leaked");
  assert.ok(!heard.includes("MCP_MESSAGE"), "a payload leaked");
}
/** Says a secret to the window, and then a word to anybody: whoever moved in has heard all that it will when it hears the word. */
async function whisper(host, evil) {
  await host.evaluate(() => {
    void outer.send({ jsonrpc: "2.0", method: "secret" });
    frames[0].postMessage({ type: "word" }, "*");
  });
  await evil.evaluate(
    () =>
      new Promise((done) => {
        const look = () => received.some(({ type }) => type === "word") && done();
        addEventListener("message", look);
        look();
      }),
  );
  await ignorant(host, evil);
}
/** Attacks from a frame that is taken away for it. */
const lastAttack = (evil, session) =>
  evil.evaluate((session) => void frameAttack(parent, session), session).catch(() => {});
/** Opens a connection, and returns both pages. */
async function open(t, { inner = {}, options = {}, stage: more } = {}) {
  const url = await putInner(site, inner);
  const stage = await openOuter(t, theatre, url, options, more);
  assert.equal(await start(stage.host), "open");
  return { ...stage, url, page: options.popup ? undefined : await stage.frameAt(url) };
}
const putEvil = (origin = site.stranger, options = {}) =>
  putInner(site, { origin, scripts: ["frames.evil.js"], allow: [], ...options });
async function addFrame(host, url, sandbox) {
  await host.evaluate(
    ([url, sandbox]) => {
      const frame = document.createElement("iframe");
      if (sandbox) frame.setAttribute("sandbox", sandbox);
      frame.src = url;
      document.body.append(frame);
    },
    [url, sandbox],
  );
}

for (const kind of ["stranger", "neighbour", "the server's own origin"])
  test(`ATK-1 SEC-23 a sibling frame (${kind}) posts every message to both pages: ignored`, async (t) => {
    const { host, page, url, frameAt } = await open(t);
    const evilUrl = await putEvil(site[kind] ?? new URL(url).origin);
    await addFrame(host, evilUrl);
    const evil = await frameAt(evilUrl);
    const seen = [await watch(host), await watch(page)];
    const n = await evil.evaluate(() => {
      frameAttack(parent);
      return frameAttack(parent.frames[0]);
    });
    for (const arrived of seen) await arrived(n);
    await unharmed(host, evil);
  });

test("ATK-2 SEC-16 a page that embeds the outer page and moves the inner frame away gets nothing", async (t) => {
  const url = await putInner(site);
  const outerUrl = await putView(site, { origin: site.host, path: "/framable-outer", scripts: ["frames.outer.js"] });
  const stage = await theatre.openStage(t, { origin: site.stranger, scripts: ["frames.evil.js"] });
  await addFrame(stage.host, outerUrl);
  const outer = await stage.frameAt(outerUrl);
  await outer.evaluate((url) => prepare(url), url);
  assert.equal(await start(outer), "open");
  const evilUrl = await putEvil();
  await stage.host.evaluate((url) => (frames[0].frames[0].location = url), evilUrl);
  const evil = await stage.frameAt(evilUrl);
  await whisper(outer, evil);
  await lastAttack(evil);
  assert.equal(await reason(outer), "NAVIGATED_AWAY");
});

test("ATK-3 LIF-5 an inner page that goes to another site, which replays the handshake: cut off, requests end", async (t) => {
  const { host, frameAt } = await open(t);
  const evilUrl = await putEvil();
  const session = await host.evaluate(() => outer.session);
  const pending = ask(host, "never");
  await host.evaluate((url) => void ask("leave", { url }), evilUrl);
  const evil = await frameAt(evilUrl);
  await whisper(host, evil);
  await lastAttack(evil, session);
  assert.deepEqual(await pending, { closed: "NAVIGATED_AWAY" });
});

test("ATK-4 SEC-20 the same with an opaque page: whoever moved in has no port, no session, no message", async (t) => {
  const { host } = await open(t, { inner: { query: { opaque: "" } }, options: { opaque: true } });
  const evilUrl = await putEvil();
  await host.evaluate((url) => void ask("leave", { url }), evilUrl);
  const evil = await frameWith(host, evilUrl);
  await whisper(host, evil);
  await lastAttack(evil);
  assert.equal(await reason(host), "NAVIGATED_AWAY");
});

test("ATK-5 WIN-6 PHS-4 an address that redirects to another origin: both are named, nobody is replied to", async (t) => {
  const elsewhere = await putInner(site, { origin: site.stranger });
  const url = site.route(site.neighbour, "/moved", () => ({ status: 302, headers: { location: elsewhere } }));
  for (const phase of ["setup", "start"]) {
    const { host } = await openOuter(t, theatre, url);
    const error = phase === "setup" ? (await setUp(host)).error : await start(host);
    assert.equal(error.code, "ORIGIN_MISMATCH");
    assert.deepEqual(error.data, { expected: site.neighbour, got: site.stranger });
  }
});

test("ATK-6 a page that is not allowed frames the real server: no pin, no data", async (t) => {
  const url = await putInner(site);
  const stage = await theatre.openStage(t, { origin: site.stranger, scripts: ["frames.evil.js"] });
  await addFrame(stage.host, url);
  const page = await stage.frameAt(url);
  const arrived = await watch(page);
  await arrived(await stage.host.evaluate(() => frameAttack(frames[0])));
  assert.equal(await page.evaluate(() => inner.session === undefined), true);
  const heard = await stage.host.evaluate(() => [...new Set(received.map(({ type }) => type))]);
  assert.deepEqual(heard, ["MCP_TRANSPORT_HANDSHAKE"]);
});

test("ATK-6 SEC-16 frame-ancestors keeps it from being framed at all", async (t) => {
  const url = await putInner(site, { headers: { "content-security-policy": `frame-ancestors ${site.host}` } });
  const stage = await theatre.openStage(t, { origin: site.stranger });
  const refused = stage.host.waitForEvent("requestfailed", (request) => request.url() === url);
  await addFrame(stage.host, url);
  assert.match((await refused).failure().errorText, /BLOCKED/);
  const { host } = await openOuter(t, theatre, url);
  assert.equal(await start(host), "open");
});

test("ATK-8 SEC-4 an opaque page is not answered by another opaque page", async (t) => {
  const url = await putInner(site, { query: { opaque: "" } });
  const evilUrl = await putEvil();
  const stage = await theatre.openStage(t);
  await addFrame(stage.host, evilUrl, "allow-scripts");
  const evil = await frameWith(stage.host, evilUrl);
  await addFrame(evil, url, "allow-scripts");
  const page = await frameWith(stage.host, url);
  const arrived = await watch(page);
  await arrived(await evil.evaluate(() => frameAttack(frames[0])));
  assert.equal(await page.evaluate(() => inner.session === undefined), true);
});

test("ATK-10 SEC-10 an event made by a script in the page is ignored", async (t) => {
  const { host, page, url } = await open(t);
  await host.evaluate(
    ({ origin }) =>
      dispatchEvent(
        new MessageEvent("message", {
          data: { type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "evil" } },
          origin,
          source: frames[0],
        }),
      ),
    { origin: new URL(url).origin },
  );
  await page.evaluate(() =>
    dispatchEvent(new MessageEvent("message", { data: { type: "MCPX_CLOSE" }, origin: "x", source: parent })),
  );
  await unharmed(host);
});

test("ATK-11 a page that the outer page opened posts to it: ignored", async (t) => {
  const { host, context } = await open(t);
  const evilUrl = await putEvil();
  const opened = context.waitForEvent("page");
  await host.evaluate((url) => void window.open(url), evilUrl);
  const evil = await opened;
  await evil.waitForLoadState();
  const arrived = await watch(host);
  await arrived(await evil.evaluate(() => frameAttack(opener)));
  await unharmed(host, evil);
});

test("ATK-12 a page that is not allowed opens the real server as its popup: refused", async (t) => {
  const url = await putInner(site);
  const stage = await theatre.openStage(t, { origin: site.stranger, scripts: ["frames.evil.js"] });
  const opened = stage.context.waitForEvent("page");
  await stage.host.evaluate((url) => void (globalThis.victim = window.open(url)), url);
  const page = await opened;
  await page.waitForLoadState();
  const arrived = await watch(page);
  await arrived(await stage.host.evaluate(() => frameAttack(victim)));
  assert.equal(await page.evaluate(() => inner.session === undefined), true);
});

test("ATK-13 an empty and a blob child of the outer page's own origin: the window decides, not the origin", async (t) => {
  const { host, page } = await open(t);
  const arrived = await watch(host);
  const n = await host.evaluate(async () => {
    const empty = document.createElement("iframe");
    document.body.append(empty);
    const script = "for (const m of JSON.parse(name)) parent.postMessage(m, '*');";
    const messages = [
      { type: "MCP_MESSAGE", attack: true, payload: { jsonrpc: "2.0", method: "evil" } },
      { type: "MCP_TRANSPORT_HANDSHAKE", attack: true, protocolVersion: "1.0" },
    ];
    empty.contentWindow.name = JSON.stringify(messages);
    empty.contentWindow.eval(script);
    const blob = document.createElement("iframe");
    blob.name = JSON.stringify(messages);
    blob.src = URL.createObjectURL(new Blob([`<script>${script}<\/script>`], { type: "text/html" }));
    document.body.append(blob);
    return messages.length * 2;
  });
  await arrived(n);
  void page;
  await unharmed(host);
});

test("ATK-14 a message without a window is ignored", async (t) => {
  const { host } = await open(t);
  await host.evaluate(async () => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => dispatchEvent(new MessageEvent("message", { data }));
    port2.postMessage({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "evil" } });
    await new Promise((done) => port1.addEventListener("message", done));
  });
  await unharmed(host);
});

test("ATK-19 PHS-5 a connected page that is moved to its setup by script starts over, and the connection ends", async (t) => {
  const { host, page } = await open(t);
  await page.evaluate(() => void (location.hash = "#setup"));
  assert.equal(await reason(host), "WRONG_PHASE");
});

test("ATK-24 WIN-3 two servers in two popups: each its own window and its own answers", async (t) => {
  const [one, two] = await Promise.all([putInner(site), putInner(site)]);
  const { host } = await openOuter(t, theatre, one, { popup: true });
  assert.equal(await start(host), "open");
  await host.evaluate(() => (globalThis.first = outer));
  await host.evaluate((url) => prepare(url, { popup: true }), two);
  assert.equal(await start(host), "open");
  assert.deepEqual((await ask(host, "count")).result, { count: 1 });
  await host.evaluate(() => attach(first));
  assert.deepEqual((await ask(host, "count")).result, { count: 1 });
});

test("ATK-29 SEC-11 ten thousand ports in one message are closed, and nothing happens", async (t) => {
  const { host, page } = await open(t);
  await page.evaluate(async (target) => {
    const channels = Array.from({ length: 10_000 }, () => new MessageChannel());
    parent.postMessage({ type: "MCPX_PORT" }, target, channels.map(({ port2 }) => port2));
    const buffer = new ArrayBuffer(1024);
    parent.postMessage({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "n", params: { buffer } } }, target, [buffer]);
  }, site.host);
  assert.deepEqual((await ask(host, "echo", { after: 1 })).result, { after: 1 });
  assert.deepEqual(await host.evaluate(() => ear.left("error")), ["NOT_JSON"]);
});

test("ATK-30 memory that cannot be shared arrives as an error, and the connection lives", async (t) => {
  // Shared memory exists only where pages are isolated, and cannot leave its group.
  const isolated = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  };
  const { host, page } = await open(t, {
    inner: { headers: { ...isolated, "cross-origin-resource-policy": "cross-origin" } },
    stage: { headers: isolated },
  });
  await page.evaluate((target) => {
    const wasm = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    try {
      parent.postMessage({ type: "MCP_MESSAGE", memory: wasm.buffer }, target);
    } catch {
      // The browser may refuse it here already.
    }
  }, site.host);
  await unharmed(host);
});

test("ATK-33 SEC-18 fifty thousand messages at once: cut off with the reason, and the page answers", async (t) => {
  const { host, page } = await open(t);
  const closed = reason(host);
  await page
    .evaluate((target) => {
      for (let i = 0; i < 50_000; i++)
        parent.postMessage({ type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", method: "n" } }, target);
    }, site.host)
    // The frame is taken away under it.
    .catch(() => {});
  assert.equal(await closed, "FLOODED");
  assert.equal(await host.evaluate(() => document.querySelectorAll("iframe").length), 0);
});

test("ATK-34 a page that announces itself and stays away, and one that loads too late", async (t) => {
  const silent = site.put(
    site.fresh(),
    "/slow",
    '<script>parent.postMessage({ type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" }, "*")</script>',
  );
  const { host } = await openOuter(t, theatre, silent, { acceptTimeout: 500 });
  assert.equal((await start(host)).code, "ACCEPT_TIMEOUT");
  const never = site.route(site.fresh(), "/never", () => new Promise(() => {}));
  await host.evaluate(([url, options]) => prepare(url, options), [never, { loadTimeout: 500 }]);
  const error = await start(host);
  assert.equal(error.code, "LOAD_TIMEOUT");
  assert.match(error.message, /did not load/);
});

test("ATK-36 an inner page's dialogs, popups, downloads and navigation of the whole tab are blocked", async (t) => {
  const { host, page, context } = await open(t);
  const opened = [];
  context.on("page", (page) => opened.push(page.url()));
  host.on("dialog", (dialog) => opened.push(dialog.message()) && dialog.dismiss());
  host.on("download", (download) => opened.push(download.url()));
  const before = host.url();
  const tried = await page.evaluate(() => {
    const tried = [];
    tried.push(confirm("evil"));
    tried.push(window.open("about:blank") === null);
    try {
      top.location.href = "about:blank";
      tried.push(false);
    } catch {
      tried.push(true);
    }
    Object.assign(document.createElement("a"), { href: "data:,x", download: "x" }).click();
    return tried;
  });
  assert.deepEqual(tried, [false, true, true]);
  assert.deepEqual(opened, []);
  assert.equal(host.url(), before);
  await unharmed(host);
});

test("ATK-37 a page that reloads for ever is left alone after three times", async (t) => {
  const url = await putInner(site);
  const { host } = await openOuter(t, theatre, url);
  await host.evaluate(() => {
    // Whoever takes every next generation at once.
    const follow = (transport) => {
      attach(transport);
      transport.onreload = follow;
      void transport.start().then(() => ask("reload"), () => {});
    };
    follow(outer);
  });
  const ends = [];
  for (let i = 0; i < 4; i++) ends.push(await next(host, "close"));
  assert.deepEqual([...new Set(ends)], ["PEER_RELOADED"]);
  assert.equal(await host.evaluate(() => document.querySelectorAll("iframe").length), 0);
});

for (const coop of ["same-origin", "same-origin-allow-popups", "noopener-allow-popups"])
  test(`ATK-38 WIN-4 a popup with the opener policy ${coop} is cut off: said at once, as what it is`, async (t) => {
    const url = await putInner(site, { headers: { "cross-origin-opener-policy": coop } });
    const { host } = await openOuter(t, theatre, url, { popup: true });
    assert.equal((await start(host)).code, "OPENER_SEVERED");
  });

test("ATK-38 WIN-4 an outer page with the policy same-origin is cut off; with same-origin-allow-popups it is not", async (t) => {
  const url = await putInner(site);
  const policy = (coop) => ({ headers: { "cross-origin-opener-policy": coop } });
  const severed = await openOuter(t, theatre, url, { popup: true }, policy("same-origin"));
  assert.equal((await start(severed.host)).code, "OPENER_SEVERED");
  const whole = await openOuter(t, theatre, url, { popup: true }, policy("same-origin-allow-popups"));
  assert.equal(await start(whole.host), "open");
});

test("ATK-39 a popup that somebody else navigates is given up at its first word", async (t) => {
  const { host, context, url } = await open(t, { options: { popup: true } });
  const popup = context.pages().find((page) => page.url() === url);
  const evilUrl = await putEvil();
  // The popup's own opener may navigate it, as any script in that page may.
  await popup.evaluate((url) => void (location.href = url), evilUrl);
  await popup.waitForURL(evilUrl);
  await popup.evaluate(() => frameAttack(opener));
  assert.equal(await reason(host), "NAVIGATED_AWAY");
  await ignorant(host, popup).catch((error) => {
    // The popup is closed with the connection, and what it heard is gone with it.
    if (/leaked/.test(error.message)) throw error;
  });
});

test("ATK-40 WIN-5 a popup closed in mid-request: the request ends, and says who", async (t) => {
  const { host, context, url } = await open(t, { options: { popup: true } });
  const pending = ask(host, "never");
  await context.pages().find((page) => page.url() === url).close();
  assert.deepEqual(await pending, { closed: "USER_CLOSED" });
});

test("ATK-40 LIF-2 an outer page closed in mid-request: its popup notices", async (t) => {
  const { host, context, url } = await open(t, { options: { popup: true } });
  const popup = context.pages().find((page) => page.url() === url);
  await host.evaluate(() => void ask("never"));
  await host.close();
  assert.equal(await next(popup, "close"), "PEER_CLOSED");
});

for (const [place, origin] of Object.entries({ "of its site": () => site.neighbour, "of another": () => site.stranger }))
  test(`WIN-7 an outer page that reloads tells its popup ${place}`, async (t) => {
    const { host, context, url } = await open(t, { options: { popup: true }, inner: { origin: origin() } });
    const popup = context.pages().find((page) => page.url() === url);
    await host.reload();
    assert.equal(await next(popup, "close"), "PEER_CLOSED");
    assert.match(await popup.evaluate(() => inner.reason.message), /reloaded/);
  });

test("WIN-7 an outer page that reloaded is a fresh page, and does not inherit its popup", async (t) => {
  const { host, context, url } = await open(t, { options: { popup: true } });
  const popup = context.pages().find((page) => page.url() === url);
  await host.reload();
  const arrived = await watch(popup);
  // The same origin and the same window; it does not know the session's name. The popup sees its own opener speak.
  await popup.evaluate(() => (globalThis.before = inner.session.sessionId));
  await host.evaluate(() =>
    addEventListener("message", ({ source }) => {
      for (const type of ["MCP_TRANSPORT_HANDSHAKE_REPLY", "MCP_SETUP_HANDSHAKE_REPLY"])
        source.postMessage({ type, protocolVersion: "1.0", sessionId: "fresh", attack: true }, "*");
    }),
  );
  await popup.evaluate(() => opener.postMessage("here", "*"));
  await arrived(2);
  assert.equal(await popup.evaluate(() => inner.session.sessionId === before), true);
});

test("ATK-41 WIN-7b a popup can replace the outer page, a frame cannot", async (t) => {
  const evilUrl = await putEvil();
  const framed = await open(t);
  const refused = await framed.page.evaluate((url) => {
    try {
      parent.location.href = url;
      return "navigated";
    } catch (error) {
      return error.name;
    }
  }, evilUrl);
  assert.equal(refused, "SecurityError");
  const { host, context, url } = await open(t, { options: { popup: true } });
  const popup = context.pages().find((page) => page.url() === url);
  await popup.evaluate((url) => void (opener.location.href = url), evilUrl);
  // So a popup deserves more trust than a frame: this is the browser's rule, and the documentation says it.
  await host.waitForURL(evilUrl);
});

test("WIN-2 WIN-8 a popup that the browser does not open is reported as blocked", async (t) => {
  const url = await putInner(site);
  const stage = await theatre.openStage(t);
  const sandboxed = await putView(site, { origin: site.neighbour, path: "/no-popups", scripts: ["frames.outer.js"] });
  await addFrame(stage.host, sandboxed, "allow-scripts allow-same-origin");
  const outer = await stage.frameAt(sandboxed);
  await outer.evaluate((url) => prepare(url, { popup: true }), url);
  assert.equal((await start(outer)).code, "POPUP_BLOCKED");
});

test("SEC-14 SEC-15 a feature is there only when it was granted, and only for the server's origin", async (t) => {
  const allowed = (frame) => frame.evaluate(() => document.featurePolicy.allowsFeature("geolocation"));
  const without = await open(t);
  assert.equal(await allowed(without.page), false);
  const given = await open(t, { options: { permissions: ["geolocation"] } });
  assert.equal(await allowed(given.page), true);
});

/** The frame at an address, opaque ones too. */
async function frameWith(host, url) {
  const root = "frames" in host ? host : host.page();
  const fits = (frame) => frame.url() === url;
  const frame = root.frames().find(fits) ?? (await root.waitForEvent("framenavigated", fits));
  await frame.waitForLoadState("load");
  return frame;
}
