// A host of a few lines, as a page might write it by hand: plain lane, objects, no opinions. Same face as app-bridge.js.
globalThis.openHost = async (
  frame,
  { hostContext, hostCapabilities, origin = "*" },
) => {
  const peer = frame.contentWindow;
  const handlers = new Map();
  const pending = new Map();
  let app = {};
  let last = 0;

  const post = (message) =>
    peer.postMessage({ jsonrpc: "2.0", ...message }, origin);
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
  handlers.set("ui/initialize", (params) => {
    app = params;
    return {
      protocolVersion: "2026-01-26",
      hostInfo: { name: "e2e-host", version: "1" },
      hostCapabilities,
      hostContext,
    };
  });
  handlers.set("ping", () => ({}));
  handlers.set("ui/notifications/initialized", () => ear.hear("initialized"));
  handlers.set("ui/notifications/sandbox-proxy-ready", () =>
    ear.hear("sandboxready"),
  );

  const listener = ({ source, origin: from, data }) => {
    if (source !== peer || (origin !== "*" && from !== origin)) return;
    ear.hear("wire", data);
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
  addEventListener("message", listener);

  const isRequest = (method) => !method.includes("notifications/");
  return {
    handle: (method, handler) => handlers.set(method, handler),
    send(method, params) {
      if (!isRequest(method))
        return post({ method, ...(params && { params }) });
      const id = ++last;
      post({ id, method, ...(params && { params }) });
      return new Promise((resolve, reject) =>
        pending.set(id, { resolve, reject }),
      );
    },
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
