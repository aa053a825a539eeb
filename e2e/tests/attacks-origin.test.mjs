// ATK-1 to ATK-14: who speaks. Strangers are heard by nobody and hear nothing.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { putSandbox } from "../rig/sandbox.mjs";
import { mountFrame, openTheatre, putView } from "../rig/stage.mjs";
import {
  addStranger,
  connectApp,
  framesIn,
  openTrio,
  watch,
} from "../rig/trio.mjs";

const theatre = await openTheatre({ after });
const { site, openStage } = theatre;

/** Fails unless the three windows are as they were: nothing heard, channel alive, no secret outside. */
async function unharmed({ host, view }, stranger) {
  for (const event of [
    "toolinput",
    "toolinputpartial",
    "toolresult",
    "toolcancelled",
    "hostcontextchanged",
    "teardown",
  ])
    assert.deepEqual(
      await view.evaluate((event) => ear.left(event), event),
      [],
      event,
    );
  assert.equal(await view.evaluate(() => app.getHostContext().theme), "dark");
  await host.evaluate(() =>
    theHost.handle("tools/call", () => ({
      content: [{ type: "text", text: "real" }],
    })),
  );
  const { content } = await view.evaluate(() =>
    app.callServerTool({ name: "t" }),
  );
  assert.equal(content[0].text, "real");
  if (stranger) assert.deepEqual(await stranger.evaluate(() => received), []);
}

const quietWire = (host) =>
  host.evaluate(() => ear.left("wire").filter(({ params }) => params?.attack));

// The last two share an origin with one of the three windows, so that only the window tells them apart.
for (const kind of ["neighbour", "stranger", "host", "sandbox", "guest"])
  test(`ATK-1 a sibling frame (${kind}'s origin) posts every message to view, sandbox and host page: all ignored`, async (t) => {
    const trio = await openTrio(t, theatre);
    const stranger = await addStranger(trio.host, site, {
      origin: site[kind] ?? trio.origins[kind],
    });
    const seen = await Promise.all(
      [trio.host, trio.sandbox, trio.view].map(watch),
    );
    const n = await stranger.evaluate(() => {
      attack(parent);
      attack(parent.frames[0]);
      return attack(parent.frames[0].frames[0].frames[0]);
    });
    await Promise.all(seen.map((arrived) => arrived(n)));
    assert.deepEqual(await quietWire(trio.host), []);
    await unharmed(trio, stranger);
  });

test("ATK-1 a call in flight is not answered by a stranger who guesses its id", async (t) => {
  const trio = await openTrio(t, theatre);
  const stranger = await addStranger(trio.host, site);
  await trio.host.evaluate(() => {
    theHost.handle(
      "tools/call",
      () => new Promise((done) => (globalThis.answerNow = done)),
    );
  });
  await trio.view.evaluate(
    () => void (globalThis.pending = app.callServerTool({ name: "t" })),
  );
  const arrived = await watch(trio.view);
  const n = await stranger.evaluate(() => attack(parent.frames[0].frames[0].frames[0]));
  await arrived(n);
  await trio.host.evaluate(() =>
    answerNow({ content: [{ type: "text", text: "real" }] }),
  );
  const { content } = await trio.view.evaluate(() => pending);
  assert.equal(content[0].text, "real");
});

test("ATK-2 a page that embeds the host page is refused by frame-ancestors", async (t) => {
  const stage = await openStage(t, {
    origin: site.stranger,
    scripts: ["stranger.js"],
  });
  const guest = await putView(site, { scripts: ["transom.view.js"] });
  const sandbox = await putSandbox(site, { guest });
  // The host page itself may be framed here: the sandbox still sees the stranger among its ancestors.
  const inner = await putView(site, {
    origin: site.host,
    path: "/framable",
    scripts: [],
  });
  await stage.host.evaluate((inner) => {
    document.body.append(
      Object.assign(document.createElement("iframe"), { src: inner }),
    );
  }, inner);
  const framed = await stage.frameAt(inner);
  const refused = stage.host.waitForEvent(
    "requestfailed",
    (request) => request.url() === sandbox,
  );
  await framed.evaluate((sandbox) => {
    document.body.append(
      Object.assign(document.createElement("iframe"), { src: sandbox }),
    );
  }, sandbox);
  assert.match(
    (await refused).failure().errorText,
    /BLOCKED_BY_RESPONSE|BLOCKED_BY_CSP/,
  );
});

