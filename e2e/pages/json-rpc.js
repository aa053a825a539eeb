// One end of JSON-RPC in as few lines as a host by hand would have: no opinions, no checks.

/** Answers and asks by `post`, which puts a message on its way. Every message that comes is given to `hear`. */
export function openJsonRpc(post) {
  const handlers = new Map();
  const pending = new Map();
  let last = 0;

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
  return {
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
    hear({ id, method, params, result, error }) {
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
    },
  };
}

/** Answers what every host answers: the greeting, by `greet`, and `ping`. */
export function answerBasics({ handle }, greet) {
  handle("ui/initialize", greet);
  handle("ping", () => ({}));
  handle("ui/notifications/initialized", () => ear.hear("initialized"));
}

/** What a host says of itself. */
export const greeting = (hostCapabilities, hostContext) => ({
  protocolVersion: "2026-01-26",
  hostInfo: { name: "e2e-host", version: "1" },
  hostCapabilities,
  hostContext,
});
