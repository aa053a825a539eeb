// The fast lane (D15): taken when both ends agree, never noticed otherwise, and nothing lost at the switch.
import assert from "node:assert/strict";
import { putSandbox } from "../rig/sandbox.mjs";
import { mountElement, openTheatre, putView } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import { connectApp, openTrio, reload, watch } from "../rig/trio.mjs";

const theatre = await openTheatre({ after });
const { site, openStage } = theatre;

const ping = (host) => host.evaluate(() => theHost.send("ping"));
const left = (frame, name) => frame.evaluate((name) => ear.left(name), name);
const laneOf = (host) =>
  host.evaluate(() => ear.next("transom-lane")).then(({ lane }) => lane);
const range = (n) => Array.from({ length: n }, (_, i) => i);

const DROPPING = { script: "dropping-sandbox.js", porched: false };
const WAYS = [
  { way: "both agree", lane: "port", host: { port: true } },
  {
    way: "both agree, text from the channel",
    lane: "port",
    host: { port: true, asText: true },
  },
  { way: "the host does not agree", lane: undefined, host: { port: false } },
  {
    way: "the sandbox drops the port",
    lane: "window",
    host: { port: true },
    settings: DROPPING,
  },
];

for (const { way, lane, ...options } of WAYS) {
  test(`${way}: the lane is ${lane ?? "never spoken of"}`, async (t) => {
    const trio = await openTrio(t, theatre, { element: true, ...options });
    await trio.host.evaluate(() => ear.next("initialized"));
    assert.deepEqual(await ping(trio.host), {});
    assert.deepEqual(
      await left(trio.host, "transom-lane"),
      lane ? [{ lane }] : [],
    );
  });

  test(`${way}: nothing is lost, doubled or reordered at the switch`, async (t) => {
    const trio = await openTrio(t, theatre, {
      element: true,
      connect: false,
      ...options,
    });
    // The host speaks in the same breath as its answer, and again in the same breath as it hears initialized.
    await trio.host.evaluate(() => {
      const say = (n) =>
        theHost.post({
          method: "ui/notifications/host-context-changed",
          params: { n },
        });
      let n = 0;
      theHost.handle("notifications/message", ({ data }) =>
        ear.hear("log", data),
      );
      theHost.handle("ui/notifications/initialized", () => {
        ear.hear("log", "initialized");
        while (n < 200) say(n++);
      });
      const result = theHost.answerHello;
      theHost.handle("ui/initialize", (params) => {
        queueMicrotask(() =>
          queueMicrotask(() =>
            setTimeout(() => {
              while (n < 100) say(n++);
            }),
          ),
        );
        return result(params);
      });
    });
    await trio.view.evaluate(async () => {
      globalThis.app = new library.App(
        { name: "v", version: "1" },
        {},
        { autoResize: false },
      );
      globalThis.heard = [];
      globalThis.all = new Promise((done) => {
        app.onhostcontextchanged = ({ n }) => heard.push(n) === 200 && done();
      });
      const early = [];
      const connecting = app.connect();
      for (let i = 0; i < 100; i++)
        early.push(app.sendLog({ level: "info", data: i }));
      await connecting;
      for (let i = 100; i < 200; i++)
        early.push(app.sendLog({ level: "info", data: i }));
      await Promise.all([all, ...early]);
    });
    assert.deepEqual(await ping(trio.host), {});
    assert.deepEqual(await trio.view.evaluate(() => heard), range(200));
    assert.deepEqual(await left(trio.host, "log"), [
      "initialized",
      ...range(200),
    ]);
  });

  test(`${way}: 10,000 ordered messages both ways`, async (t) => {
    const trio = await openTrio(t, theatre, { element: true, ...options });
    await trio.host.evaluate(() =>
      theHost.handle("notifications/message", ({ data }) =>
        ear.hear("log", data),
      ),
    );
    const N = 10_000;
    await trio.view.evaluate((n) => {
      globalThis.heard = [];
      globalThis.all = new Promise((done) => {
        app.onhostcontextchanged = (params) =>
          heard.push(params.n) === n && done();
      });
    }, N);
    await Promise.all([
      trio.view.evaluate(async (n) => {
        for (let i = 0; i < n; i++)
          void app.sendLog({ level: "info", data: i });
        await all;
      }, N),
      trio.host.evaluate((n) => {
        for (let i = 0; i < n; i++)
          theHost.post({
            method: "ui/notifications/host-context-changed",
            params: { n: i },
          });
      }, N),
    ]);
    assert.deepEqual(await ping(trio.host), {});
    assert.deepEqual(await trio.view.evaluate(() => heard), range(N));
    assert.deepEqual(await left(trio.host, "log"), range(N));
  });
}