test("ATK-2 without frame-ancestors, a guest frame navigated by an ancestor of the host is cut off", async (t) => {
  const evil = await openStage(t, {
    origin: site.stranger,
    scripts: ["stranger.js"],
  });
  const guest = await putView(site, { scripts: ["transom.view.js"] });
  const sandbox = await putSandbox(site, { guest, above: "*" });
  site.stripHeaders(sandbox);
  const inner = await putView(site, {
    origin: site.host,
    path: "/framable",
    scripts: ["small-host.js"],
  });
  await evil.host.evaluate((inner) => {
    document.body.append(
      Object.assign(document.createElement("iframe"), { src: inner }),
    );
  }, inner);
  const host = await evil.frameAt(inner);
  await mountFrame(host, sandbox, {
    hostContext: { theme: "dark" },
    hostCapabilities: {},
    origin: new URL(sandbox).origin,
  });
  const view = await evil.frameAt(guest);
  await connectApp(view);
  const trap = await putView(site, {
    origin: site.stranger,
    path: "/trap",
    scripts: ["stranger.js"],
  });
  await evil.host.evaluate(
    (trap) => (frames[0].frames[0].frames[0].location = trap),
    trap,
  );
  const stranger = await evil.frameAt(trap);
  const arrived = await watch(await evil.frameAt(sandbox));
  await arrived(await stranger.evaluate(() => attack(parent)));
  await host.evaluate(() =>
    theHost.send("ui/notifications/tool-result", {
      content: [{ type: "text", text: "secret" }],
    }),
  );
  await relayed(host, await evil.frameAt(sandbox));
  assert.deepEqual(await stranger.evaluate(() => received), []);
  assert.deepEqual(
    await host.evaluate(() =>
      ear.left("wire").filter(({ params }) => params?.attack),
    ),
    [],
  );
});

test("ATK-3 a guest that navigates itself to another site is stopped by frame-src", async (t) => {
  const trio = await openTrio(t, theatre);
  const trap = await putView(site, {
    origin: site.stranger,
    path: "/trap-3",
    scripts: ["stranger.js"],
  });
  const porch = trio.view.parentFrame();
  await listenForViolations(porch);
  await trio.view
    .evaluate((trap) => void (location.href = trap), trap)
    .catch(() => {});
  assert.equal(await porch.evaluate(() => violation), "frame-src");
  assert.equal(
    site.requests.filter(({ pathname }) => pathname === "/trap-3").length,
    0,
  );
});

test("ATK-3 without frame-src, the page it went to is neither heard nor spoken to", async (t) => {
  const trio = await openTrio(t, theatre, {
    settings: { policy: "default-src * 'unsafe-inline'" },
  });
  const trap = await putView(site, {
    origin: site.stranger,
    path: "/trap",
    scripts: ["stranger.js"],
  });
  await trio.view
    .evaluate((trap) => void (location.href = trap), trap)
    .catch(() => {});
  const stranger = await trio.frameAt(trap);
  const porch = await watch(stranger.parentFrame());
  const arrived = await watch(trio.sandbox);
  await porch(await stranger.evaluate(() => attack(parent)));
  await arrived(await stranger.evaluate(() => attack(parent.parent)));
  await trio.host.evaluate(() =>
    theHost.send("ui/notifications/tool-result", {
      content: [{ type: "text", text: "secret" }],
    }),
  );
  await relayed(trio.host, trio.sandbox);
  assert.deepEqual(await stranger.evaluate(() => received), []);
  assert.deepEqual(await quietWire(trio.host), []);
});

test("ATK-4 an opaque guest cannot take its channel to another site", async (t) => {
  const trio = await openTrio(t, theatre, {
    raw: true,
    message: { sandbox: "allow-scripts" },
  });
  assert.equal(await trio.view.evaluate(() => origin), "null");
  await listenForViolations(trio.sandbox);
  const trap = await putView(site, {
    origin: site.stranger,
    path: "/trap-4",
    scripts: ["stranger.js"],
  });
  await trio.view
    .evaluate((trap) => void (location.href = trap), trap)
    .catch(() => {});
  assert.equal(await trio.sandbox.evaluate(() => violation), "frame-src");
  assert.equal(
    site.requests.filter(({ pathname }) => pathname === "/trap-4").length,
    0,
  );
});

