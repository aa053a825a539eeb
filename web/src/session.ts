/**
 * The engine behind both faces: the View's end of one session.
 *
 * ```text
 * new ──connect──▶ asking ──answered──▶ open ──close──▶ closed ──connect──▶ …
 *                    └──refused, silence, no host──▶ closed
 * ```
 *
 * Requests made while asking wait for the handshake; `ui/notifications/initialized` always goes first.
 * Written as closures over their state, and the methods that only ask, tell or hear as tables: a
 * View carries every byte of this into its HTML.
 */
import type { RequestOptions } from "./calls.js";
import { objectOf, TransomError } from "./error.js";
import { openEvents, type Events } from "./events.js";
import { handlersOf } from "./handlers.js";
import { openPeer, type Handler, type Lane } from "./peer.js";
import { watchSize } from "./resize.js";
import { openServerTools } from "./server-tools.js";
import { addTools, check, standardOf } from "./tools.js";
import { PostMessageTransport, type Transport } from "./transport.js";
import type { App, AppOptions } from "./view.js";
import {
  LATEST_PROTOCOL_VERSION,
  type AppCapabilities,
  type Implementation,
  type InitializeResult,
  type Json,
} from "./wire.js";

type Plain = { method: string; params?: Json | undefined };

/** Methods that only ask or tell, and what belongs between the braces where somebody has given a string. */
const SENDS = {
  readServerResource: "resources/read uri",
  listServerResources: "resources/list",
  createSamplingMessage: "sampling/createMessage",
  sendMessage: "ui/message role, content",
  updateModelContext: "ui/update-model-context content",
  openLink: "ui/open-link url",
  sendOpenLink: "ui/open-link url",
  downloadFile: "ui/download-file",
  requestDisplayMode: "ui/request-display-mode mode",
  sendLog: "notifications/message",
  sendSizeChanged: "ui/notifications/size-changed",
  requestTeardown: "ui/notifications/request-teardown",
  sendToolListChanged: "notifications/tools/list_changed",
};

/**
 * Properties that hold a handler, without their "on": the member that an `McpApp` wants to see, and the
 * request that they answer, if it is not the event of that name.
 */
export const HANDLERS: [name: string, member?: string, method?: string][] = [
  ["toolinput", "arguments"],
  ["toolinputpartial", "arguments"],
  ["toolresult"],
  ["toolcancelled", "reason"],
  ["hostcontextchanged"],
  ["teardown", "reason", "resourceteardown"],
  ["calltool", "", "tools/call"],
  ["listtools", "", "tools/list"],
];

/** Gives an `App` its methods, and a session for them to work on. */
export function openSession(
  app: App,
  appInfo: Implementation,
  declared: AppCapabilities,
  { autoResize = true }: AppOptions,
): void {
  let ready: Promise<InitializeResult> | undefined;
  let host: Partial<InitializeResult> = {};
  let unwatch: (() => void) | undefined;
  // A copy, to which a tool adds what it needs until the Host has been told.
  const capabilities = { ...declared };
  const failed = (error: unknown) =>
    (app.onerror ?? reportError)(error as Error);
  const events = openEvents(failed);
  const peer = openPeer(app, events, failed, () => void close());

  const open = async (given?: Transport, options?: RequestOptions) => {
    if (!given && parent === self) throw new TransomError("NoHost");
    const lane: Lane = given ?? new PostMessageTransport();
    host = {
      hostCapabilities: {},
      hostContext: {},
      ...(await peer.begin(lane, hello(appInfo, capabilities, lane), options)),
    };
    await peer.send({ method: "ui/notifications/initialized" });
    if (autoResize) unwatch = app.setupSizeChangedNotifications();
    return host as InitializeResult;
  };
  const close = async () => {
    ready = undefined;
    unwatch?.();
    if (await peer.depart()) app.onclose?.();
  };

  const methods: Partial<App> = {
    connect: (given, options) => (ready ??= open(given, options)),
    close,
    getHostContext: () => host.hostContext,
    getHostCapabilities: () => host.hostCapabilities,
    getHostVersion: () => host.hostInfo,
  };
  Object.assign(app, methods);
  // Before any handler of the view, which finds what it is told of in the context.
  events.set(
    "hostcontextchanged",
    (params: Json) => (host.hostContext = { ...host.hostContext, ...params }),
    host,
  );
  addPlain(app, peer, () => ready);
  addMethods(app, events, failed);
  addTools(app, capabilities, () => ready);
}

const hello = (
  appInfo: Implementation,
  capabilities: AppCapabilities,
  { offer }: Lane,
): Json => ({
  appInfo,
  appCapabilities: {
    ...capabilities,
    experimental: { ...capabilities.experimental, ...offer },
  },
  protocolVersion: LATEST_PROTOCOL_VERSION,
});

/** Gives an `App` what sends anything, once the handshake is over or was never begun. */
function addPlain(
  app: App,
  { call, send }: ReturnType<typeof openPeer>,
  ready: () => unknown,
): void {
  app.request = async (
    { method, params }: Plain,
    schema?: unknown,
    options = schema as RequestOptions,
  ) => {
    await ready();
    // Not the promise itself: to adopt one takes longer than to wait for it.
    const result = await call(method, params, options);
    return (standardOf(schema) ? await check(schema, result) : result) as never;
  };
  app.notification = async ({ method, params }: Plain) => {
    await ready();
    return send({ method, ...(params && { params }) });
  };
}

/** Gives an `App` the methods and properties that need no more than its events and its requests. */
function addMethods(
  app: App,
  { get, set, drop }: Events,
  failed: (error: unknown) => void,
): void {
  const handles = handlersOf(set);
  Object.assign(app, {
    addEventListener: (event: string, handler: Handler) =>
      set(event, handler, handler as never),
    removeEventListener: drop,
    setRequestHandler: handles() as never,
    removeRequestHandler: drop,
    setNotificationHandler: handles(failed) as never,
    removeNotificationHandler: (method) => drop(method, method),
    callServerTool: openServerTools(app),
    setupSizeChangedNotifications: (element) =>
      watchSize(
        (size) => void app.sendSizeChanged(size).catch(() => {}),
        element,
      ),
  } satisfies Partial<App>);
  set("ping", () => {});
  for (const [name, sends] of Object.entries(SENDS)) {
    const [method, members] = sends.split(/ (.*)/) as [string, string?];
    (app as unknown as Json)[name] = async (
      params?: Json,
      options?: RequestOptions,
    ) => {
      objectOf(params, name, members);
      return await (method.includes("notifications/")
        ? app.notification({ method, params: params ?? {} })
        : app.request({ method, params }, options));
    };
  }
  for (const [name, , method = name] of HANDLERS)
    Object.defineProperty(app, `on${name}`, {
      get: () => get(method),
      set: (handler) => set(method, handler),
    });
}
