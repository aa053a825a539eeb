// ext-apps' own App under its own AppBridge: what this rig reports of the peers must be true before it may judge us.
import { after, test } from "../rig/test.mjs";
import { mountFrame, openTheatre, putView } from "../rig/stage.mjs";
import {
  converse,
  HOST_CAPABILITIES,
  HOST_CONTEXT,
  hostAnswers,
  same,
  viewConnects,
} from "./conversation.mjs";

const { site, openStage } = await openTheatre({ after });

for (const bridge of [2, 1])
  for (const app of [2, 1])
    test(`ext-apps ${app}.x App under ext-apps ${bridge}.x AppBridge`, async (t) => {
      const stage = await openStage(t, {
        scripts: [`ext-apps-${bridge}.host.js`, "app-bridge.js"],
      });
      const address = await putView(site, {
        scripts: [`ext-apps-${app}.view.js`],
      });
      await mountFrame(stage.host, address, {
        hostContext: HOST_CONTEXT,
        hostCapabilities: HOST_CAPABILITIES,
      });
      await hostAnswers(stage.host);
      const view = await stage.frameAt(address);
      const met = await viewConnects(view);
      same(met.context, HOST_CONTEXT);
      await stage.host.evaluate(() => ear.next("initialized"));
      await converse(t, { host: stage.host, view });
    });
