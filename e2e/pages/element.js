// <transom-view> with a host in the page itself: the smallest thing that can stand where the host process stands.
// Same face as app-bridge.js and small-host.js; `port` says whether it agrees to the fast lane.
import { asMessage, InPageChannel } from "../../web/src/host.ts";
import { answerBasics, greeting, openJsonRpc } from "./json-rpc.js";

globalThis.openElement = ({
  id = "v1",
  src,
  resource,
  hostContext = {},
  hostCapabilities = {},
  port = false,
  asText = false,
  ...more
}) => {
  let app = {};
  let tell = () => {};
  let experimental = {};

  const answerHello = (params) => {
    app = params;
    if (port && params?.appCapabilities?.experimental?.["transom/port"])
      experimental = { experimental: { "transom/port": {} } };
    return greeting({ ...hostCapabilities, ...experimental }, hostContext);
  };
  const post = (message) => {
    const whole = { jsonrpc: "2.0", ...message };
    tell({ message: asText ? JSON.stringify(whole) : whole });
  };
  const rpc = openJsonRpc(post);
  answerBasics(rpc, answerHello);
  const hear = (carried) => {
    const data = asMessage(carried);
    ear.hear("wire", data);
    ear.hear("carried", typeof carried);
    rpc.hear(data);
  };

  const element = elementFor(id);
  element.channel = new InPageChannel((_, whisper) => {
    tell = whisper;
    return (said) => {
      ear.hear("said", Object.keys(said)[0]);
      if ("open" in said)
        tell({ open: { src, ...(resource && { resource }), ...more } });
      else if ("message" in said) hear(said.message);
      else ear.hear(`said-${Object.keys(said)[0]}`, Object.values(said)[0]);
    };
  });
  document.body.append(element);

  return {
    element,
    answerHello,
    tell: (told) => tell(told),
    handle: rpc.handle,
    send: rpc.send,
    post,
    appInfo: () => app.appInfo,
    appCapabilities: () => app.appCapabilities,
    frame: () => element.shadowRoot.querySelector("iframe"),
  };
};

/** An element for a view, with an ear on what it reports. */
function elementFor(id) {
  const element = document.createElement("transom-view");
  element.setAttribute("view", id);
  for (const name of [
    "transom-open",
    "transom-resize",
    "transom-mode",
    "transom-lane",
    "transom-close",
    "transom-ask",
  ])
    element.addEventListener(name, ({ detail }) => {
      const { answer: _, ...plain } = detail;
      ear.hear(name, plain);
    });
  return element;
}
