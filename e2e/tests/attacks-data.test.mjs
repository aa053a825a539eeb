// ATK-26 to ATK-37: what is in a message, and how many of them.
import assert from "node:assert/strict";
import { openTheatre } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import { framesIn, openTrio } from "../rig/trio.mjs";

const theatre = await openTheatre({ after });
const { site } = theatre;

const ping = (host) => host.evaluate(() => theHost.send("ping"));
const left = (frame, name) => frame.evaluate((name) => ear.left(name), name);
const LANES = [
  { lane: "window", host: { port: false } },
  { lane: "port", host: { port: true } },
];
const openOn = (t, { host }, more = {}) =>
  openTrio(t, theatre, { element: true, host, ...more });

const POISON = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":"x","a":{"__proto__":{"polluted":1}}}`;

for (const lane of LANES)
  test(`ATK-26 prototype keys in every payload pollute nobody (${lane.lane})`, async (t) => {
    const trio = await openOn(t, lane);
    await trio.host.evaluate((poison) => {
      const evil = JSON.parse(poison);
      theHost.handle(
        "tools/call",
        ({ arguments: args }) => (
          ear.hear("args", Object.keys(args)),
          { content: [], structuredContent: evil, _meta: evil }
        ),
      );
      theHost.send("ui/notifications/tool-input", { arguments: evil });
      theHost.send("ui/notifications/tool-result", {
        content: [],
        structuredContent: evil,
        __proto__: evil,
      });
      theHost.send("ui/notifications/host-context-changed", evil);
    }, POISON);
    await trio.view.evaluate(
      (poison) =>
        app
          .callServerTool({ name: "t", arguments: JSON.parse(poison) })
          .then(() => {}),
      POISON,
    );
    assert.deepEqual(await ping(trio.host), {});
    for (const frame of [trio.host, trio.sandbox, trio.view])
      assert.deepEqual(
        await frame.evaluate(() => [
          {}.polluted,
          Object.prototype.polluted,
          Object.keys(Object.prototype),
          "polluted" in Function.prototype,
        ]),
        [undefined, undefined, [], false],
      );
    const [input] = await left(trio.view, "toolinput");
    assert.ok(input.arguments.a, "the rest arrived");
  });

const ODD = [
  "1n",
  "new Date(0)",
  "/x/",
  "new Map([[1, 2]])",
  "new Set([1])",
  "new Error('e')",
  "new String('x'.repeat(1_000_000))",
  "Object(1)",
  "Object.assign([1], { name: 'x'.repeat(1_000_000) })",
  "(() => { let a = 'x'; for (let i = 0; i < 40; i++) a = [a, a]; return a; })()",
  "new Uint8Array(8)",
  "new ArrayBuffer(8)",
  "[,,1]",
  "(() => { const a = new Array(2 ** 32 - 1); return a; })()",
  "(() => { const a = {}; a.a = a; return a; })()",
  "(() => { let a = {}; for (let i = 0; i < 1_000; i++) a = { a }; return a; })()",
  "Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => ['k' + i, i]))",
  "new Blob(['x'])",
  "NaN",
  "undefined",
];

test("ATK-27 cycles, depths, holes and foreign values do not end the channel", async (t) => {
  const trio = await openOn(t, LANES[0]);
  for (const odd of ODD) {
    await trio.view.evaluate((odd) => {
      const value = (0, eval)(odd);
      parent.postMessage(
        {
          jsonrpc: "2.0",
          method: "notifications/message",
          params: { level: "info", data: value },
        },
        "*",
      );
      parent.postMessage({ jsonrpc: "2.0", id: value, method: "ping" }, "*");
      parent.postMessage(value, "*");
    }, odd);
    assert.deepEqual(await ping(trio.host), {}, odd);
  }
  assert.deepEqual(trio.mishaps, []);
});

test("ATK-27 the same values from the host do not end the view", async (t) => {
  const trio = await openOn(t, LANES[0]);
  for (const odd of ODD) {
    await trio.host.evaluate((odd) => {
      const value = (0, eval)(odd);
      const frame = theHost.frame().contentWindow;
      for (const message of [
        value,
        {
          jsonrpc: "2.0",
          method: "ui/notifications/tool-input",
          params: { arguments: value },
        },
        {
          jsonrpc: "2.0",
          method: "ui/notifications/host-context-changed",
          params: value,
        },
        { jsonrpc: "2.0", id: value, result: {} },
      ])
        frame.postMessage(message, "*");
    }, odd);
    assert.deepEqual(await ping(trio.host), {}, odd);
  }
});

