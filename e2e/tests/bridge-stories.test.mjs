// What a table of methods cannot say about our App under ext-apps' AppBridge: cancelling, progress, failures, app tools.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { mountFrame, openTheatre, putView } from "../rig/stage.mjs";
import { HOST_CAPABILITIES, HOST_CONTEXT, same } from "./conversation.mjs";

const { site, openStage } = await openTheatre({ after });

async function openPair(t, version) {
  const stage = await openStage(t, {
    scripts: [`ext-apps-${version}.host.js`, "app-bridge.js"],
  });
  const address = await putView(site, { scripts: ["transom.view.js"] });
  await mountFrame(stage.host, address, {
    hostContext: HOST_CONTEXT,
    hostCapabilities: HOST_CAPABILITIES,
  });
  const view = await stage.frameAt(address);
  await view.evaluate(
    () =>
      (globalThis.app = new library.App(
        { name: "v", version: "1" },
        {},
        { autoResize: false },
      )),
  );
  return {
    host: stage.host,
    view,
    connect: () => view.evaluate(() => app.connect().then(() => {})),
  };
}

for (const version of [2, 1]) {
  test(`${version}.x: an aborted call reaches the bridge's signal and rejects at once`, async (t) => {
    const { host, view, connect } = await openPair(t, version);
    await connect();
    await host.evaluate(() => {
      theHost.bridge.oncalltool = (_, extra) =>
        new Promise(() => {
          const signal = extra.signal ?? extra.mcpReq.signal;
          signal.addEventListener("abort", () => ear.hear("aborted", true));
          ear.hear("called");
        });
    });
    await view.evaluate(() => {
      globalThis.controller = new AbortController();
      globalThis.outcome = app
        .callServerTool({ name: "slow" }, { signal: controller.signal })
        .then(String, (error) => error.code);
    });
    await host.evaluate(() => ear.next("called"));
    assert.equal(
      await view.evaluate(() => (controller.abort(), outcome)),
      "Aborted",
    );
    assert.equal(await host.evaluate(() => ear.next("aborted")), true);
  });

  test(`${version}.x: progress from the bridge reaches the caller`, async (t) => {
    const { host, view, connect } = await openPair(t, version);
    await connect();
    await host.evaluate(() => {
      theHost.bridge.oncalltool = async (params, extra) => {
        const { progressToken } = params._meta;
        const notification = {
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 2 },
        };
        await (extra.sendNotification ?? extra.mcpReq.notify)(notification);
        return { content: [] };
      };
    });
    const heard = await view.evaluate(async () => {
      const heard = [];
      await app.callServerTool(
        { name: "slow" },
        { onprogress: (progress) => heard.push(progress) },
      );
      return heard;
    });
    assert.equal(heard.length, 1);
    assert.equal(heard[0].progress, 1);
    assert.equal(heard[0].total, 2);
  });

  test(`${version}.x: a handler that throws in the bridge rejects at the caller with its code`, async (t) => {
    const { host, view, connect } = await openPair(t, version);
    await connect();
    await host.evaluate(() => {
      theHost.bridge.onopenlink = async () => {
        throw Object.assign(new Error("denied"), { code: -32000 });
      };
    });
    const error = await view.evaluate(() =>
      app
        .openLink({ url: "https://example.com" })
        .catch(({ code, message }) => ({ code, message })),
    );
    assert.equal(error.code, -32000);
    assert.match(error.message, /denied/);
  });

  test(`${version}.x: what the bridge has no handler for is -32601`, async (t) => {
    const { view, connect } = await openPair(t, version);
    await connect();
    const code = await view.evaluate(() =>
      app.downloadFile({ contents: [] }).catch((error) => error.code),
    );
    assert.equal(code, -32601);
  });

  test(`${version}.x: tools registered in the view are listed, called, changed and removed`, async (t) => {
    const { host, view, connect } = await openPair(t, version);
    await view.evaluate(() => {
      globalThis.tool = app.registerTool(
        "zoom",
        {
          description: "zooms",
          inputSchema: {
            type: "object",
            properties: { by: { type: "number" } },
          },
        },
        async ({ by }) => ({
          content: [{ type: "text", text: `zoomed ${by}` }],
        }),
      );
    });
    await connect();
    same(await host.evaluate(() => theHost.appCapabilities().tools), {
      listChanged: true,
    });
    const { tools } = await host.evaluate(() => theHost.send("tools/list", {}));
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["zoom"],
    );
    const { content } = await host.evaluate(() =>
      theHost.send("tools/call", { name: "zoom", arguments: { by: 3 } }),
    );
    same(content, [{ type: "text", text: "zoomed 3" }]);
    await view.evaluate(() => tool.remove());
    same((await host.evaluate(() => theHost.send("tools/list", {}))).tools, []);
    const refused = await host.evaluate(() =>
      theHost.send("tools/call", { name: "zoom", arguments: {} }).then(
        () => "answered",
        () => "refused",
      ),
    );
    assert.equal(refused, "refused");
  });

  test(`${version}.x: a view without a teardown handler does not keep the bridge waiting`, async (t) => {
    const { host, connect } = await openPair(t, version);
    await connect();
    const settled = await host.evaluate(() =>
      theHost.send("ui/resource-teardown", {}).then(
        () => "answered",
        () => "refused",
      ),
    );
    assert.match(settled, /answered|refused/);
  });

  test(`${version}.x: a teardown handler that returns nothing still answers with an object`, async (t) => {
    const { host, view, connect } = await openPair(t, version);
    await view.evaluate(() => (app.onteardown = () => {}));
    await connect();
    same(
      await host.evaluate(() => theHost.send("ui/resource-teardown", {})),
      {},
    );
  });

  test(`${version}.x: a handler of the view that throws answers -32603 and the channel lives on`, async (t) => {
    const { host, view, connect } = await openPair(t, version);
    await view.evaluate(() => {
      app.onerror = () => {};
      app.onteardown = () => {
        throw new Error("not now");
      };
      app.ontoolinput = () => {
        throw new Error("nor this");
      };
    });
    await connect();
    const code = await host.evaluate(() =>
      theHost.send("ui/resource-teardown", {}).catch((error) => error.code),
    );
    assert.equal(code, -32603);
    await host.evaluate(() =>
      theHost.send("ui/notifications/tool-input", { arguments: {} }),
    );
    same(await host.evaluate(() => theHost.send("ping")), {});
  });

  test(`${version}.x: sizes are reported on connect and when the content grows`, async (t) => {
    const { host, view } = await openPair(t, version);
    await host.evaluate(() =>
      theHost.handle("ui/notifications/size-changed", (size) =>
        ear.hear("size", size),
      ),
    );
    await view.evaluate(async () => {
      document.body.style.margin = "0";
      document.body.innerHTML = '<div id="box" style="height:100px"></div>';
      globalThis.app = new library.App({ name: "v", version: "1" });
      await app.connect();
    });
    assert.equal((await host.evaluate(() => ear.next("size"))).height, 100);
    await view.evaluate(
      () => (document.getElementById("box").style.height = "250px"),
    );
    assert.equal((await host.evaluate(() => ear.next("size"))).height, 250);
  });
}