test("ATK-5 a guest address that redirects elsewhere gets no session", async (t) => {
  const stage = await openStage(t, { scripts: ["small-host.js"] });
  const trap = await putView(site, {
    origin: site.stranger,
    path: "/trap-5",
    scripts: ["stranger.js", "transom.view.js"],
  });
  const guest = site.route(site.fresh(), "/", () => ({
    status: 302,
    headers: { location: trap },
  }));
  // With a policy that would let it: what refuses is the origin.
  const sandbox = await putSandbox(site, {
    guest,
    policy: "default-src * 'unsafe-inline'",
  });
  await mountFrame(stage.host, sandbox, {
    hostContext: {},
    hostCapabilities: {},
    origin: new URL(sandbox).origin,
  });
  const stranger = await stage.frameAt(trap);
  const porch = await watch(stranger.parentFrame());
  const arrived = await watch(await stage.frameAt(sandbox));
  await porch(await stranger.evaluate(() => attack(parent)));
  await arrived(await stranger.evaluate(() => attack(parent.parent)));
  await stage.host.evaluate(() => ear.next("sandboxready"));
  assert.deepEqual(
    await stage.host.evaluate(() =>
      ear.left("wire").map(({ method }) => method),
    ),
    ["ui/notifications/sandbox-proxy-ready"],
  );
  assert.deepEqual(await stranger.evaluate(() => received), []);
});

test("ATK-5 the same redirect is stopped by frame-src before anything is sent there", async (t) => {
  const stage = await openStage(t, { scripts: ["small-host.js"] });
  const guest = site.route(site.fresh(), "/", () => ({
    status: 302,
    headers: { location: `${site.stranger}/trap-5b` },
  }));
  const sandbox = await putSandbox(site, { guest });
  const failed = stage.host.waitForEvent("requestfailed");
  await mountFrame(stage.host, sandbox, {
    hostContext: {},
    hostCapabilities: {},
  });
  await failed;
  assert.equal(
    site.requests.filter(({ pathname }) => pathname === "/trap-5b").length,
    0,
  );
});

test("ATK-6 another page frames our sandbox: refused by frame-ancestors", async (t) => {
  const stage = await openStage(t, {
    origin: site.stranger,
    scripts: ["stranger.js"],
  });
  const sandbox = await putSandbox(site);
  const refused = stage.host.waitForEvent(
    "requestfailed",
    (request) => request.url() === sandbox,
  );
  await stage.host.evaluate(
    (src) =>
      document.body.append(
        Object.assign(document.createElement("iframe"), { src }),
      ),
    sandbox,
  );
  assert.match((await refused).failure().errorText, /BLOCKED/);
});

test("ATK-6 without frame-ancestors it refuses by itself: no frame, no message", async (t) => {
  const stage = await openStage(t, {
    origin: site.stranger,
    scripts: ["stranger.js"],
  });
  const guest = await putView(site, { scripts: ["transom.view.js"] });
  const sandbox = await putSandbox(site, { guest });
  site.stripHeaders(sandbox);
  await stage.host.evaluate(
    (src) =>
      document.body.append(
        Object.assign(document.createElement("iframe"), { src }),
      ),
    sandbox,
  );
  const frame = await stage.frameAt(sandbox);
  assert.match(
    await frame.evaluate(() => document.documentElement.dataset.refused),
    /not this host/,
  );
  assert.equal(await framesIn(frame), 0);
  const arrived = await watch(frame);
  await stage.host.evaluate(() => void attack(frames[0]));
  await arrived(1);
  assert.equal(await framesIn(frame), 0);
  assert.deepEqual(await stage.host.evaluate(() => received), []);
});

const lookalikes = () => {
  const { host } = site;
  const { port } = new URL(host);
  return [
    host.toUpperCase(),
    `${host}/`,
    `${host}/path`,
    "http://localhost",
    `https://localhost:${port}`,
    `http://127.0.0.1:${port}`,
    `${host}0`,
    `${host}.evil.test`,
    `http://evil-localhost:${port}`,
    `http://*:${port}`,
    "*",
    "null",
    "",
    ` ${site.neighbour}`,
  ];
};

