/** `fetch`, `XMLHttpRequest`, `EventSource` and `WebSocket` of a page, all of them carried. */
import { eventSourceOver } from "./events.js";
import {
  homeOf,
  initMcpFetch,
  openCaller,
  type FetchHandle,
  type FetchOptions,
  type ToolCaller,
} from "./install.js";
import { webSocketOver } from "./socket.js";
import { xhrOver } from "./xhr.js";

/** Carries whatever this page asks for to the server that the View belongs to. */
export function initMcpHttp(
  app: ToolCaller,
  options: FetchOptions = {},
): FetchHandle {
  const inner = initMcpFetch(app, options);
  if (made.has(inner)) return made.get(inner)!;
  // In a tab of its own the page keeps the browser's classes.
  if (globalThis.parent && parent === self) return inner;
  const base = () => homeOf(options.base).href;
  const { call, ours } = openCaller(app, options);
  const put = [
    replace("XMLHttpRequest", xhrOver(inner.fetch, base)),
    replace("EventSource", eventSourceOver(inner.fetch, base)),
    replace("WebSocket", webSocketOver(call, base, ours)),
  ];
  const handle = {
    ...inner,
    restore() {
      put.forEach((giveBack) => giveBack());
      inner.restore();
    },
  };
  made.set(inner, handle);
  return handle;
}

/** Initialised twice, it is put in place once (INS-8). */
const made = new WeakMap<FetchHandle, FetchHandle>();

/** Puts a class in the place of the page's; the returned function gives it back, unless another script has put its own there. */
function replace(
  name: "XMLHttpRequest" | "EventSource" | "WebSocket",
  ours: unknown,
) {
  const scope = globalThis as Record<string, unknown>;
  const before = Object.getOwnPropertyDescriptor(scope, name);
  Object.defineProperty(scope, name, {
    configurable: true,
    writable: true,
    ...before,
    value: ours,
  });
  return () => {
    if (scope[name] !== ours) return;
    if (before) Object.defineProperty(scope, name, before);
    else delete scope[name];
  };
}