test("ATK-27 text ten thousand levels deep on the port does not end the channel", async (t) => {
  const trio = await openOn(t, LANES[1]);
  const depth = 10_000;
  await trio.view.evaluate((depth) => {
    let data = {};
    for (let i = 0; i < depth; i++) data = { data };
    return app.sendLog({ level: "info", data }).catch(() => {});
  }, depth);
  assert.deepEqual(await ping(trio.host), {});
});

test("ATK-27 a message above the limit is dropped by the sandbox, the next one passes", async (t) => {
  const trio = await openOn(t, LANES[0], { settings: { limit: 100_000 } });
  for (const huge of [
    "'x'.repeat(200_000)",
    "Array.from({ length: 50_000 }, () => [])",
    "new Uint8Array(200_000)",
  ])
    await trio.view.evaluate((huge) => {
      const data = (0, eval)(huge);
      parent.postMessage(
        {
          jsonrpc: "2.0",
          method: "notifications/message",
          params: { level: "info", data },
        },
        "*",
      );
    }, huge);
  assert.deepEqual(await ping(trio.host), {});
  const logs = (await left(trio.host, "wire")).filter(
    ({ method }) => method === "notifications/message",
  );
  assert.deepEqual(logs, []);
});

test("ATK-27 a text above the limit on the port is dropped by the sandbox, the next one passes", async (t) => {
  const trio = await openOn(t, LANES[1]);
  await trio.view.evaluate(() =>
    app.sendLog({ level: "info", data: "x".repeat(17 * 2 ** 20) }),
  );
  assert.deepEqual(await ping(trio.host), {});
  const logs = (await left(trio.host, "wire")).filter(
    ({ method }) => method === "notifications/message",
  );
  assert.deepEqual(logs, []);
});

const SHAPES = [
  null,
  0,
  "",
  "text",
  [],
  [{ jsonrpc: "2.0", method: "ping", id: 1 }],
  {},
  { jsonrpc: "1.0", method: "ping", id: 1 },
  { jsonrpc: 2, method: "ping", id: 1 },
  { jsonrpc: "2.0" },
  { jsonrpc: "2.0", method: 7 },
  { jsonrpc: "2.0", method: {} },
  { jsonrpc: "2.0", method: ["ui/notifications/tool-result"] },
  { jsonrpc: "2.0", method: "x".repeat(1_000_000) },
  { jsonrpc: "2.0", method: "ui/notifications/tool-result", params: null },
  { jsonrpc: "2.0", method: "ui/notifications/tool-result", params: [] },
  { jsonrpc: "2.0", method: "ui/notifications/tool-result", params: "x" },
  { jsonrpc: "2.0", id: null, method: "ping" },
  { jsonrpc: "2.0", id: 1.5, method: "ping" },
  { jsonrpc: "2.0", id: {}, method: "ping" },
  { jsonrpc: "2.0", id: 7777, result: null },
  { jsonrpc: "2.0", id: 7777, result: "x" },
  { jsonrpc: "2.0", id: 7777, error: null },
  { jsonrpc: "2.0", id: 7777, error: "x" },
  { jsonrpc: "2.0", id: 7777, error: {} },
];

test("ATK-28 shapes that are no message are ignored by the view, without an answer", async (t) => {
  const trio = await openTrio(t, theatre);
  const said = async () => (await left(trio.host, "wire")).length;
  // Whatever the view said while it connected has come once it answers.
  await ping(trio.host);
  const before = await said();
  await trio.host.evaluate((shapes) => {
    for (const shape of shapes) theFrame.contentWindow.postMessage(shape, "*");
  }, SHAPES);
  assert.deepEqual(await ping(trio.host), {});
  assert.equal(await said(), before + 1, "only the answer to our ping");
  for (const { params } of await left(trio.view, "toolresult"))
    assert.equal(typeof params, "object");
});

