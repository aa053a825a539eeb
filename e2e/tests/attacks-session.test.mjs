// ATK-15 to ATK-25: when things are said, and what they may change.
import assert from "node:assert/strict";
import { DEFAULT_POLICY, putSandbox } from "../rig/sandbox.mjs";
import { mountFrame, openTheatre } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import {
  addStranger,
  connectApp,
  framesIn,
  openTrio,
  watch,
} from "../rig/trio.mjs";

const theatre = await openTheatre({ after });
const { site, openStage } = theatre;

const left = (frame, name) => frame.evaluate((name) => ear.left(name), name);
const ping = (host) => host.evaluate(() => theHost.send("ping"));
const methods = (host) =>
  host.evaluate(() => ear.left("wire").map(({ method }) => method));

test("ATK-15 a second answer to ui/initialize changes nothing", async (t) => {
  const trio = await openTrio(t, theatre);
  await trio.host.evaluate(() => {
    const hostCapabilities = { experimental: { "transom/port": {} } };
    const evil = {
      protocolVersion: "x",
      hostInfo: { name: "evil", version: "1" },
      hostCapabilities,
      hostContext: { theme: "light" },
    };
    theHost.post({ id: 0, result: evil });
    const { port2 } = new MessageChannel();
    theFrame.contentWindow.postMessage(
      { jsonrpc: "2.0", id: 0, result: evil },
      "*",
      [port2],
    );
  });
  assert.deepEqual(await ping(trio.host), {});
  assert.equal(
    await trio.view.evaluate(() => app.getHostVersion().name),
    "e2e-host",
  );
  assert.equal(
    await trio.view.evaluate(() => app.getHostContext().theme),
    "dark",
  );
});

test("ATK-15 a stranger cannot answer ui/initialize before the host does", async (t) => {
  const trio = await openTrio(t, theatre, { connect: false });
  const stranger = await addStranger(trio.host, site);
  await trio.host.evaluate(() => {
    theHost.handle(
      "ui/initialize",
      () => (
        ear.hear("asked"),
        new Promise((done) => (globalThis.answerNow = done))
      ),
    );
  });
  const arrived = await watch(trio.view);
  const connected = connectApp(trio.view);
  await trio.host.evaluate(() => ear.next("asked"));
  await arrived(
    await stranger.evaluate(() => attack(parent.frames[0].frames[0].frames[0])),
  );
  await trio.host.evaluate(() =>
    answerNow({
      protocolVersion: "2026-01-26",
      hostInfo: { name: "real", version: "1" },
      hostCapabilities: {},
      hostContext: {},
    }),
  );
  await connected;
  assert.equal(
    await trio.view.evaluate(() => app.getHostVersion().name),
    "real",
  );
});

test("ATK-15 a second document for the sandbox is refused (P-17)", async (t) => {
  const trio = await openTrio(t, theatre, { raw: true });
  const documents = await framesIn(trio.sandbox);
  await trio.host.evaluate(() =>
    theHost.sendHtml("<script>parent.postMessage({evil:1},'*')</script>"),
  );
  assert.deepEqual(await ping(trio.host), {});
  assert.equal(await framesIn(trio.sandbox), documents);
  assert.equal(
    await trio.view.evaluate(() => app.getHostContext().theme),
    "dark",
  );
});

test("ATK-16 answers under prototype names settle nothing", async (t) => {
  const trio = await openTrio(t, theatre);
  await trio.host.evaluate(() => {
    for (const id of [
      "__proto__",
      "constructor",
      "toString",
      "",
      "hasOwnProperty",
    ])
      theHost.post({ id, result: { content: [] } });
  });
  assert.deepEqual(await ping(trio.host), {});
  assert.deepEqual(await left(trio.view, "apperror"), []);
});

