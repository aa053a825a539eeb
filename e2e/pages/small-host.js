// A host of a few lines, as a page might write it by hand: plain lane, objects, no opinions. Same face as app-bridge.js.
import { answerBasics, greeting, openJsonRpc } from "./json-rpc.js";

globalThis.openHost = async (
  frame,
  { hostContext, hostCapabilities, origin = "*" },
) => {
  const peer = frame.contentWindow;
  let app = {};

  const post = (message) =>
    peer.postMessage({ jsonrpc: "2.0", ...message }, origin);
  const rpc = openJsonRpc(post);
  answerBasics(rpc, (params) => {
    app = params;
    return greeting(hostCapabilities, hostContext);
  });
  rpc.handle("ui/notifications/sandbox-proxy-ready", () =>
    ear.hear("sandboxready"),
  );

  const listener = ({ source, origin: from, data }) => {
    if (source !== peer || (origin !== "*" && from !== origin)) return;
    ear.hear("wire", data);
    rpc.hear(data);
  };
  addEventListener("message", listener);

  return {
    handle: rpc.handle,
    send: rpc.send,
    post,
    sendHtml: (html, more = {}) =>
      post({
        method: "ui/notifications/sandbox-resource-ready",
        params: { html, ...more },
      }),
    appInfo: () => app.appInfo,
    appCapabilities: () => app.appCapabilities,
    close: () => removeEventListener("message", listener),
  };
};
