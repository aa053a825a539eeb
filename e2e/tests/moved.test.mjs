// "Only the import changes": one view that uses everything ext-apps exports to views, and one with its hooks, bundled with
// ext-apps and with us. Under ext-apps' own AppBridge both must report the same.
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "../rig/test.mjs";
import { bundle, page } from "../rig/bundle.mjs";
import { mountFrame, openTheatre } from "../rig/stage.mjs";
import { HOST_CAPABILITIES, HOST_CONTEXT } from "./conversation.mjs";

const WEB = fileURLToPath(new URL("../../web", import.meta.url));
const OURS = {
  "@modelcontextprotocol/ext-apps": path.join(WEB, "src/index.ts"),
  "@modelcontextprotocol/ext-apps/react": path.join(WEB, "src/react.ts"),
};
const { site, openStage } = await openTheatre({ after });

/** A host built on AppBridge, and in it the view of that name, bundled with one of the two packages. */
async function stageWith(t, name, alias) {
  const stage = await openStage(t, {
    scripts: ["ext-apps-2.host.js", "app-bridge.js"],
  });
  const script = await bundle(path.join(WEB, "test/moved", name), alias);
  const address = site.put(site.fresh(), "/", page({ scripts: [script] }));
  await mountFrame(stage.host, address, {
    hostContext: HOST_CONTEXT,
    hostCapabilities: HOST_CAPABILITIES,
  });
  const view = await stage.frameAt(address);
  assert.deepEqual(stage.mishaps, []);
  return { host: stage.host, view };
}

/** Answers what the view asks, writes down what it was asked, and never answers one call. */
const answering = (host) =>
  host.evaluate(() => {
    const answers = {
      "resources/list": { resources: [], nextCursor: "3" },
      "sampling/createMessage": {
        role: "assistant",
        content: { type: "text", text: "ho" },
        model: "m",
      },
      "ui/request-display-mode": { mode: "fullscreen" },
    };
    const methods = [
      ...["message", "open-link", "download-file", "update-model-context"],
      "request-display-mode",
    ].map((name) => `ui/${name}`);
    for (const method of [...methods, ...Object.keys(answers)])
      theHost.handle(method, async (params) => {
        ear.hear("asked", [method, params]);
        return answers[method] ?? {};
      });
    theHost.handle("resources/read", async ({ uri }) => {
      if (uri.endsWith("no")) throw new Error("there is no such file");
      return { contents: [{ uri, text: "a" }] };
    });
    theHost.handle("tools/call", ({ name, arguments: args }) =>
      name === "never"
        ? new Promise(() => {})
        : Promise.resolve({ content: [], structuredContent: { name, args } }),
    );
    for (const method of [
      "notifications/message",
      "ui/notifications/size-changed",
    ])
      theHost.handle(method, (params) => ear.hear("told", [method, params]));
  });

/** What the host tells and asks of the view, and what it gets. */
const hosting = (host) =>
  host.evaluate(async () => {
    const { bridge, send } = theHost;
    const any = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => ({ value }),
      },
    };
    const ask = (method, params) =>
      bridge.request({ method, params }, any).catch(({ code }) => ({ code }));
    const tell = (method, params) => bridge.notification({ method, params });
    await send("ui/notifications/tool-input", { arguments: { a: 1 } });
    await send("ui/notifications/tool-result", {
      content: [{ type: "text", text: "done" }],
    });
    await send("ui/notifications/tool-cancelled", { reason: "enough" });
    await send("ui/notifications/host-context-changed", { locale: "de" });
    await tell("x/told", { n: 1 });
    await tell("x/zod", { n: 2 });
    await tell("x/quiet", {});
    const checked = [
      await ask("x/checked", { n: 4 }),
      await ask("x/asked", { n: 5 }),
    ];
    const { tools } = await send("tools/list", {});
    return {
      checked,
      refused: [await ask("x/gone", {}), await ask("x/never", {})],
      wrong: "code" in (await ask("x/checked", { n: "four" })),
      tools: tools.map(({ name, title, description }) => ({
        name,
        title,
        description,
      })),
      schema: tools[0].inputSchema.required,
      sum: await send("tools/call", { name: "add", arguments: { a: 1, b: 2 } }),
      now: await send("tools/call", { name: "now", arguments: {} }),
      teardown: await send("ui/resource-teardown", {}),
    };
  });

async function report(t, alias) {
  const { host, view } = await stageWith(t, "view.ts", alias);
  await answering(host);
  const connected = await view.evaluate(() => moved.connect());
  const said = [];
  said.push(connected, await view.evaluate(() => moved.ask()));
  said.push(await hosting(host));
  await host.waitForFunction(() => true);
  said.push(
    await view.evaluate(async () => [
      moved.standing,
      moved.heard,
      moved.dispatched(),
      moved.dressed(),
      await moved.answers(),
    ]),
  );
  said.push(await host.evaluate(() => [ear.left("asked"), ear.left("told")]));
  await view.evaluate(() => moved.close());
  // What is not there does not travel: `undefined` and a missing member are one.
  return JSON.parse(JSON.stringify(said));
}

test("a view that uses every export reports the same with ext-apps and with us", async (t) => {
  const theirs = await report(t, {});
  const ours = await report(t, OURS);
  assert.equal(theirs[3][1].length, 7, "the view heard what there was to hear");
  assert.equal(theirs[1].string, true);
  assert.deepEqual(ours, theirs);
});

test("a view with every hook shows the same with ext-apps and with us", async (t) => {
  for (const alias of [{}, OURS]) {
    const { host, view } = await stageWith(t, "react.tsx", alias);
    await view.waitForFunction(() => /nothing/.test(document.body.innerText));
    await host.evaluate(() =>
      theHost.send("ui/notifications/tool-result", {
        content: [{ type: "text", text: "done" }],
      }),
    );
    await view.waitForFunction(() => /done/.test(document.body.innerText));
    assert.equal(
      await view.evaluate(() => document.body.innerText.trim()),
      'dark: [{"type":"text","text":"done"}]',
    );
  }
});