test("ATK-17 a recorded session replayed by a stranger in a fresh page does nothing", async (t) => {
  const first = await openTrio(t, theatre);
  await first.host.evaluate(() =>
    theHost.handle("tools/call", () => ({ content: [] })),
  );
  await first.view.evaluate(() =>
    app.callServerTool({ name: "t" }).then(() => {}),
  );
  const transcript = await first.host.evaluate(() => ear.left("wire"));
  assert.ok(transcript.length >= 4);

  const second = await openTrio(t, theatre, { connect: false });
  const stranger = await addStranger(second.host, site);
  const seen = await Promise.all([second.host, second.sandbox].map(watch));
  await stranger.evaluate((transcript) => {
    for (const message of transcript)
      for (const target of [parent, parent.frames[0]])
        target.postMessage({ ...message, attack: true }, "*");
  }, transcript);
  await Promise.all(seen.map((arrived) => arrived(transcript.length)));
  assert.deepEqual(await methods(second.host), [
    "ui/notifications/sandbox-proxy-ready",
  ]);
  assert.deepEqual(await stranger.evaluate(() => received), []);
});

test("ATK-18 what the host says before there is a document is not kept for it", async (t) => {
  const stage = await openStage(t, { scripts: ["small-host.js"] });
  const sandbox = await putSandbox(site);
  await mountFrame(stage.host, sandbox, {
    hostContext: {},
    hostCapabilities: {},
    origin: new URL(sandbox).origin,
  });
  await stage.host.evaluate(() => ear.next("sandboxready"));
  const html =
    "<script>addEventListener('message', ({ data }) => parent.postMessage({ heard: data.method }, '*'))</script>";
  await stage.host.evaluate((html) => {
    theHost.send("ui/notifications/tool-result", {
      content: [{ type: "text", text: "early" }],
    });
    theHost.sendHtml(html);
  }, html);
  const frame = await stage.frameAt("about:srcdoc");
  await frame.waitForLoadState("load");
  await stage.host.evaluate(() =>
    theHost.post({ method: "ui/notifications/tool-input", params: {} }),
  );
  const heard = await stage.host.evaluate(async () => {
    for (;;) {
      const { heard } = await ear.next("wire");
      if (heard) return heard;
    }
  });
  assert.equal(heard, "ui/notifications/tool-input");
});

test("ATK-18 a view that asks before its handshake ended sends initialized first", async (t) => {
  const trio = await openTrio(t, theatre, { connect: false });
  await trio.host.evaluate(() =>
    theHost.handle("tools/call", () => ({ content: [] })),
  );
  await trio.view.evaluate(async () => {
    globalThis.app = new library.App(
      { name: "v", version: "1" },
      {},
      { autoResize: false },
    );
    const connecting = app.connect();
    await Promise.all([connecting, app.callServerTool({ name: "early" })]);
  });
  const order = (await methods(trio.host)).filter(Boolean);
  assert.deepEqual(order.slice(1), [
    "ui/initialize",
    "ui/notifications/initialized",
    "tools/call",
  ]);
});

test("ATK-18 a call before connect is refused with a typed error", async (t) => {
  const trio = await openTrio(t, theatre, { connect: false });
  const code = await trio.view.evaluate(() =>
    new library.App({ name: "v", version: "1" })
      .callServerTool({ name: "t" })
      .catch((error) => error.code),
  );
  assert.equal(code, "NotConnected");
});

test("ATK-18 after close the view hears nothing and its waiting calls are refused", async (t) => {
  const trio = await openTrio(t, theatre);
  await trio.host.evaluate(() =>
    theHost.handle(
      "tools/call",
      () => (ear.hear("called"), new Promise(() => {})),
    ),
  );
  await trio.view.evaluate(
    () =>
      void (globalThis.pending = app
        .callServerTool({ name: "t" })
        .catch((error) => error.code)),
  );
  await trio.host.evaluate(() => ear.next("called"));
  await trio.view.evaluate(() => app.close());
  assert.equal(await trio.view.evaluate(() => pending), "Closed");
  const arrived = await watch(trio.view);
  await trio.host.evaluate(() =>
    theHost.send("ui/notifications/tool-result", { content: [], attack: true }),
  );
  await arrived(1);
  assert.deepEqual(await left(trio.view, "toolresult"), []);
});

