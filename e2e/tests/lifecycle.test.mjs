// A view's life on a page: mounted twice, reloaded, taken away, gone elsewhere, and nine others beside it.
import assert from "node:assert/strict";
import { putSandbox } from "../rig/sandbox.mjs";
import { mountElement, openTheatre, putView } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import { connectApp, openTrio, reload } from "../rig/trio.mjs";

const theatre = await openTheatre({ after });
const { site, openStage } = theatre;

const ping = (host) => host.evaluate(() => theHost.send("ping"));
const left = (frame, name) => frame.evaluate((name) => ear.left(name), name);

for (const port of [false, true]) {
  const lane = port ? "port" : "window";

  test(`StrictMode mounts twice and one session is left (${lane})`, async (t) => {
    const trio = await openTrio(t, theatre, {
      element: true,
      connect: false,
      viewScripts: ["react.view.js"],
      host: { port },
    });
    await trio.view.evaluate(() => ear.next("connected"));
    assert.equal((await left(trio.view, "created")).length, 2, "mounted twice");
    assert.deepEqual(await ping(trio.host), {});
    await trio.host.evaluate(() => {
      theHost.send("ui/notifications/tool-input", { arguments: { a: 1 } });
      theHost.send("ui/notifications/tool-result", { content: [] });
    });
    assert.deepEqual(await ping(trio.host), {});
    assert.deepEqual(
      await left(trio.view, "toolinput"),
      [{ arguments: { a: 1 } }],
      "heard once",
    );
    assert.equal((await left(trio.view, "toolresult")).length, 1);
    assert.equal(
      await trio.view.evaluate(() => document.querySelector("p").textContent),
      "connected",
    );
    await trio.host.evaluate(() =>
      theHost.handle("tools/call", () => ({ content: [] })),
    );
    await trio.view.evaluate(() =>
      app.callServerTool({ name: "t" }).then(() => {}),
    );
  });

  test(`a reload in mid-call settles nothing twice and starts a new session (${lane})`, async (t) => {
    const trio = await openTrio(t, theatre, { element: true, host: { port } });
    await trio.host.evaluate(() => {
      globalThis.answers = [];
      theHost.handle(
        "tools/call",
        ({ name }) => (
          ear.hear("called", name),
          new Promise((done) => answers.push(done))
        ),
      );
    });
    await trio.view.evaluate(
      () => void app.callServerTool({ name: "before" }).catch(() => {}),
    );
    assert.equal(await trio.host.evaluate(() => ear.next("called")), "before");
    await reload(trio);
    await trio.view.evaluate(
      () => void (globalThis.pending = app.callServerTool({ name: "after" })),
    );
    assert.equal(await trio.host.evaluate(() => ear.next("called")), "after");
    // The old call is answered late, under an id that the new document may have given out too.
    await trio.host.evaluate(() =>
      answers[1]({ content: [{ type: "text", text: "after" }] }),
    );
    const { content } = await trio.view.evaluate(() => pending);
    assert.equal(content[0].text, "after");
    assert.deepEqual(await ping(trio.host), {});
  });

  test(`taken out of the document, the view ends and says so once (${lane})`, async (t) => {
    const trio = await openTrio(t, theatre, { element: true, host: { port } });
    await trio.host.evaluate(() => theHost.element.remove());
    assert.deepEqual(await left(trio.host, "transom-close"), [
      { reason: "gone" },
    ]);
    assert.deepEqual(await left(trio.host, "said-close"), [{ reason: "gone" }]);
    assert.equal(await trio.host.evaluate(() => theHost.frame()), null);
    const before = (await left(trio.host, "wire")).length;
    await trio.host.evaluate(() =>
      theHost.post({
        method: "ui/notifications/tool-result",
        params: { content: [] },
      }),
    );
    assert.equal((await left(trio.host, "wire")).length, before);
    assert.deepEqual(trio.mishaps, []);
  });

  test(`put back into the document, the view starts anew (${lane})`, async (t) => {
    const trio = await openTrio(t, theatre, { element: true, host: { port } });
    await trio.host.evaluate(() => {
      theHost.element.remove();
      document.body.append(theHost.element);
    });
    const view = await trio.host.waitForEvent(
      "framenavigated",
      (frame) => frame.url() === trio.guestUrl,
    );
    await view.waitForLoadState("load");
    await connectApp(view);
    assert.deepEqual(await ping(trio.host), {});
  });

  test(`a view that goes to another page of its origin is a new session there (${lane})`, async (t) => {
    const trio = await openTrio(t, theatre, { element: true, host: { port } });
    const elsewhere = await putView(site, {
      origin: trio.origins.guest,
      path: "/elsewhere",
      scripts: ["transom.view.js"],
    });
    await trio.view
      .evaluate((url) => void (location.href = url), elsewhere)
      .catch(() => {});
    const view = await trio.frameAt(elsewhere);
    await connectApp(view);
    assert.deepEqual(await ping(trio.host), {});
    const hellos = (await left(trio.host, "wire")).filter(
      ({ method }) => method === "ui/initialize",
    );
    assert.equal(hellos.length, 2);
  });

  test(`ten views at once, each with its own answers (${lane})`, async (t) => {
    const stage = await openStage(t, { scripts: ["element.js"] });
    const views = [];
    for (let i = 0; i < 10; i++) {
      const guest = await putView(site, { scripts: ["transom.view.js"] });
      const src = await putSandbox(site, { guest });
      await stage.host.evaluate(
        ({ i, ...options }) => {
          const host = openElement(options);
          host.handle("tools/call", ({ arguments: { n } }) => ({
            content: [],
            structuredContent: { view: i, n },
          }));
          (globalThis.hosts ??= []).push(host);
        },
        { id: `v${i}`, src, port, i },
      );
      views.push(await stage.frameAt(guest));
    }
    await Promise.all(views.map((view) => connectApp(view)));
    const answers = await Promise.all(
      views.map((view) =>
        view.evaluate(() =>
          Promise.all(
            Array.from({ length: 100 }, (_, n) =>
              app
                .callServerTool({ name: "t", arguments: { n } })
                .then(({ structuredContent }) => structuredContent),
            ),
          ),
        ),
      ),
    );
    answers.forEach((each, view) =>
      assert.deepEqual(
        each,
        Array.from({ length: 100 }, (_, n) => ({ view, n })),
      ),
    );
    // What one is told the others do not hear.
    await stage.host.evaluate(() =>
      hosts[3].send("ui/notifications/tool-input", { arguments: { only: 3 } }),
    );
    await Promise.all(
      [...Array(10).keys()].map((i) =>
        stage.host.evaluate((i) => hosts[i].send("ping"), i),
      ),
    );
    const heard = await Promise.all(
      views.map((view) => left(view, "toolinput")),
    );
    heard.forEach((each, i) => assert.equal(each.length, i === 3 ? 1 : 0));
  });
}

