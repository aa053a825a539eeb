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
import {
  listTool,
  runTool,
  type RegisteredAppTool,
  type RequestExtra,
} from "./tools.js";
import { TransomError } from "./error.js";
import { PostMessageTransport, type Transport } from "./transport.js";
import { openEvents } from "./events.js";
import { openCalls, type RequestOptions } from "./calls.js";
import { watchSize } from "./resize.js";
import type { App, AppOptions } from "./view.js";
import {
  LATEST_PROTOCOL_VERSION,
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
  type Progress,
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
  capabilities: AppCapabilities,
  { autoResize = true }: AppOptions,
): void {
  let transport: (Transport & Partial<PostMessageTransport>) | undefined;
  let ready: Promise<InitializeResult> | undefined;
  let host: Partial<InitializeResult> = {};
  let unwatch: (() => void) | undefined;
  /** What stands before the server's own names, as far as we have learnt it. */
  let prefix = "";
  /** The Host's requests that we have not answered yet. */
  const answering = new Map<unknown, AbortController>();

  const failed = (error: unknown) =>
    (app.onerror ?? reportError)(error as Error);
  const send = async (message: Unsigned<Message>) => {
    if (!transport) throw new TransomError("NotConnected");
    (message as Message).jsonrpc = "2.0";
    await transport.send(message as Message);
  };
  const { call, tell, end } = openCalls(send);
  const { emit, get, set, drop } = openEvents(failed);
  const tools = new Map<string, RegisteredAppTool>();
  const request = async <T = Json>(
    { method, params }: Plain,
    options?: RequestOptions,
  ): Promise<T> => {
    await ready;
    // Not the promise itself: to adopt one takes longer than to wait for it.
    return (await call(method, params, options)) as T;
  };
  const notification = async ({ method, params }: Plain) => {
    await ready;
    return send({ method, ...(params && { params }) });
  };

  const serveTools = () => {
    app.oncalltool ??= ({ name, arguments: args }, extra) => {
      const tool = tools.get(name);
      if (!tool?.enabled) throw new TransomError(-32602, `${name} not found`);
      return tool.handler(args, extra);
    };
    app.onlisttools ??= () => ({
      tools: [...tools].flatMap(([name, tool]) =>
        tool.enabled ? listTool(name, tool) : [],
      ),
    });
  };

  const open = async (given?: Transport, options?: RequestOptions) => {
    if (!given && parent === self) throw new TransomError("NoHost");
    // Who declares tools answers for them, also while there are none (V-17).
    if (capabilities.tools) serveTools();
    const lane: typeof transport = (transport =
      given ?? new PostMessageTransport());
    lane.onmessage = (message) => {
      // A transport that we have left may still have something to say.
      if (transport !== lane) return;
      if (!("method" in message))
        tell(message.id, message.error, message.result);
      else if ("id" in message) void answer(message);
      else hear(message);
    };
    lane.onclose = close;
    await lane.start();
    if (transport !== lane) throw new TransomError("Closed");
    host = {
      hostCapabilities: {},
      hostContext: {},
      ...(await call(
        "ui/initialize",
        {
          appInfo,
          appCapabilities: {
            ...capabilities,
            experimental: {
              ...capabilities.experimental,
              ...lane.offer,
            },
          },
          protocolVersion: LATEST_PROTOCOL_VERSION,
        },
        options,
      ).catch((error) => {
        // Only what this attempt opened is closed: another one may have begun since.
        if (transport === lane) void close();
        throw error;
      })),
    };
    await send({ method: "ui/notifications/initialized" });
    if (autoResize) unwatch = app.setupSizeChangedNotifications();
    return host as InitializeResult;
  };
  const close = async () => {
    const lane = transport;
    transport = ready = undefined;
    unwatch?.();
    end();
    answering.forEach((controller) => controller.abort());
    if (!lane) return;
    await lane.close();
    app.onclose?.();
  };

  const hear = ({ method, params = {} }: Notification) => {
    const event = eventOf(method);
    if (event === "hostcontextchanged")
      host.hostContext = { ...host.hostContext, ...params };
    if (method === "notifications/progress")
      tell(params.progressToken, null, null, params as Progress);
    if (method === "notifications/cancelled")
      answering.get(params.requestId)?.abort();
    // A result without content is an empty one (V-29).
    emit(event, event === "toolresult" ? { content: [], ...params } : params);
  };
  const answer = async ({ id, method, params = {} }: Request) => {
    const controller = new AbortController();
    const { signal } = controller;
    let answer: { result: Json } | { error: ErrorObject };
    answering.set(id, controller);
    try {
      const handler = get(eventOf(method)) as Handler | undefined;
      if (!handler) throw new TransomError(-32601, `${method} not found`);
      const extra = { signal };
      // A handler that returns nothing still answers with an object (V-23).
      answer = {
        result: ((await handler(params as never, extra)) ?? {}) as Json,
      };
    } catch (thrown) {
      const { code, message = `${thrown}` } = Object(thrown) as ErrorObject;
      answer = {
        error: { code: Number.isInteger(code) ? code : -32603, message },
      };
    }
    answering.delete(id);
    // Whoever cancels a request wants no answer to it.
    if (!signal.aborted) send({ id, ...answer }).catch(failed);
  };

  /** What ext-apps has for any method: its handlers take the whole message. */
  const handle = (
    method: string,
    handler: (
      message: { method: string; params: Json },
      extra: RequestExtra,
    ) => unknown,
  ) =>
    set(eventOf(method), (params: Json, extra: RequestExtra) =>
      handler({ method, params }, extra),
    );

  const methods: Partial<App> = {
    connect: (given, options) => (ready ??= open(given, options)),
    close,
    request,
    notification,
    getHostContext: () => host.hostContext,
    getHostCapabilities: () => host.hostCapabilities,
    getHostVersion: () => host.hostInfo,
    addEventListener: (event: string, handler: Handler) =>
      set(event, handler, handler as never),
    removeEventListener: drop,
    setRequestHandler: handle,
    async callServerTool(params: CallToolParams, options?: RequestOptions) {
      const { name } = params;
      const attempt = async () => ({
        content: [],
        ...(await request<Partial<CallToolResult>>(
          {
            method: "tools/call",
            params: {
              ...params,
              name: name.startsWith(prefix) ? name : prefix + name,
            },
          },
          { onprogress() {}, ...options },
        )),
      });
      try {
        return await attempt();
      } catch (error) {
        // The Host names the tool that it does not know, if it knows any by that ending.
        const { tools = [] }: Partial<ListToolsResult> =
          /unknown|not found/i.test((error as Error).message)
            ? await request({ method: "tools/list" }).catch(() => ({}))
            : {};
        const [found, ...others] = tools.filter((tool) =>
          tool.name.endsWith(name),
        );
        if (!found || others.length) throw error;
        prefix = found.name.slice(0, -name.length);
        return attempt();
      }
    },

    setupSizeChangedNotifications: (element) =>
      watchSize(
        (size) => void app.sendSizeChanged(size).catch(() => {}),
        element,
      ),

    registerTool(name, config, callback) {
      if (!ready)
        capabilities = { tools: { listChanged: true }, ...capabilities };
      serveTools();
      const update = (updates?: object) => {
        Object.assign(tool, updates);
        // Before the handshake there is no list that could have changed.
        if (ready && capabilities.tools?.listChanged)
          app.sendToolListChanged().catch(() => {});
      };
      const tool: RegisteredAppTool = {
        ...config,
        enabled: true,
        update,
        enable: () => update({ enabled: true }),
        disable: () => update({ enabled: false }),
        remove() {
          tools.delete(name);
          update();
        },
        handler: (args, extra) => runTool(tool, callback as never, args, extra),
      } as RegisteredAppTool;
      tools.set(name, tool);
      update();
      return tool;
    },
  };
  Object.assign(app, methods);
  set("ping", () => {});
  for (const [name, method] of Object.entries(SENDS))
    (app as unknown as Json)[name] = (
      params?: Json,
      options?: RequestOptions,
    ) =>
      method.includes("notifications/")
        ? notification({ method, params: params ?? {} })
        : request({ method, params }, options);
  for (const [name, , method = name] of HANDLERS)
    Object.defineProperty(app, `on${name}`, {
      get: () => get(method),
      set: (handler) => set(method, handler),
    });
}

/** Earlier drafts lacked "notifications/", or the "d" of "changed" (docs/reference/mcp-apps.md §4.2). */
function eventOf(method: string): string {
  return method
    .replace(/^ui\/(notifications\/)?|-/g, "")
    .replace(/change$/, "changed");
}
