// <transom-view> with a host in the page, and our App in the view. The two lanes differ in one key of the answer.
import { asMessage, InPageChannel } from "../../../web/src/host.ts";

export const hostOn = (port) => ({
  proxy: "proxy.transom",
  async mount({
    container,
    direct,
    html,
    guest,
    directUrl,
    proxyUrl,
    onCallTool,
    onInitialized,
  }) {
    const element = document.createElement("transom-view");
    let tell;
    const send = (message) => tell({ message: { jsonrpc: "2.0", ...message } });
    const hear = async ({ id, method, params }) => {
      if (method === "tools/call")
        send({ id, result: await onCallTool(params) });
      else if (method === "ui/initialize") send({ id, result: answer(port) });
      else if (method === "ui/notifications/initialized") onInitialized();
    };
    element.channel = new InPageChannel((_, whisper) => {
      tell = whisper;
      return (said) => {
        if ("message" in said) void hear(asMessage(said.message));
        else if ("open" in said)
          tell({
            open: direct
              ? { src: directUrl }
              : {
                  src: proxyUrl,
                  ...(!guest && { resource: { html, csp: {} } }),
                },
          });
      };
    });
    element.setAttribute("view", `v${++views}`);
    container.append(element);
    return {
      sendPartial: (args) =>
        send({
          method: "ui/notifications/tool-input-partial",
          params: { arguments: args },
        }),
      unmount: () => element.remove(),
    };
  },
});
let views = 0;

const answer = (port) => ({
  protocolVersion: "2026-01-26",
  hostInfo: { name: "bench-host", version: "1" },
  hostCapabilities: {
    serverTools: {},
    openLinks: {},
    logging: {},
    ...(port && { experimental: { "transom/port": {} } }),
  },
  hostContext: { theme: "light", displayMode: "inline" },
});