test("ATK-7 an allowed origin that only looks like the embedder's is another origin", async (t) => {
  const stage = await openStage(t, { scripts: ["stranger.js"] });
  for (const lookalike of lookalikes()) {
    const sandbox = await putSandbox(site, { host: lookalike });
    site.stripHeaders(sandbox);
    await stage.host.evaluate((src) => {
      document.querySelector("iframe")?.remove();
      document.body.append(
        Object.assign(document.createElement("iframe"), { src }),
      );
    }, sandbox);
    const frame = await stage.frameAt(sandbox);
    assert.match(
      await frame.evaluate(
        () => document.documentElement.dataset.refused ?? "ran",
      ),
      /not this host/,
      lookalike,
    );
  }
  assert.deepEqual(await stage.host.evaluate(() => received), []);
});

test("ATK-7 among several allowed origins the embedder's is found exactly", async (t) => {
  const stage = await openStage(t, { scripts: ["small-host.js"] });
  const sandbox = await putSandbox(site, {
    host: `${site.stranger} ${site.host}`,
  });
  await mountFrame(stage.host, sandbox, {
    hostContext: {},
    hostCapabilities: {},
  });
  await stage.host.evaluate(() => ear.next("sandboxready"));
});

test("ATK-8 an opaque stranger is not an opaque guest, though both are called null", async (t) => {
  const trio = await openTrio(t, theatre, {
    raw: true,
    message: { sandbox: "allow-scripts" },
  });
  const stranger = await addStranger(trio.host, site, {
    attributes: { sandbox: "allow-scripts" },
  });
  assert.equal(await stranger.evaluate(() => origin), "null");
  const seen = await Promise.all([trio.sandbox, trio.view].map(watch));
  const n = await stranger.evaluate(() => {
    attack(parent.frames[0]);
    return attack(parent.frames[0].frames[0]);
  });
  await Promise.all(seen.map((arrived) => arrived(n)));
  assert.deepEqual(await quietWire(trio.host), []);
  await unharmed(trio, stranger);
});

test("ATK-9 a payload that claims an origin and a source of its own changes nothing", async (t) => {
  const trio = await openTrio(t, theatre);
  const stranger = await addStranger(trio.host, site);
  const seen = await Promise.all([trio.sandbox, trio.view].map(watch));
  await stranger.evaluate(({ host, sandbox }) => {
    const claim = {
      origin: host,
      source: "parent",
      isTrusted: true,
      attack: true,
    };
    const message = {
      jsonrpc: "2.0",
      method: "ui/notifications/tool-result",
      params: { content: [], ...claim },
      ...claim,
    };
    parent.frames[0].postMessage(message, "*");
    parent.frames[0].frames[0].frames[0].postMessage(
      { ...message, origin: sandbox },
      "*",
    );
  }, trio.origins);
  await Promise.all(seen.map((arrived) => arrived(1)));
  await unharmed(trio, stranger);
});

test("ATK-10 a synthetic MessageEvent is not a message, in any of the three windows", async (t) => {
  const trio = await openTrio(t, theatre);
  const forge = ([origin, method]) => {
    const data = {
      jsonrpc: "2.0",
      method,
      params: { arguments: { evil: 1 }, content: [], attack: true },
    };
    const source = window === top ? frames[0] : parent;
    dispatchEvent(new MessageEvent("message", { data, origin, source }));
  };
  await trio.view.evaluate(forge, [
    trio.origins.sandbox,
    "ui/notifications/tool-input",
  ]);
  await trio.view.evaluate(forge, [
    trio.origins.sandbox,
    "ui/notifications/tool-result",
  ]);
  // Were it relayed, the view would hear it.
  await trio.sandbox.evaluate(forge, [
    trio.origins.host,
    "ui/notifications/tool-result",
  ]);
  await unharmed(trio);
});

test("ATK-11 a popup with a handle on the host page reaches neither page, sandbox nor view", async (t) => {
  const trio = await openTrio(t, theatre);
  const address = await putView(site, {
    origin: site.stranger,
    path: "/popup",
    scripts: ["stranger.js"],
  });
  const [popup] = await Promise.all([
    trio.context.waitForEvent("page"),
    trio.host.evaluate((address) => void open(address), address),
  ]);
  await popup.waitForLoadState("load");
  const seen = await Promise.all(
    [trio.host, trio.sandbox, trio.view].map(watch),
  );
  const n = await popup.evaluate(() => {
    attack(opener);
    attack(opener.frames[0]);
    return attack(opener.frames[0].frames[0].frames[0]);
  });
  await Promise.all(seen.map((arrived) => arrived(n)));
  assert.deepEqual(await quietWire(trio.host), []);
  await unharmed(trio, popup);
});

