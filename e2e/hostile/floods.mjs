// What a view floods with, and how fast. Each runs in the view; shared by the test and by `bench/host/flood.mjs`.

/** By the library, which has a port: the sandbox is not on its way. */
export const PORT = "calls on the port";

/** One message of each kind. */
export const FLOODS = {
  notifications: () => post({ method: "notifications/message", params: { level: "info", data: "flood" } }),
  "calls of a tool": () => post({ id: `f${Math.random()}`, method: "tools/call", params: { name: "look", arguments: {} } }),
  "messages in the sandbox's name": () => post({ method: "ui/notifications/sandbox-proxy-ready", params: {} }),
  [PORT]: () => void call("steady").catch(() => {}),
};

/** The server and the tool that open a view which can do it. */
export const flooder = (kind) => (kind === PORT ? ["neighbour", "steady"] : ["stranger", "open"]);

/** A script: so many a millisecond by the clock; where timers come late, as many as are due. `ticking` is its timer. */
export const steadily = (many, one) =>
  `const t = performance.now(); let n = 0; const ticking = setInterval(() => { for (const due = (performance.now() - t) * ${many}; n < due; n++) (${one})(); }, 10);`;

/** A script: so many at once. */
export const atOnce = (many, one) => `for (let left = ${many}; left > 0; left--) (${one})();`;