test("once on the port, the view's window is deaf", async (t) => {
  const trio = await openTrio(t, theatre, {
    element: true,
    host: { port: true },
  });
  assert.equal(await laneOf(trio.host), "port");
  const arrived = await watch(trio.view);
  const message = {
    jsonrpc: "2.0",
    method: "ui/notifications/tool-result",
    params: { content: [], attack: true },
  };
  await trio.host.evaluate(
    (message) => theHost.frame().contentWindow.postMessage(message, "*"),
    message,
  );
  await arrived(1);
  assert.deepEqual(await ping(trio.host), {});
  assert.deepEqual(await left(trio.view, "toolresult"), []);
});

test("once on the port, what comes over the window does not reach the channel", async (t) => {
  const trio = await openTrio(t, theatre, {
    element: true,
    host: { port: true },
  });
  assert.equal(await laneOf(trio.host), "port");
  const arrived = await watch(trio.host);
  await trio.view.evaluate(() => {
    parent.postMessage(
      {
        jsonrpc: "2.0",
        method: "ui/notifications/size-changed",
        params: { height: 1, attack: true },
      },
      "*",
    );
    parent.postMessage(
      {
        jsonrpc: "2.0",
        id: 5,
        method: "tools/call",
        params: { name: "evil", attack: true },
      },
      "*",
    );
    parent.postMessage(
      { jsonrpc: "2.0", id: 1, result: {}, attack: true },
      "*",
    );
  });
  await arrived(3);
  assert.deepEqual(await ping(trio.host), {});
  const strays = (await left(trio.host, "wire")).filter(
    ({ params, attack }) => attack ?? params?.attack,
  );
  assert.deepEqual(strays, []);
  assert.ok(
    (await trio.host.evaluate(() => theHost.element.ignored)) >= 3,
    "and they are counted",
  );
});

test("the page's port and the view's are two: the sandbox is between them", async (t) => {
  const trio = await openTrio(t, theatre, {
    element: true,
    connect: false,
    host: { port: true },
  });
  // Whatever the page is given passes here.
  await trio.sandbox.evaluate(() => {
    globalThis.passed = [];
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function (data, ...more) {
      passed.push(typeof data);
      return postMessage.call(this, data, ...more);
    };
  });
  await connectApp(trio.view);
  assert.equal(await laneOf(trio.host), "port");
  assert.deepEqual(await ping(trio.host), {});
  const passed = await trio.sandbox.evaluate(() => passed);
  assert.ok(passed.length >= 3, "initialized, the ping and its answer");
  assert.deepEqual([...new Set(passed)], ["string"]);
});

test("what waits for a view that does not choose its lane has an end", async (t) => {
  const trio = await openTrio(t, theatre, {
    element: true,
    connect: false,
    host: { port: true },
  });
  await trio.view.evaluate(
    () =>
      new Promise((done) => {
        addEventListener("message", ({ ports }) => ports.length && done());
        const appCapabilities = { experimental: { "transom/port": {} } };
        const appInfo = { name: "v", version: "1" };
        const params = {
          appInfo,
          appCapabilities,
          protocolVersion: "2026-01-26",
        };
        parent.postMessage(
          { jsonrpc: "2.0", id: 0, method: "ui/initialize", params },
          "*",
        );
      }),
  );
  await trio.host.evaluate(() => {
    for (let id = 1; id <= 1_000; id++) theHost.post({ id, result: {} });
  });
  assert.notEqual(await trio.host.evaluate(() => theHost.frame()), null);
  await trio.host.evaluate(() => {
    for (let id = 1; id <= 100; id++) theHost.post({ id, result: {} });
  });
  const { reason } = await trio.host.evaluate(() => ear.next("said-close"));
  assert.equal(reason, "flood");
  assert.equal(await trio.host.evaluate(() => theHost.frame()), null);
});

