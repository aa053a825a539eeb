// What a view sees above it: a window of its own origin, as with hosts that have proxy and view on one.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { openTheatre } from "../rig/stage.mjs";
import { connectApp, openTrio } from "../rig/trio.mjs";

const theatre = await openTheatre({ after });

test("a Vue view that keeps its App in a ref connects, and its buttons work", async (t) => {
  const { host, view, mishaps } = await openTrio(t, theatre, {
    viewScripts: ["vue.view.js"],
    connect: false,
  });
  await host.evaluate(() =>
    theHost.handle("tools/call", ({ name, arguments: { n } }) => ({
      content: [{ type: "text", text: `${name} ${n}` }],
    })),
  );
  assert.equal(await view.evaluate(() => ear.next("connected")), undefined);
  await view.locator("button").click();
  await view.locator("#said", { hasText: "greet 1" }).waitFor();
  await host.evaluate(() =>
    theHost.send("ui/notifications/tool-result", {
      content: [],
      structuredContent: { said: "by the host" },
    }),
  );
  await view.locator("#said", { hasText: "by the host" }).waitFor();
  assert.deepEqual(mishaps, []);
});

test("what a view hears comes from its parent, of its own origin, and in its own realm", async (t) => {
  const { host, view, origins } = await openTrio(t, theatre);
  const heard = view.evaluate(
    () =>
      new Promise((done) =>
        addEventListener("message", (event) => {
          if (event.data.method !== "ui/notifications/tool-result") return;
          const { data, origin, source, isTrusted } = event;
          done({
            origin,
            isTrusted,
            fromParent: source === parent,
            plain: Object.getPrototypeOf(data.params) === Object.prototype,
            event: event instanceof MessageEvent,
          });
        }),
      ),
  );
  await view.evaluate(() => 0);
  await host.evaluate(() =>
    theHost.send("ui/notifications/tool-result", { content: [] }),
  );
  assert.deepEqual(await heard, {
    origin: origins.guest,
    isTrusted: true,
    fromParent: true,
    plain: true,
    event: true,
  });
});

test("a view speaks with whatever function it finds for it", async (t) => {
  const { host, view } = await openTrio(t, theatre);
  await view.evaluate(() => {
    const say = (n) => ({ jsonrpc: "2.0", method: "ping", id: `p${n}` });
    const { postMessage } = parent;
    postMessage(say(1), "*");
    parent.postMessage(say(2), origin);
    parent.postMessage(say(3), { targetOrigin: "/" });
    self.postMessage.call(parent, say(4), "*");
    // As an adapter does it that translates.
    parent.postMessage = (message, ...more) => postMessage({ ...message, id: "p5" }, ...more);
    parent.postMessage(say(0), "*");
    postMessage(say(6), "https://elsewhere.test");
    postMessage(say(7), "*");
  });
  const ids = [];
  while (ids.length < 6) {
    const { id } = await host.evaluate(() => ear.next("wire"));
    if (String(id).startsWith("p")) ids.push(id);
  }
  assert.deepEqual(ids.toSorted(), ["p1", "p2", "p3", "p4", "p5", "p7"]);
});

// What a guest can do to the window above it, and so to itself.
const DEEDS = {
  "writes it anew": () => {
    parent.document.open();
    parent.document.write("<p>mine</p>");
    parent.document.close();
  },
  "removes itself from it": () => frameElement.remove(),
  "puts other frames before itself": () =>
    frameElement.before(...[1, 2].map(() => parent.document.createElement("iframe"))),
  "sends it to its own address": () => {
    const link = parent.document.body.appendChild(parent.document.createElement("a"));
    link.href = location.href;
    link.click();
  },
  "sends it elsewhere": () => {
    const link = parent.document.body.appendChild(parent.document.createElement("a"));
    link.href = "https://elsewhere.test/";
    link.click();
  },
  "sends itself away": () => (location.href = "about:blank"),
  "takes its functions away": () => {
    for (const name of ["postMessage", "addEventListener", "MessageEvent", "URL"]) parent[name] = self[name] = undefined;
  },
  "makes its events fail": () => {
    const refuse = {
      get() {
        throw new Error("not this one");
      },
    };
    for (const name of ["source", "origin", "data"]) Object.defineProperty(MessageEvent.prototype, name, refuse);
  },
};
const MOMENTS = {
  "before it says hello": async () => {},
  "in the middle of a call": async ({ host, view }) => {
    await connectApp(view);
    await host.evaluate(() => theHost.handle("tools/call", () => new Promise(() => ear.hear("called"))));
    await view.evaluate(() => void app.callServerTool({ name: "t" }).catch(() => {}));
    await host.evaluate(() => ear.next("called"));
  },
};

for (const [deed, act] of Object.entries(DEEDS))
  for (const [moment, wait] of Object.entries(MOMENTS))
    test(`a view that ${deed} ${moment} harms itself alone`, async (t) => {
      const { host, view, sandbox, origins } = await openTrio(t, theatre, { connect: false });
      await wait({ host, view });
      // Its frame may be gone before it can answer.
      await view.evaluate(act).catch(() => {});
      // What the host says then goes to the view or to nobody, and the sandbox above goes on.
      await host.evaluate(() => {
        theHost.send("ui/notifications/tool-result", { content: [] });
        theHost.send("ui/notifications/sandbox-active", {});
      });
      const active = "ui/notifications/sandbox-active";
      for (let method; method !== active;) method = (await host.evaluate(() => ear.next("wire"))).method;
      const above = await sandbox.evaluate(() => ({
        origin,
        frames: document.querySelectorAll("iframe").length,
        refused: document.documentElement.dataset.refused,
      }));
      assert.deepEqual(above, { origin: origins.sandbox, frames: 1, refused: undefined });
      for (const frame of host.frames()) assert.ok(!frame.url().includes("elsewhere"), frame.url());
    });
