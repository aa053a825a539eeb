/**
 * The engine behind both faces: the View's end of one session.
 *
 * ```text
 * new ──connect──▶ asking ──answered──▶ open ──close──▶ closed ──connect──▶ …
 *                    └──refused, silence, no host──▶ closed
 * ```
 *
 * Requests made while asking wait for the handshake; `ui/notifications/initialized` always goes first.
 * Written as one closure over its state, and the methods that only ask, tell or hear as tables: a
 * View carries every byte of this into its HTML.
 */
import { openCalls, type RequestOptions } from "./calls.js";
import { TransomError } from "./error.js";
import { openEvents } from "./events.js";
import { watchSize } from "./resize.js";
import { openTools, type RequestExtra } from "./tools.js";
import { PostMessageTransport, type Transport } from "./transport.js";
import type { App, AppOptions } from "./view.js";
import {
  LATEST_PROTOCOL_VERSION,
  PORT_CAPABILITY,
  type AppCapabilities,
  type CallToolParams,
  type CallToolResult,
  type ErrorObject,
  type Implementation,
  type InitializeResult,
  type Json,
  type ListToolsResult,
  type Message,
  type Notification,
  type Request,
  type Unsigned,
} from "./wire.js";

type Handler = (params: never, extra: RequestExtra) => unknown;
type Plain = { method: string; params?: Json | undefined };

/** Methods that only ask or tell. */
const SENDS = {
  readServerResource: "resources/read",
  listServerResources: "resources/list",
  createSamplingMessage: "sampling/createMessage",
  sendMessage: "ui/message",
  updateModelContext: "ui/update-model-context",
  openLink: "ui/open-link",
  sendOpenLink: "ui/open-link",
  downloadFile: "ui/download-file",
  requestDisplayMode: "ui/request-display-mode",
  sendLog: "notifications/message",
  sendSizeChanged: "ui/notifications/size-changed",
  requestTeardown: "ui/notifications/request-teardown",
  sendToolListChanged: "notifications/tools/list_changed",
};

/** What an `on…` property handles: an event of that name, or a request. */
const HANDLERS = {
  toolinput: "",
  toolinputpartial: "",
  toolresult: "",
  toolcancelled: "",
  hostcontextchanged: "",
  teardown: "ui/resource-teardown",
  calltool: "tools/call",
  listtools: "tools/list",
};