test("reserved names on the port are text like any other: the page does nothing of what they say", async (t) => {
  const trio = await openTrio(t, theatre, {
    element: true,
    host: { port: true },
  });
  assert.equal(await laneOf(trio.host), "port");
  const names = ["proxy-ready", "stopped", "dropped", "active"].map(
    (word) => `ui/notifications/sandbox-${word}`,
  );
  await trio.view.evaluate((names) => {
    for (const method of names) app.notification({ method, params: {} });
  }, names);
  assert.deepEqual(await ping(trio.host), {});
  // Whoever judges messages gets them, and refuses them.
  const passed = (await left(trio.host, "wire")).filter(({ method }) =>
    method?.includes("sandbox-"),
  );
  assert.deepEqual(passed.map(({ method }) => method), names);
  for (const word of ["said-close", "said-dropped"])
    assert.deepEqual(await left(trio.host, word), []);
  assert.notEqual(await trio.host.evaluate(() => theHost.frame()), null);
});

test("a view that reloads shakes hands on the window again and gets a new port", async (t) => {
  const trio = await openTrio(t, theatre, {
    element: true,
    host: { port: true },
  });
  for (let round = 0; round < 3; round++) {
    assert.equal(await laneOf(trio.host), "port");
    assert.deepEqual(await ping(trio.host), {});
    await reload(trio);
  }
  assert.deepEqual(await ping(trio.host), {});
});

test("a port offered without the key is not forwarded to the view", async (t) => {
  const stage = await openStage(t, { scripts: ["small-host.js"] });
  const guest = await putView(site, { scripts: ["transom.view.js"] });
  const sandbox = await putSandbox(site, { guest });
  await stage.host.evaluate(async (src) => {
    const frame = document.body.appendChild(document.createElement("iframe"));
    globalThis.theFrame = frame;
    addEventListener("message", ({ source, data }) => {
      if (source !== frame.contentWindow || data.method !== "ui/initialize")
        return;
      const result = {
        protocolVersion: "2026-01-26",
        hostInfo: { name: "h", version: "1" },
        hostCapabilities: {},
        hostContext: {},
      };
      source.postMessage({ jsonrpc: "2.0", id: data.id, result }, "*", [
        new MessageChannel().port2,
      ]);
    });
    addEventListener(
      "message",
      ({ data }) =>
        data.method === "ui/notifications/initialized" &&
        ear.hear("initialized"),
    );
    frame.src = src;
  }, sandbox);
  const view = await stage.frameAt(guest);
  await view.evaluate(() => {
    globalThis.ports = 0;
    addEventListener("message", (event) => (ports += event.ports.length));
  });
  await connectApp(view);
  await stage.host.evaluate(() => ear.next("initialized"));
  assert.equal(await view.evaluate(() => ports), 0);
});

test("a view of ext-apps is never shown the key, and the window stays its lane", async (t) => {
  const stage = await openStage(t, { scripts: ["element.js"] });
  const guest = await putView(site, { scripts: ["ext-apps-2.view.js"] });
  const sandbox = await putSandbox(site, { guest });
  await mountElement(stage.host, sandbox, { port: true });
  const view = await stage.frameAt(guest);
  await view.evaluate(() => {
    globalThis.ports = 0;
    addEventListener("message", (event) => (ports += event.ports.length));
    globalThis.app = new library.App(
      { name: "v", version: "1" },
      {},
      { autoResize: false },
    );
    return app.connect();
  });
  assert.deepEqual(await ping(stage.host), {});
  assert.equal(await view.evaluate(() => ports), 0);
  assert.deepEqual(await left(stage.host, "transom-lane"), []);
});
