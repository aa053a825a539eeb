// <transom-view> with a host in the page itself: the smallest thing that can stand where the host process stands.
// Same face as app-bridge.js and small-host.js; `port` says whether it agrees to the fast lane.
import { asMessage, InPageChannel } from "../../web/src/host.ts";

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
  const handlers = new Map();
  const pending = new Map();
  let app = {};
  let last = 0;
  let tell = () => {};
  let experimental = {};

  const answerHello = (params) => {
    app = params;
    if (port && params?.appCapabilities?.experimental?.["transom/port"])
      experimental = { experimental: { "transom/port": {} } };
    return {
      protocolVersion: "2026-01-26",
      hostInfo: { name: "e2e-host", version: "1" },
      hostCapabilities: { ...hostCapabilities, ...experimental },
      hostContext,
    };
  };
  handlers.set("ui/initialize", answerHello);
  handlers.set("ping", () => ({}));
  handlers.set("ui/notifications/initialized", () => ear.hear("initialized"));

  const post = (message) => {
    const whole = { jsonrpc: "2.0", ...message };
    tell({ message: asText ? JSON.stringify(whole) : whole });
  };
  const answer = async (id, work) => {
    try {
      post({ id, result: await work() });
    } catch (error) {
      post({
        id,
        error: { code: error.code ?? -32603, message: error.message },
      });
    }
  };
  const hear = (carried) => {
    const data = asMessage(carried);
    ear.hear("wire", data);
    ear.hear("carried", typeof carried);
    const { id, method, params, result, error } = data;
    if (method === undefined) {
      const { resolve, reject } = pending.get(id) ?? {};
      pending.delete(id);
      error
        ? reject?.(Object.assign(new Error(error.message), error))
        : resolve?.(result);
    } else if (id === undefined) handlers.get(method)?.(params);
    else if (handlers.has(method))
      void answer(id, () => handlers.get(method)(params));
    else post({ id, error: { code: -32601, message: "Method not found" } });
  };

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
    handle: (method, handler) => handlers.set(method, handler),
    send(method, params) {
      if (method.includes("notifications/"))
        return post({ method, ...(params && { params }) });
      const id = ++last;
      post({ id, method, ...(params && { params }) });
      return new Promise((resolve, reject) =>
        pending.set(id, { resolve, reject }),
      );
    },
    post,
    appInfo: () => app.appInfo,
    appCapabilities: () => app.appCapabilities,
    frame: () => element.shadowRoot.querySelector("iframe"),
  };
};