for (const lane of LANES)
  test(`ATK-28 what does not say that it is a message never reaches the channel (${lane.lane})`, async (t) => {
    const trio = await openOn(t, lane);
    await trio.view.evaluate((shapes) => {
      for (const shape of shapes) {
        parent.postMessage(shape, "*");
        app.transport?.send?.(shape);
      }
    }, SHAPES);
    assert.deepEqual(await ping(trio.host), {});
    // What does say so, and is none, is for whoever judges to refuse.
    for (const message of await left(trio.host, "wire")) {
      assert.equal(message.jsonrpc, "2.0");
      assert.ok(!Array.isArray(message));
    }
  });

test("ATK-29 ports and buffers that a guest smuggles never reach the host page", async (t) => {
  const trio = await openTrio(t, theatre);
  await trio.host.evaluate(() => {
    globalThis.smuggled = 0;
    addEventListener("message", ({ ports }) => (smuggled += ports.length));
  });
  await trio.view.evaluate(() => {
    const ports = Array.from(
      { length: 10_000 },
      () => new MessageChannel().port2,
    );
    const message = {
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level: "info", data: 1 },
    };
    parent.postMessage(message, "*", ports);
    const buffer = new ArrayBuffer(1000);
    parent.postMessage(
      { ...message, params: { level: "info", data: buffer } },
      "*",
      [buffer, new MessageChannel().port2],
    );
  });
  assert.deepEqual(await ping(trio.host), {});
  assert.equal(await trio.host.evaluate(() => smuggled), 0);
});

test("ATK-29 a port that the host page adds to an ordinary message never reaches the view", async (t) => {
  const trio = await openTrio(t, theatre);
  await trio.view.evaluate(() => {
    globalThis.smuggled = 0;
    addEventListener("message", ({ ports }) => (smuggled += ports.length));
  });
  const closed = await trio.host.evaluate(async () => {
    const { port1, port2 } = new MessageChannel();
    const closed = new Promise(
      (done) => (port1.onclose = () => done("closed")),
    );
    port1.start();
    const message = {
      jsonrpc: "2.0",
      method: "ui/notifications/tool-result",
      params: { content: [] },
    };
    theFrame.contentWindow.postMessage(message, "*", [port2]);
    return "onclose" in MessagePort.prototype ? closed : "closed";
  });
  assert.equal(closed, "closed", "nobody keeps it");
  assert.deepEqual(await ping(trio.host), {});
  assert.equal(await trio.view.evaluate(() => smuggled), 0);
});

test("ATK-30 what cannot be read is skipped in every window, and the channel lives", async (t) => {
  const policy =
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'";
  const trio = await openTrio(t, theatre, {
    headers: { "content-security-policy": policy },
  });
  // A compiled module cannot leave its agent cluster: the other end gets messageerror.
  const post = (target) => {
    const module = new WebAssembly.Module(
      Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0),
    );
    const message = {
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level: "info", data: module },
    };
    (target === "frame" ? theFrame.contentWindow : parent).postMessage(
      message,
      "*",
    );
  };
  await trio.sandbox.evaluate(() => {
    globalThis.unread = new Promise((done) =>
      addEventListener(
        "messageerror",
        () =>
          (globalThis.count = (globalThis.count ?? 0) + 1) === 2 && done(true),
      ),
    );
  });
  await trio.view.evaluate(post, "parent");
  await trio.host.evaluate(post, "frame");
  assert.equal(await trio.sandbox.evaluate(() => unread), true);
  assert.deepEqual(await ping(trio.host), {});
});

for (const lane of LANES)
  test(`ATK-30 arguments that cannot be sent reject at the caller and reach nobody (${lane.lane})`, async (t) => {
    const trio = await openOn(t, lane);
    const refused = await trio.view.evaluate(() => {
      const loop = {};
      loop.loop = loop;
      const unsendable = { value: 1n, loop, f() {} };
      return app.callServerTool({ name: "t", arguments: unsendable }).then(
        () => "answered",
        (error) => error instanceof Error,
      );
    });
    assert.equal(refused, true);
    assert.deepEqual(await ping(trio.host), {});
    assert.deepEqual(
      (await left(trio.host, "wire")).filter(
        ({ method }) => method === "tools/call",
      ),
      [],
    );
  });