test("ATK-12 our sandbox opened as a popup refuses to run", async (t) => {
  const stage = await openStage(t, {
    origin: site.stranger,
    scripts: ["stranger.js"],
  });
  const sandbox = await putSandbox(site, {
    guest: await putView(site, { scripts: ["transom.view.js"] }),
  });
  const [popup] = await Promise.all([
    stage.context.waitForEvent("page"),
    stage.host.evaluate(
      (sandbox) => void (globalThis.handle = open(sandbox)),
      sandbox,
    ),
  ]);
  await popup.waitForLoadState("load");
  assert.match(
    await popup.evaluate(() => document.documentElement.dataset.refused),
    /not inside a host/,
  );
  assert.equal(popup.frames().length, 1);
  const arrived = await watch(popup);
  await stage.host.evaluate(() => void attack(handle));
  await arrived(1);
  assert.deepEqual(await stage.host.evaluate(() => received), []);
});

test("ATK-12 our view opened as a popup says NoHost and posts nothing to its opener", async (t) => {
  const stage = await openStage(t, {
    origin: site.stranger,
    scripts: ["stranger.js"],
  });
  const address = await putView(site, { scripts: ["transom.view.js"] });
  const [popup] = await Promise.all([
    stage.context.waitForEvent("page"),
    stage.host.evaluate((address) => void open(address), address),
  ]);
  await popup.waitForLoadState("load");
  const code = await popup.evaluate(() =>
    new library.App({ name: "v", version: "1" })
      .connect()
      .catch((error) => error.code),
  );
  assert.equal(code, "NoHost");
  assert.deepEqual(await stage.host.evaluate(() => received), []);
});

const ATTACK = `parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params: { content: [], attack: true } }, "*")`;

for (const kind of ["about:blank", "srcdoc"])
  test(`ATK-13 a ${kind} child of the same origin is not the peer, in any of the three windows`, async (t) => {
    const trio = await openTrio(t, theatre);
    for (const frame of [trio.host, trio.sandbox, trio.view]) {
      const arrived = await watch(frame);
      await frame.evaluate(
        ([kind, code]) => {
          const child = document.body.appendChild(
            document.createElement("iframe"),
          );
          const html = `<script>${code}</script>`;
          if (kind === "srcdoc") child.srcdoc = html;
          else child.contentDocument.write(html);
        },
        [kind, ATTACK],
      );
      await arrived(1);
    }
    await unharmed(trio);
  });

test("ATK-13 a blob: child of the host page is not the peer", async (t) => {
  const trio = await openTrio(t, theatre);
  const arrived = await watch(trio.host);
  await trio.host.evaluate((code) => {
    const blob = new Blob([`<script>${code}</script>`], { type: "text/html" });
    document.body.append(
      Object.assign(document.createElement("iframe"), {
        src: URL.createObjectURL(blob),
      }),
    );
  }, ATTACK);
  await arrived(1);
  assert.deepEqual(await quietWire(trio.host), []);
  await unharmed(trio);
});

test("ATK-14 a message whose source is gone is nobody's", async (t) => {
  const trio = await openTrio(t, theatre);
  for (const frame of [trio.host, trio.sandbox, trio.view]) {
    const arrived = await watch(frame);
    const gone = await frame.evaluate(
      (code) =>
        new Promise((done) => {
          addEventListener(
            "message",
            ({ source, data }) =>
              data?.params?.attack && done(source?.closed ?? true),
          );
          const child = document.body.appendChild(
            document.createElement("iframe"),
          );
          globalThis.vanish = () => child.remove();
          child.contentDocument.write(
            `<script>${code}; parent.vanish()</script>`,
          );
        }),
      ATTACK,
    );
    await arrived(1);
    assert.equal(gone, true);
  }
  await unharmed(trio);
});

const listenForViolations = (frame) =>
  frame.evaluate(() => {
    globalThis.violation = new Promise((done) =>
      addEventListener("securitypolicyviolation", (event) =>
        done(event.effectiveDirective),
      ),
    );
  });

/** Waits until everything the host posted before has passed through the sandbox. */
async function relayed(host, sandbox) {
  await sandbox.evaluate(() => {
    globalThis.marked = new Promise((done) =>
      addEventListener(
        "message",
        ({ data }) => data?.method === "mark" && done(),
      ),
    );
  });
  await host.evaluate(() =>
    theFrame.contentWindow.postMessage({ jsonrpc: "2.0", method: "mark" }, "*"),
  );
  await sandbox.evaluate(() => marked);
}