test("teardown is answered before the frame goes, and a close from the host ends the view", async (t) => {
  const trio = await openTrio(t, theatre, { element: true });
  await trio.view.evaluate(() => (app.onteardown = () => ({ saved: true })));
  const saved = await trio.host.evaluate(() =>
    theHost.send("ui/resource-teardown", { reason: "bye" }),
  );
  assert.deepEqual(saved, { saved: true });
  await trio.host.evaluate(() => theHost.tell({ close: { reason: "done" } }));
  assert.deepEqual(await left(trio.host, "transom-close"), [
    { reason: "done" },
  ]);
  assert.equal(await trio.host.evaluate(() => theHost.frame()), null);
});

test("close() on the element asks the host; it does not take the frame away", async (t) => {
  const trio = await openTrio(t, theatre, { element: true });
  await trio.host.evaluate(() => theHost.element.close());
  assert.deepEqual(await left(trio.host, "said-close"), [{ reason: "user" }]);
  assert.deepEqual(await ping(trio.host), {});
});

test("a view outside any host says NoHost at once", async (t) => {
  const stage = await openStage(t, { scripts: ["transom.view.js"] });
  const code = await stage.host.evaluate(() =>
    new library.App({ name: "v", version: "1" })
      .connect()
      .catch((error) => error.code),
  );
  assert.equal(code, "NoHost");
});