test("ATK-31 answers to ids never issued, twice, or with both result and error", async (t) => {
  const trio = await openTrio(t, theatre);
  await trio.host.evaluate(() => {
    theHost.handle(
      "tools/call",
      () => new Promise((done) => (globalThis.answerNow = done)),
    );
    ear.hear("unused");
  });
  await trio.view.evaluate(
    () => void (globalThis.pending = app.callServerTool({ name: "t" })),
  );
  const id = await trio.host.evaluate(async () => {
    for (;;) {
      const { method, id } = await ear.next("wire");
      if (method === "tools/call") return id;
    }
  });
  await trio.host.evaluate((id) => {
    theHost.post({ id: 424242, result: { content: [] } });
    theHost.post({ id: "never", error: { code: 1, message: "x" } });
    theHost.post({
      id,
      result: { content: [] },
      error: { code: 1, message: "both" },
    });
    answerNow({ content: [{ type: "text", text: "first" }] });
  }, id);
  const { content } = await trio.view.evaluate(() => pending);
  assert.equal(content[0].text, "first");
  await trio.host.evaluate(
    (id) =>
      theHost.post({
        id,
        result: { content: [{ type: "text", text: "second" }] },
      }),
    id,
  );
  assert.deepEqual(await ping(trio.host), {});
  assert.deepEqual(await left(trio.view, "apperror"), []);
});

const NAMES = [
  "__proto__",
  "constructor",
  "then",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "on",
  "prototype",
  "",
];

for (const lane of LANES)
  test(`ATK-32 methods with prototype names are unknown methods (${lane.lane})`, async (t) => {
    const trio = await openOn(t, lane);
    for (const name of NAMES.filter(Boolean)) {
      const code = await trio.host.evaluate(
        (name) =>
          theHost.send(name, {}).then(
            () => "answered",
            (error) => error.code,
          ),
        name,
      );
      assert.equal(code, -32601, name);
      await trio.host.evaluate(
        (method) => theHost.post({ method, params: {} }),
        name,
      );
      await trio.host.evaluate(
        (method) =>
          theHost.post({ method: `ui/notifications/${method}`, params: {} }),
        name,
      );
    }
    assert.deepEqual(await ping(trio.host), {});
    assert.deepEqual(await left(trio.view, "apperror"), []);
  });

test("ATK-32 tools called then, __proto__ and constructor are tools like others", async (t) => {
  const trio = await openOn(t, LANES[0], { connect: false });
  await trio.view.evaluate((names) => {
    globalThis.app = new library.App(
      { name: "v", version: "1" },
      {},
      { autoResize: false },
    );
    for (const name of names)
      app.registerTool(name, {}, async () => ({
        content: [{ type: "text", text: name }],
      }));
    return app.connect().then(() => {});
  }, NAMES.filter(Boolean));
  const { tools } = await trio.host.evaluate(() =>
    theHost.send("tools/list", {}),
  );
  assert.deepEqual(
    tools.map(({ name }) => name),
    NAMES.filter(Boolean),
  );
  for (const name of NAMES.filter(Boolean)) {
    const { content } = await trio.host.evaluate(
      (name) => theHost.send("tools/call", { name, arguments: {} }),
      name,
    );
    assert.equal(content[0].text, name);
  }
  const missing = await trio.host.evaluate(() =>
    theHost
      .send("tools/call", { name: "isPrototypeOf" })
      .catch((error) => error.code),
  );
  assert.equal(missing, -32602);
  assert.equal(
    await trio.view.evaluate(() => typeof app.then),
    "undefined",
    "an App can be awaited",
  );
});

test("ATK-33 a guest that floods the window is stopped, and the host page is told why", async (t) => {
  const trio = await openOn(t, LANES[0], { settings: { rate: 100 } });
  await trio.view.evaluate(() => {
    for (let i = 0; i < 50_000; i++)
      parent.postMessage(
        {
          jsonrpc: "2.0",
          method: "notifications/message",
          params: { level: "info", data: i },
        },
        "*",
      );
  });
  const { reason } = await trio.host.evaluate(() => ear.next("said-close"));
  assert.equal(reason, "flood");
  assert.equal(await trio.host.evaluate(() => theHost.frame()), null);
  const passed = (await left(trio.host, "wire")).length;
  assert.ok(passed < 2_000, `${passed} messages passed`);
});

test("ATK-33 a guest that floods the port is stopped by the sandbox", async (t) => {
  const trio = await openOn(t, LANES[1]);
  await trio.view
    .evaluate(() => {
      for (let i = 0; i < 50_000; i++)
        void app.sendLog({ level: "info", data: i });
    })
    .catch(() => {});
  const { reason } = await trio.host.evaluate(() => ear.next("said-close"));
  assert.equal(reason, "flood");
  assert.equal(await trio.host.evaluate(() => theHost.frame()), null);
  const passed = (await left(trio.host, "wire")).length;
  assert.ok(passed < 40_000, `${passed} messages passed`);
});

