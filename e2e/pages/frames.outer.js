// The outer page of the postMessage transport: one connection at a time, driven by the test.
import {
  IframeControl,
  OuterFrameTransport,
  PopupControl,
} from "../../web/src/frames/index.ts";

let ids = 0;
const pending = new Map();

/** How a promise ended, in words that cross to the test. */
globalThis.settled = (promise) =>
  promise.then(
    (value) => ({ value }),
    ({ code, name, message, data }) => ({
      error: { code: typeof code === "string" ? code : name, message, data },
    }),
  );

/** Makes the transport; `popup` and `opaque` choose the window. */
globalThis.prepare = (url, { popup, opaque, sandbox, ...options } = {}) => {
  globalThis.control = popup
    ? new PopupControl()
    : new IframeControl({ opaque, sandbox });
  attach(new OuterFrameTransport({ url, control, ...options }));
};

/** Hears everything that a transport says, and answers nothing. */
globalThis.attach = (transport) => {
  globalThis.outer = transport;
  transport.onmessage = (message) => {
    if (message.method === undefined) {
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      waiting?.(message);
    } else ear.hear("message", message);
  };
  transport.onclose = () => {
    for (const [id, waiting] of pending) {
      pending.delete(id);
      waiting({ closed: transport.reason?.code ?? "CLOSED" });
    }
    ear.hear("close", transport.reason?.code);
  };
  transport.onerror = (error) => ear.hear("error", error.code);
  transport.onsetuprequired = (required) => ear.hear("required", required);
  transport.onreload = (next) => {
    attach(next);
    ear.hear("reload", next.generation);
  };
};

/** Sends a request; its response, or why there is none. */
globalThis.ask = (method, params = {}) =>
  new Promise((resolve) => {
    const id = ids++;
    pending.set(id, resolve);
    outer
      .send({ jsonrpc: "2.0", id, method, params })
      .catch(({ code }) => resolve({ refused: code }));
  });

/** Everything that anybody posted to this page. */
globalThis.heardHere = [];
addEventListener("message", ({ origin, data }) => heardHere.push({ origin, data }));
