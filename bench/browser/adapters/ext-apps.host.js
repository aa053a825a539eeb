// @bundler rollup
import {
  AppBridge,
  PostMessageTransport,
} from "@modelcontextprotocol/ext-apps/app-bridge";
import { createFrame } from "./frames.js";

export default {
  async mount(env) {
    const bridge = new AppBridge(
      null,
      { name: "bench-host", version: "1" },
      { serverTools: {}, openLinks: {}, logging: {} },
      { hostContext: { theme: "light", displayMode: "inline" } },
    );
    bridge.oncalltool = env.onCallTool;
    bridge.oninitialized = env.onInitialized;
    if (!env.direct && !env.guest)
      bridge.onsandboxready = () =>
        bridge.sendSandboxResourceReady({ html: env.html });
    const { iframe, win } = createFrame(env);
    await bridge.connect(new PostMessageTransport(win, win));
    return {
      sendPartial: (args) => bridge.sendToolInputPartial({ arguments: args }),
      async unmount() {
        await bridge.close();
        iframe.remove();
      },
    };
  },
};