test("ATK-34 a host that never answers: connect rejects in time, typed, and the view can try again", async (t) => {
  const trio = await openTrio(t, theatre, { connect: false });
  await trio.host.evaluate(() =>
    theHost.handle("ui/initialize", () => new Promise(() => {})),
  );
  const code = await trio.view.evaluate(() => {
    globalThis.app = new library.App(
      { name: "v", version: "1" },
      {},
      { autoResize: false },
    );
    return app.connect(undefined, { timeout: 50 }).catch((error) => error.code);
  });
  assert.equal(code, "Timeout");
  await trio.host.evaluate(() => {
    const result = {
      protocolVersion: "2026-01-26",
      hostInfo: { name: "late", version: "1" },
      hostCapabilities: {},
      hostContext: {},
    };
    theHost.handle("ui/initialize", () => result);
  });
  await trio.view.evaluate(() => app.connect().then(() => {}));
  assert.equal(
    await trio.view.evaluate(() => app.getHostVersion().name),
    "late",
  );
});

test("ATK-34 a sandbox that never loads leaves nothing behind when the element goes", async (t) => {
  const trio = await openOn(t, LANES[0]);
  const never = site.route(site.fresh(), "/never", () => new Promise(() => {}));
  await trio.host.evaluate(
    (src) => void (globalThis.second = openElement({ id: "v2", src })),
    never,
  );
  await trio.host.evaluate(() => second.element.remove());
  assert.equal(await trio.host.evaluate(() => second.frame()), null);
  assert.deepEqual(await ping(trio.host), {});
});

test("ATK-35 500 connects and closes leave no listener behind", async (t) => {
  const trio = await openTrio(t, theatre, { connect: false });
  const balance = await trio.view.evaluate(async () => {
    let open = 0;
    const { addEventListener: add, removeEventListener: remove } = window;
    window.addEventListener = (...rest) => (
      rest[0] === "message" && open++,
      add.apply(window, rest)
    );
    window.removeEventListener = (...rest) => (
      rest[0] === "message" && open--,
      remove.apply(window, rest)
    );
    const app = new library.App(
      { name: "v", version: "1" },
      {},
      { autoResize: false },
    );
    for (let i = 0; i < 500; i++) {
      await app.connect();
      await app.close();
    }
    return open;
  });
  assert.equal(balance, 0);
});

test("ATK-35 200 elements mounted and removed leave no listener and no frame behind", async (t) => {
  const trio = await openOn(t, LANES[0]);
  const before = trio.host.frames().length;
  const balance = await trio.host.evaluate(() => {
    let open = 0;
    const { addEventListener: add, removeEventListener: remove } = window;
    window.addEventListener = (...rest) => (
      rest[0] === "message" && open++,
      add.apply(window, rest)
    );
    window.removeEventListener = (...rest) => (
      rest[0] === "message" && open--,
      remove.apply(window, rest)
    );
    for (let i = 0; i < 200; i++)
      openElement({ id: `w${i}`, src: "/nothing" }).element.remove();
    return open;
  });
  assert.equal(balance, 0);
  assert.deepEqual(await ping(trio.host), {});
  assert.equal(trio.host.frames().length, before);
});

test("ATK-36 dialogs, popups, top navigation, downloads and fullscreen are not the guest's to have", async (t) => {
  const trio = await openOn(t, LANES[0]);
  const surprises = [];
  trio.host.on(
    "dialog",
    (dialog) => (surprises.push(dialog.type()), dialog.dismiss()),
  );
  trio.host.on("download", (download) => surprises.push(download.url()));
  trio.context.on("page", (page) => surprises.push(page.url()));
  await trio.host.mouse.click(30, 30);
  const tried = await trio.view.evaluate(async () => {
    const attempt = (work) => {
      try {
        return String(work());
      } catch (error) {
        return error.name;
      }
    };
    const link = document.body.appendChild(document.createElement("a"));
    Object.assign(link, { href: "data:text/plain,x", download: "x.txt" });
    link.click();
    return {
      alert: attempt(() => alert(1)),
      confirm: attempt(() => confirm(1)),
      popup: attempt(() => open("about:blank")),
      top: attempt(() => (top.location.href = "about:blank")),
      parent: attempt(() => (parent.location.href = "about:blank")),
      fullscreen: await document.documentElement.requestFullscreen().then(
        () => "full",
        (error) => error.name,
      ),
    };
  });
  assert.deepEqual(tried, {
    alert: "undefined",
    confirm: "false",
    popup: "null",
    top: "SecurityError",
    parent: "SecurityError",
    fullscreen: "TypeError",
  });
  assert.deepEqual(await ping(trio.host), {});
  assert.deepEqual(surprises, []);
});