const RESERVED = [
  "ui/notifications/sandbox-proxy-ready",
  "ui/notifications/sandbox-resource-ready",
  "ui/notifications/sandbox-anything",
  "ui/notifications/sandbox-",
  "ui/sandbox-resource-ready",
];

test("ATK-19 a view that spoofs sandbox-* is not relayed (P-07)", async (t) => {
  const trio = await openTrio(t, theatre);
  await trio.host.evaluate(() => ear.next("sandboxready"));
  await trio.view.evaluate((names) => {
    for (const method of names) {
      parent.postMessage(
        { jsonrpc: "2.0", method, params: { html: "<p>evil" } },
        "*",
      );
      parent.postMessage({ jsonrpc: "2.0", id: 77, method, params: {} }, "*");
    }
  }, RESERVED);
  assert.deepEqual(await ping(trio.host), {});
  const heard = await methods(trio.host);
  assert.equal(
    heard.filter((method) => method?.includes("sandbox-")).length,
    1,
    "the sandbox's own",
  );
  assert.deepEqual(await left(trio.host, "sandboxready"), []);
});

test("ATK-19 a host that sends sandbox-* into a running view is not relayed (P-07)", async (t) => {
  const trio = await openTrio(t, theatre);
  await trio.view.evaluate(() =>
    addEventListener("message", ({ data }) => ear.hear("raw", data.method)),
  );
  await trio.host.evaluate((names) => {
    for (const method of names)
      theHost.post({ method, params: { html: "<p>evil" } });
  }, RESERVED);
  assert.deepEqual(await ping(trio.host), {});
  assert.deepEqual(await left(trio.view, "raw"), ["ping"]);
});

test("ATK-19 the sandbox says one thing of its own, once (P-03, P-08)", async (t) => {
  const trio = await openTrio(t, theatre);
  await ping(trio.host);
  const own = (await methods(trio.host)).filter(
    (method) => method !== undefined,
  );
  assert.deepEqual(own, [
    "ui/notifications/sandbox-proxy-ready",
    "ui/initialize",
    "ui/notifications/initialized",
  ]);
});

test("ATK-20 any protocol version in the answer is taken (V-28)", async (t) => {
  const trio = await openTrio(t, theatre, { connect: false });
  for (const protocolVersion of [
    "1",
    "1.0.0",
    "01.0",
    "1.0 ",
    "9e9",
    ["2026-01-26"],
    {},
    7,
    null,
    "x".repeat(100_000),
  ]) {
    await trio.host.evaluate((protocolVersion) => {
      const result = {
        protocolVersion,
        hostInfo: { name: "odd", version: "1" },
        hostCapabilities: {},
        hostContext: {},
      };
      theHost.handle("ui/initialize", () => result);
    }, protocolVersion);
    await connectApp(trio.view);
    assert.equal(
      await trio.view.evaluate(() => app.getHostVersion().name),
      "odd",
    );
    await trio.view.evaluate(() => app.close());
  }
});

test("ATK-20 an answer with parts missing or of the wrong kind still connects (V-27)", async (t) => {
  const trio = await openTrio(t, theatre, { connect: false });
  for (const result of [
    {},
    { hostCapabilities: null, hostContext: null, hostInfo: null },
    { hostCapabilities: [], hostContext: [], hostInfo: "x" },
    {
      hostContext: {
        theme: "auto",
        displayMode: "cinema",
        styles: { variables: { "--evil": "1" } },
        platform: 3,
      },
    },
    {
      hostCapabilities: {
        openLinks: true,
        experimental: { "transom/port": true },
      },
    },
  ]) {
    await trio.host.evaluate(
      (result) => theHost.handle("ui/initialize", () => result),
      result,
    );
    await connectApp(trio.view);
    assert.deepEqual(await ping(trio.host), {}, JSON.stringify(result));
    await trio.view.evaluate(() => app.close());
  }
});

