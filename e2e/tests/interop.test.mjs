// Transom's pieces under the peers' and the peers under Transom's: every method, both directions.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { bundle, page } from "../rig/bundle.mjs";
import { putSandbox } from "../rig/sandbox.mjs";
import {
  mountElement,
  mountFrame,
  openTheatre,
  putView,
} from "../rig/stage.mjs";
import {
  converse,
  HOST_CAPABILITIES,
  HOST_CONTEXT,
  hostAnswers,
  same,
  viewConnects,
} from "./conversation.mjs";

const { site, openStage } = await openTheatre({ after });
const GREETING = {
  hostContext: HOST_CONTEXT,
  hostCapabilities: HOST_CAPABILITIES,
};

for (const version of [2, 1])
  test(`our App under ext-apps ${version}.x AppBridge, direct`, async (t) => {
    const stage = await openStage(t, {
      scripts: [`ext-apps-${version}.host.js`, "app-bridge.js"],
    });
    const address = await putView(site, { scripts: ["transom.view.js"] });
    await mountFrame(stage.host, address, GREETING);
    await hostAnswers(stage.host);
    const view = await stage.frameAt(address);
    const met = await viewConnects(view);
    same(met.context, HOST_CONTEXT);
    same(met.capabilities, HOST_CAPABILITIES);
    same(met.host, { name: "e2e-host", version: "1" });
    await stage.host.evaluate(() => ear.next("initialized"));
    same(await stage.host.evaluate(() => theHost.appInfo()), {
      name: "e2e-view",
      version: "2",
    });
    await converse(t, { host: stage.host, view });
    same(await stage.host.evaluate(() => ear.left("error")), []);
  });

for (const version of [2, 1])
  test(`ext-apps ${version}.x App under our sandbox page and a small in-page host`, async (t) => {
    const stage = await openStage(t, { scripts: ["small-host.js"] });
    const guest = await putView(site, {
      scripts: [`ext-apps-${version}.view.js`],
    });
    const sandbox = await putSandbox(site, { guest });
    await mountFrame(stage.host, sandbox, {
      ...GREETING,
      origin: new URL(sandbox).origin,
    });
    await hostAnswers(stage.host);
    const view = await stage.frameAt(guest);
    same((await viewConnects(view)).context, HOST_CONTEXT);
    await stage.host.evaluate(() => ear.next("initialized"));
    await converse(t, { host: stage.host, view });
  });

for (const version of [2, 1])
  for (const library of ["transom", `ext-apps-${version}`])
    test(`our sandbox page under ext-apps ${version}.x AppBridge, raw HTML with ${library}`, async (t) => {
      const stage = await openStage(t, {
        scripts: [`ext-apps-${version}.host.js`, "app-bridge.js"],
      });
      const sandbox = await putSandbox(site);
      await mountFrame(stage.host, sandbox, GREETING);
      await hostAnswers(stage.host);
      await stage.host.evaluate(() => ear.next("sandboxready"));
      const scripts = await Promise.all(
        ["ear.js", `${library}.view.js`].map(bundle),
      );
      const html = page({ scripts, head: "<title>raw</title>" });
      const shown = stage.frameAt("about:srcdoc");
      await stage.host.evaluate(
        (html) => theHost.sendHtml(html, { csp: {} }),
        html,
      );
      const view = await shown;
      assert.equal(
        await view.evaluate(() => document.compatMode),
        "CSS1Compat",
      );
      same((await viewConnects(view)).context, HOST_CONTEXT);
      await stage.host.evaluate(() => ear.next("initialized"));
      await converse(t, { host: stage.host, view });
      assert.equal(
        (await stage.host.evaluate(() => ear.left("sandboxready"))).length,
        0,
        "announced once",
      );
    });

for (const library of ["transom", "ext-apps-2", "ext-apps-1"])
  for (const port of [true, false])
    test(`${library} under <transom-view> and our sandbox page, host ${port ? "offers" : "knows nothing of"} the port`, async (t) => {
      const stage = await openStage(t, { scripts: ["element.js"] });
      const guest = await putView(site, { scripts: [`${library}.view.js`] });
      const sandbox = await putSandbox(site, { guest });
      await mountElement(stage.host, sandbox, { ...GREETING, port });
      await hostAnswers(stage.host);
      const view = await stage.frameAt(guest);
      same((await viewConnects(view)).context, HOST_CONTEXT);
      await stage.host.evaluate(() => ear.next("initialized"));
      await converse(t, { host: stage.host, view });
      const kinds = new Set(
        await stage.host.evaluate(() => ear.left("carried")),
      );
      assert.equal(
        kinds.has("string"),
        library === "transom" && port,
        "text only on the fast lane",
      );
    });