test("ATK-36 a form in the guest fires submit, posts nowhere, and the view lives on", async (t) => {
  const trio = await openOn(t, LANES[0]);
  const fired = await trio.view.evaluate(
    () =>
      new Promise((done) => {
        const form = document.body.appendChild(document.createElement("form"));
        form.method = "post";
        let submitted = false;
        form.addEventListener("submit", () => (submitted = true));
        addEventListener("securitypolicyviolation", ({ effectiveDirective }) =>
          done([submitted, effectiveDirective]),
        );
        form.requestSubmit();
      }),
  );
  assert.deepEqual(fired, [true, "form-action"]);
  assert.deepEqual(await ping(trio.host), {});
  assert.deepEqual(
    site.requests.filter(({ method }) => method === "POST"),
    [],
  );
});

test("ATK-36 a form aimed at another site posts nowhere", async (t) => {
  const trio = await openOn(t, LANES[0]);
  const blocked = trio.host.waitForEvent("framenavigated", (frame) =>
    frame.url().startsWith("chrome-error:"),
  );
  await trio.view.evaluate((action) => {
    const form = document.body.appendChild(document.createElement("form"));
    Object.assign(form, { action, method: "post" }).requestSubmit();
  }, `${site.stranger}/posted`);
  await blocked;
  assert.equal(
    site.requests.filter(({ pathname }) => pathname === "/posted").length,
    0,
  );
});

test("ATK-37 a guest that reloads for ever is stopped by the rate, and each load is a new session", async (t) => {
  const trio = await openTrio(t, theatre, {
    connect: false,
    viewScripts: ["transom.view.js", "reload-forever.js"],
    // Slower than a busy machine loads a frame, so that the loop is always too fast.
    settings: { rate: 0.5 },
  });
  await trio.sandbox.waitForFunction(
    () => document.documentElement.dataset.refused,
  );
  const hellos = (await left(trio.host, "wire")).filter(
    ({ method }) => method === "ui/initialize",
  ).length;
  assert.ok(hellos > 1 && hellos <= 30, `${hellos} sessions`);
  assert.equal(await framesIn(trio.sandbox), 0);
});

test("H-26 a guest under the default policy reaches no server by any road", async (t) => {
  const trio = await openOn(t, LANES[0]);
  const outside = `${site.stranger}/leak`;
  await trio.view.evaluate(async (url) => {
    await fetch(url, { mode: "no-cors" }).catch(() => {});
    navigator.sendBeacon(url, "x");
    new Image().src = url;
    const add = (tag, attributes) =>
      document.body.append(
        Object.assign(document.createElement(tag), attributes),
      );
    add("script", { src: url });
    add("iframe", { src: url });
    add("link", { rel: "stylesheet", href: url });
    add("link", { rel: "prefetch", href: url });
    add("object", { data: url });
    add("video", { src: url });
    try {
      new WebSocket(url.replace("http", "ws"));
    } catch {
      // Refused at once, which is as good.
    }
    try {
      new EventSource(url);
    } catch {
      // The same.
    }
    const style = document.createElement("style");
    style.textContent = `@import "${url}"; @font-face { font-family: f; src: url(${url}) } body { font-family: f; background: url(${url}) }`;
    document.body.append(style, "text");
    document.body.offsetHeight;
    await new Promise((done) =>
      requestAnimationFrame(() => requestAnimationFrame(done)),
    );
  }, outside);
  // Another road that is open, to be sure that what was sent before would have come by now.
  const reached = await trio.host.evaluate(
    (url) => fetch(url, { mode: "no-cors" }).then(() => true),
    `${site.stranger}/control`,
  );
  assert.equal(reached, true);
  assert.deepEqual(
    site.requests.filter(({ pathname }) => pathname === "/leak"),
    [],
  );
});