/** Gives an `App` its methods, and a session for them to work on. */
export function openSession(
  app: App,
  appInfo: Implementation,
  capabilities: AppCapabilities,
  { autoResize = true, toolName }: AppOptions,
): void {
  let transport: (Transport & Partial<PostMessageTransport>) | undefined;
  let ready: Promise<InitializeResult> | undefined;
  let host: InitializeResult | undefined;
  let unwatch: (() => void) | undefined;
  /** What stands before the server's own names, as far as we have learnt it. */
  let prefix = "";
  /** The Host's requests that we have not answered yet. */
  const answering = new Map<unknown, AbortController>();

  const failed = (error: unknown) => (app.onerror ?? globalThis.reportError)?.(error as Error);
  const send = async (message: Unsigned<Message>) => {
    if (!transport) throw new TransomError("NotConnected", "not connected");
    return transport.send({ jsonrpc: "2.0", ...message } as Message);
  };
  const { call, settle, progress, end } = openCalls(send);
  const { emit, get, set, drop } = openEvents(failed);
  const tools = openTools(() => {
    // Before the handshake there is no list that could have changed.
    if (host && capabilities.tools?.listChanged) app.sendToolListChanged().catch(() => {});
  });

  const request = async <T = Json>({ method, params }: Plain, ...options: unknown[]): Promise<T> => {
    await ready;
    return call(method, params, options.at(-1) as RequestOptions) as Promise<T>;
  };
  const notification = async ({ method, params }: Plain) => {
    await ready;
    return send({ method, ...(params && { params }) });
  };

  const open = async (given?: Transport, options?: RequestOptions) => {
    if (!given && parent === window)
      throw new TransomError("NoHost", "not inside an MCP Apps host");
    const lane: typeof transport = (transport = given ?? new PostMessageTransport());
    lane.onmessage = (message) => {
      // A transport that we have left may still have something to say.
      if (transport !== lane) return;
      if (!("method" in message)) settle(message);
      else if ("id" in message) void answer(message);
      else hear(message);
    };
    lane.onclose = close;
    await lane.start();
    host = {
      hostCapabilities: {},
      hostContext: {},
      ...(await call(
        "ui/initialize",
        {
          appInfo,
          appCapabilities: {
            ...capabilities,
            ...(lane.upgrade && {
              experimental: { ...capabilities.experimental, [PORT_CAPABILITY]: {} },
            }),
          },
          protocolVersion: LATEST_PROTOCOL_VERSION,
        },
        options,
      )),
    } as InitializeResult;
    lane.upgrade?.(!!host.hostCapabilities.experimental?.[PORT_CAPABILITY]);
    const opened = host.hostContext.toolInfo?.tool?.name ?? "";
    if (toolName && opened.endsWith(toolName)) prefix = opened.slice(0, -toolName.length);
    await send({ method: "ui/notifications/initialized" });
    if (autoResize) unwatch = app.setupSizeChangedNotifications();
    return host;
  };
  const close = async () => {
    const lane = transport;
    transport = ready = undefined;
    unwatch?.();
    end();
    for (const controller of answering.values()) controller.abort();
    if (!lane) return;
    lane.onclose = undefined;
    await lane.close();
    app.onclose?.();
  };

  const hear = (notification: Notification) => {
    const { method, params = {} } = notification;
    // Names of earlier drafts differ by a missing "notifications/" or a missing "d" (reference §4.2).
    let event = method.replace(/^ui\/(notifications\/)?|-/g, "");
    if (event.startsWith("hostcontextchange")) {
      event = "hostcontextchanged";
      if (host) host.hostContext = { ...host.hostContext, ...params };
    }
    if (method === "notifications/progress") progress(params);
    if (method === "notifications/cancelled") answering.get(params.requestId)?.abort();
    // A result without content is an empty one (V-29).
    emit(event, event === "toolresult" ? { content: [], ...params } : params);
    emit(method, notification);
  };
  const answer = async ({ id, method, params = {} }: Request) => {
    const controller = new AbortController();
    const { signal } = controller;
    let answer: { result: Json } | { error: ErrorObject };
    answering.set(id, controller);
    try {
      const handler = (method === "ping" ? () => {} : get(method, ON)) as Handler | undefined;
      if (!handler) throw new TransomError(-32601, "Method not found");
      const extra = { signal, requestId: id, mcpReq: { id, method, signal } };
      // A handler that returns nothing still answers with an object (V-23).
      answer = { result: ((await handler(params as never, extra)) ?? {}) as Json };
    } catch (thrown) {
      const { code, message = `${thrown}`, data } = thrown as ErrorObject;
      answer = {
        error: {
          code: Number.isInteger(code) ? code : -32603,
          message,
          ...(data ? { data } : {}),
        },
      };
    }
    answering.delete(id);
    // Whoever cancels a request wants no answer to it.
    if (!signal.aborted) send({ id, ...answer }).catch(failed);
  };

  const methods: Partial<App> = {
    connect(given, options) {
      if (!ready) {
        const attempt = (ready = open(given, options));
        // Only what this attempt opened is closed: another one may have begun since.
        attempt.catch(() => (ready === attempt ? close() : undefined));
      }
      return ready;
    },
    close,
    request,
    notification,
    getHostContext: () => host?.hostContext,
    getHostCapabilities: () => host?.hostCapabilities,
    getHostVersion: () => host?.hostInfo,
    addEventListener: (event, handler) => set(event, handler, handler),
    removeEventListener: drop,
    setRequestHandler: (method, handler) =>
      set(method, ON, (params: Json, extra: RequestExtra) => handler({ method, params }, extra)),
    setNotificationHandler: (method, handler) => set(method, handler, handler),

    async callServerTool(params: CallToolParams, options?: RequestOptions) {
      const { name } = params;
      const attempt = async (): Promise<CallToolResult> => ({
        content: [],
        ...(await request(
          {
            method: "tools/call",
            params: { ...params, name: name.startsWith(prefix) ? name : prefix + name },
          },
          { onprogress() {}, ...options },
        )),
      });
      const first = attempt();
      // Hosts say it as an error, servers of the first SDK as a result.
      const complaint = await first.then(
        ({ isError, content }) => (isError ? JSON.stringify(content) : ""),
        ({ message }: Error) => message,
      );
      if (!/unknown|not found/i.test(complaint) || !complaint.includes(name)) return first;
      const { tools } = await request<ListToolsResult>({ method: "tools/list" }).catch(() => ({
        tools: [],
      }));
      const [found, ...others] = tools.filter((tool) => tool.name.endsWith(name));
      if (!found || others.length || found.name === name) return first;
      prefix = found.name.slice(0, -name.length);
      return attempt();
    },

    setupSizeChangedNotifications: () =>
      watchSize((size) => void app.sendSizeChanged(size).catch(() => {})),

    registerTool(name, config, callback) {
      if (!ready) capabilities = { tools: { listChanged: true }, ...capabilities };
      app.oncalltool ??= tools.call;
      app.onlisttools ??= () => ({ tools: tools.list() });
      return tools.add(name, config as never, callback as never);
    },
  };
  Object.assign(app, methods);
  for (const [name, method] of Object.entries(SENDS))
    Object.assign(app, {
      [name]: (params: Json | undefined, options: RequestOptions) =>
        method.includes("notifications/")
          ? notification({ method, params: params ?? {} })
          : request({ method, params }, options),
    });
  for (const [name, method] of Object.entries(HANDLERS))
    Object.defineProperty(app, `on${name}`, {
      get: () => get(method || name, ON),
      set: (handler) => set(method || name, ON, handler),
    });
}

/** Keys the one handler behind an `on…` property. */
const ON = "on";