test("ATK-25 permission names that smuggle a second directive grant nothing", async (t) => {
  const permissions = {
    camera: {},
    "camera *; microphone": {},
    "microphone *": {},
    "geolocation; fullscreen": {},
    __proto__: { microphone: {} },
    fullscreen: {},
    "display-capture": {},
  };
  const trio = await openTrio(t, theatre, {
    raw: true,
    message: { permissions },
  });
  assert.equal(
    await trio.sandbox.evaluate(() => document.querySelector("iframe").allow),
    "camera",
  );
});

test("ATK-25 permissions beyond the operator's ceiling are not granted", async (t) => {
  const permissions = {
    camera: {},
    microphone: {},
    geolocation: {},
    clipboardWrite: {},
  };
  const trio = await openTrio(t, theatre, {
    raw: true,
    settings: { allow: "microphone; clipboard-write" },
    message: { permissions },
  });
  assert.equal(
    await trio.sandbox.evaluate(() => document.querySelector("iframe").allow),
    "microphone; clipboard-write",
  );
});

test("ATK-25 a sandbox override takes away and never adds (P-16)", async (t) => {
  const sandbox =
    "allow-scripts allow-top-navigation allow-popups allow-modals allow-downloads allow-popups-to-escape-sandbox";
  const trio = await openTrio(t, theatre, { raw: true, message: { sandbox } });
  assert.equal(
    await trio.sandbox.evaluate(() =>
      document.querySelector("iframe").getAttribute("sandbox"),
    ),
    "allow-scripts",
  );
});

const SMUGGLED = [
  "https://a.test; script-src *",
  "https://a.test, script-src *",
  "*",
  "https:",
  "http://*",
  "'unsafe-eval'",
  "data:",
  "https://a.test\nscript-src *",
  'https://a.test"><script>',
  "https://a.test script-src",
];

test("ATK-25 csp entries that smuggle a directive are left out (P-19)", async (t) => {
  const csp = {
    connectDomains: SMUGGLED,
    resourceDomains: SMUGGLED,
    frameDomains: SMUGGLED,
    baseUriDomains: SMUGGLED,
  };
  const trio = await openTrio(t, theatre, { raw: true, message: { csp } });
  const none = await openTrio(t, theatre, { raw: true, message: { csp: {} } });
  const policyOf = ({ view }) =>
    view.evaluate(() => document.querySelector("meta[http-equiv]").content);
  assert.equal(await policyOf(trio), await policyOf(none));
});

test("ATK-25 csp from the message tightens the operator's header and never loosens it", async (t) => {
  const target = site.fresh();
  site.route(target, "/data", () => ({
    headers: { "access-control-allow-origin": "*" },
    body: "data",
  }));
  const reach = (trio) =>
    trio.view.evaluate(
      (url) =>
        fetch(url).then(
          (response) => response.text(),
          (error) => error.name,
        ),
      `${target}/data`,
    );
  const csp = { connectDomains: [target] };

  const closed = await openTrio(t, theatre, { raw: true, message: { csp } });
  assert.equal(
    await reach(closed),
    "TypeError",
    "declared, but above the ceiling",
  );

  const policy = DEFAULT_POLICY.replace(
    "connect-src 'none'",
    `connect-src 'self' ${target}`,
  );
  const private_ = await openTrio(t, theatre, {
    raw: true,
    message: { csp },
    settings: { policy },
  });
  assert.equal(
    await reach(private_),
    "TypeError",
    "declared and under the ceiling, but on this machine",
  );

  const open = await openTrio(t, theatre, {
    raw: true,
    message: { csp },
    settings: { policy, private: target },
  });
  assert.equal(await reach(open), "data", "and granted as well");

  const silent = await openTrio(t, theatre, {
    raw: true,
    message: {},
    settings: { policy },
  });
  assert.equal(
    await reach(silent),
    "TypeError",
    "under the ceiling, but not declared",
  );
});
