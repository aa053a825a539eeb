// Raw postMessage with objects: the baseline 1.0. The wire of MCP Apps, and no check but the source.
import { createFrame, loadThroughProxy } from "./frames.js";

export default {
  async mount(env) {
    const { iframe, win } = createFrame(env);
    loadThroughProxy(env, win);
    const send = (message) =>
      win.postMessage({ jsonrpc: "2.0", ...message }, "*");
    const listener = async ({ source, data }) => {
      if (source !== win || data?.jsonrpc !== "2.0") return;
      const { id, method, params } = data;
      if (method === "tools/call")
        send({ id, result: await env.onCallTool(params) });
      else if (method === "ui/initialize") send({ id, result: {} });
      else if (method === "ui/notifications/initialized") env.onInitialized();
    };
    addEventListener("message", listener);
    return {
      sendPartial: (args) =>
        send({
          method: "ui/notifications/tool-input-partial",
          params: { arguments: args },
        }),
      unmount() {
        removeEventListener("message", listener);
        iframe.remove();
      },
    };
  },
};
