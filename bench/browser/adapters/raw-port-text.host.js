// The limit: JSON text over a MessagePort handed over in the handshake. The relay never sees the traffic, and nothing is
// cloned but one string each way.
import { createFrame, loadThroughProxy } from "./frames.js";

export default {
  needsPorts: true,
  async mount(env) {
    const { iframe, win } = createFrame(env);
    loadThroughProxy(env, win);
    let port;
    const send = (message) =>
      port.postMessage(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const listener = ({ source, data }) => {
      if (source !== win || data?.method !== "ui/initialize") return;
      removeEventListener("message", listener);
      const channel = new MessageChannel();
      port = channel.port1;
      port.onmessage = async (event) => {
        const { id, method, params } = JSON.parse(event.data);
        if (method === "tools/call")
          send({ id, result: await env.onCallTool(params) });
        else if (method === "ui/notifications/initialized") env.onInitialized();
      };
      win.postMessage({ jsonrpc: "2.0", id: data.id, result: {} }, "*", [
        channel.port2,
      ]);
    };
    addEventListener("message", listener);
    return {
      sendPartial: (args) =>
        send({
          method: "ui/notifications/tool-input-partial",
          params: { arguments: args },
        }),
      unmount() {
        port?.close();
        iframe.remove();
      },
    };
  },
};
