/**
 * The View's client: one engine, two faces. `App` has the names of ext-apps' class, `McpApp` those of
 * the smaller one that takes names and arguments.
 *
 * ```text
 * new ──connect──▶ asking ──answered──▶ open ──close──▶ closed ──connect──▶ …
 *                    └──refused, silence, no host──▶ closed
 * ```
 *
 * Requests made while asking wait for the handshake; `ui/notifications/initialized` always goes first.
 */
import { openCalls, type RequestOptions } from "./calls.js";
import { TransomError } from "./error.js";
import { openEvents, type AppEventMap } from "./events.js";
import { watchSize } from "./resize.js";
import {
  openTools,
  type AppToolCallback,
  type AppToolConfig,
  type RegisteredAppTool,
  type RequestExtra,
  type ToolSchema,
} from "./tools.js";
import { PostMessageTransport, type Transport } from "./transport.js";
import {
  LATEST_PROTOCOL_VERSION,
  PORT_CAPABILITY,
  type AppCapabilities,
  type CallToolParams,
  type CallToolResult,
  type ContentBlock,
  type CreateMessageParams,
  type CreateMessageResult,
  type DisplayMode,
  type EmbeddedResource,
  type ErrorObject,
  type HostCapabilities,
  type HostContext,
  type Implementation,
  type InitializeResult,
  type Json,
  type ListParams,
  type ListResourcesResult,
  type ListToolsResult,
  type LogParams,
  type Message,
  type MessageParams,
  type ModelContextParams,
  type Notification,
  type Outcome,
  type ReadResourceParams,
  type ReadResourceResult,
  type Request,
  type ResourceLink,
  type SizeParams,
  type Unsigned,
} from "./wire.js";

/** How an `App` behaves. */
export type AppOptions = {
  /** Report the content's size whenever it changes. True unless told. */
  autoResize?: boolean;
  /** The name under which the server knows the tool that opens this View; see `callServerTool`. */
  toolName?: string;
  /** Accepted for ext-apps' sake; early calls wait for the handshake instead of throwing. */
  strict?: boolean;
  /** Accepted for ext-apps' sake; nothing here evaluates code. */
  allowUnsafeEval?: boolean;
};

type Maybe<T> = T | undefined;
type On<K extends keyof AppEventMap> = Maybe<(params: AppEventMap[K]) => void>;
type Answering<P, R> = Maybe<(params: P, extra: RequestExtra) => R | Promise<R>>;
type Lane = Transport & Partial<PostMessageTransport>;
type Ask<P, R> = (params: P, options?: RequestOptions) => Promise<R>;
type Handler = (params: never, extra: RequestExtra) => unknown;

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

/** The View's end of one session. */
export class App {
  /** Called once when the channel has closed. */
  declare onclose?: Maybe<() => void>;
  /** Hears what handlers threw; without it the browser reports them as uncaught. */
  declare onerror?: Maybe<(error: Error) => void>;

  readonly #info: Implementation;
  readonly #options: AppOptions;
  #capabilities: AppCapabilities;
  #transport: Maybe<Lane>;
  #ready: Maybe<Promise<InitializeResult>>;
  #host: Maybe<InitializeResult>;
  #unwatch: Maybe<() => void>;
  readonly #calls = openCalls((message) => this.#send(message));
  readonly #events = openEvents((error) => this.#failed(error));
  readonly #answering = new Map<unknown, AbortController>();
  /** What stands before the server's own names, as far as we have learnt it. */
  #prefix = "";
  readonly #tools = openTools(() => {
    // Before the handshake there is no list that could have changed.
    if (this.#host && this.#capabilities.tools?.listChanged)
      this.sendToolListChanged().catch(() => {});
  });

  constructor(
    appInfo: Implementation,
    capabilities: AppCapabilities = {},
    options: AppOptions = {},
  ) {
    this.#info = appInfo;
    this.#capabilities = capabilities;
    this.#options = options;
  }

  /** Shakes hands with the Host. One promise, however often it is called. */
  connect(transport?: Transport, options?: RequestOptions): Promise<InitializeResult> {
    if (!this.#ready) {
      const ready = (this.#ready = this.#open(transport, options));
      // Only what this attempt opened is closed: another one may have begun since.
      ready.catch(() => (this.#ready === ready ? this.close() : undefined));
    }
    return this.#ready;
  }

  /** Closes the channel and fails everything that still waits. */
  async close(): Promise<void> {
    const transport = this.#transport;
    this.#transport = this.#ready = undefined;
    this.#unwatch?.();
    this.#calls.close();
    for (const controller of this.#answering.values()) controller.abort();
    if (!transport) return;
    transport.onclose = undefined;
    await transport.close();
    this.onclose?.();
  }

  getHostContext(): Maybe<HostContext> {
    return this.#host?.hostContext;
  }

  getHostCapabilities(): Maybe<HostCapabilities> {
    return this.#host?.hostCapabilities;
  }

  getHostVersion(): Maybe<Implementation> {
    return this.#host?.hostInfo;
  }

  addEventListener<K extends keyof AppEventMap>(
    event: K,
    handler: (params: AppEventMap[K]) => void,
  ): void {
    this.#events.put(event, handler, handler);
  }

  removeEventListener<K extends keyof AppEventMap>(
    event: K,
    handler: (params: AppEventMap[K]) => void,
  ): void {
    this.#events.drop(event, handler);
  }

  /**
   * Calls a tool of the server that this View belongs to.
   *
   * A gateway may have put a prefix before the server's names. It is learnt from the tool that opened
   * the View when the option `toolName` says how the server calls that tool; otherwise, when the Host
   * does not know a name, from the only one in its list of tools that ends in it.
   */
  async callServerTool(
    params: CallToolParams,
    options?: RequestOptions,
  ): Promise<CallToolResult> {
    const { name } = params;
    const call = async () => ({
      ...EMPTY,
      ...(await this.request<CallToolResult>(
        {
          method: "tools/call",
          params: { ...params, name: name.startsWith(this.#prefix) ? name : this.#prefix + name },
        },
        { onprogress() {}, ...options },
      )),
    });
    const first = call();
    // Hosts say it as an error, servers of the first SDK as a result.
    const complaint = await first.then(
      ({ isError, content }) => (isError ? JSON.stringify(content) : ""),
      ({ message }: Error) => message,
    );
    if (!/unknown|not found/i.test(complaint) || !complaint.includes(name)) return first;
    const { tools } = await this.request<ListToolsResult>({ method: "tools/list" }).catch(
      () => ({ tools: [] }),
    );
    const [found, ...others] = tools.filter((tool) => tool.name.endsWith(name));
    if (!found || others.length || found.name === name) return first;
    this.#prefix = found.name.slice(0, -name.length);
    return call();
  }

  /** Reports the content's size whenever it changes, until the returned function is called. */
  setupSizeChangedNotifications(): () => void {
    return watchSize((size) => void this.sendSizeChanged(size).catch(() => {}));
  }

  /** Offers a tool to the Host for as long as the View lives. */
  registerTool<
    Out extends ToolSchema | undefined = undefined,
    In extends ToolSchema | undefined = undefined,
  >(
    name: string,
    config: AppToolConfig<In, Out>,
    callback: AppToolCallback<In>,
  ): RegisteredAppTool {
    if (!this.#ready) this.#capabilities = { tools: { listChanged: true }, ...this.#capabilities };
    this.oncalltool ??= this.#tools.call;
    this.onlisttools ??= () => ({ tools: this.#tools.list() });
    return this.#tools.add(name, config as never, callback as never);
  }

  /** Sends any request: at once when the handshake is over, after it when it is under way. */
  async request<T = Json>(
    { method, params }: { method: string; params?: Json | undefined },
    ...options: unknown[]
  ): Promise<T> {
    await this.#ready;
    return this.#calls.call(method, params, options.at(-1) as RequestOptions) as Promise<T>;
  }

  /** Sends any notification. */
  async notification({ method, params }: { method: string; params?: Json }): Promise<void> {
    await this.#ready;
    return this.#send({ method, ...(params && { params }) });
  }

  /** Answers requests of a method that the library does not know. */
  setRequestHandler(
    method: string,
    handler: (request: { method: string; params: Json }, extra: RequestExtra) => unknown,
  ): void {
    this.#events.put(method, ON, (params, extra) => handler({ method, params }, extra));
  }

  /** Hears notifications of a method that the library does not know. */
  setNotificationHandler(method: string, handler: (notification: Notification) => void): void {
    this.#events.put(method, handler, handler);
  }

  async #open(
    transport: Maybe<Transport>,
    options: Maybe<RequestOptions>,
  ): Promise<InitializeResult> {
    if (!transport && window.parent === window)
      throw new TransomError("NoHost", "not inside an MCP Apps host");
    const lane: Lane = transport ?? new PostMessageTransport();
    this.#transport = lane;
    lane.onmessage = (message) => {
      if (this.#transport === lane) this.#receive(message);
    };
    lane.onclose = () => void this.close();
    await lane.start();
    const { experimental } = this.#capabilities;
    const result = await this.#calls.call(
      "ui/initialize",
      {
        appInfo: this.#info,
        appCapabilities: {
          ...this.#capabilities,
          ...(lane.upgrade && { experimental: { ...experimental, [PORT_CAPABILITY]: {} } }),
        },
        protocolVersion: LATEST_PROTOCOL_VERSION,
      },
      options,
    );
    const host = { hostCapabilities: {}, hostContext: {}, ...result } as InitializeResult;
    lane.upgrade?.(!!host.hostCapabilities?.experimental?.[PORT_CAPABILITY]);
    this.#host = host;
    const { toolName = "" } = this.#options;
    const opened = `${host.hostContext?.toolInfo?.tool?.name ?? ""}`;
    if (toolName && opened.endsWith(toolName)) this.#prefix = opened.slice(0, -toolName.length);
    await this.#send({ method: "ui/notifications/initialized" });
    if (this.#options.autoResize !== false) this.#unwatch = this.setupSizeChangedNotifications();
    return host;
  }

  async #send(message: Unsigned<Message>): Promise<void> {
    if (!this.#transport) throw new TransomError("NotConnected", "not connected");
    return this.#transport.send({ jsonrpc: "2.0", ...message } as Message);
  }

  #failed(error: unknown): void {
    (this.onerror ?? globalThis.reportError)?.(error as Error);
  }

  #receive(message: Message): void {
    if (!("method" in message)) this.#calls.settle(message);
    else if ("id" in message) void this.#answer(message);
    else this.#hear(message);
  }

  #hear(notification: Notification): void {
    const { method, params = {} } = notification;
    // Names of earlier drafts differ by a missing "notifications/" or a missing "d" (reference §4.2).
    let event = method.replace(/^ui\/(notifications\/)?|-/g, "");
    if (event.startsWith("hostcontextchange")) {
      event = "hostcontextchanged";
      if (this.#host) this.#host.hostContext = { ...this.#host.hostContext, ...params };
    }
    if (method === "notifications/progress") this.#calls.progress(params);
    if (method === "notifications/cancelled") this.#answering.get(params.requestId)?.abort();
    this.#events.emit(event, event === "toolresult" ? { ...EMPTY, ...params } : params);
    this.#events.emit(method, notification);
  }

  async #answer({ id, method, params = {} }: Request): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#answering.set(id, controller);
    let answer: { result: Json } | { error: ErrorObject };
    try {
      const handler: Maybe<Handler> =
        method === "ping" ? () => {} : (this.#events.get(method, ON) as Maybe<Handler>);
      if (!handler) throw new TransomError(-32601, "Method not found");
      const extra = { signal, requestId: id, mcpReq: { id, method, signal } };
      // A handler that returns nothing still answers with an object (V-23).
      answer = { result: ((await handler(params as never, extra)) ?? {}) as Json };
    } catch (thrown) {
      const { code, message, data } = thrown as ErrorObject;
      answer = {
        error: {
          code: Number.isInteger(code) ? code : -32603,
          message: message ?? `${thrown}`,
          ...(data ? { data } : {}),
        },
      };
    }
    this.#answering.delete(id);
    // Whoever cancels a request wants no answer to it.
    if (!signal.aborted) this.#send({ id, ...answer }).catch((error) => this.#failed(error));
  }

  static {
    const app = this.prototype as unknown as Record<string, unknown>;
    for (const [name, method] of Object.entries(SENDS))
      app[name] = function (this: App, params?: Json, options?: RequestOptions) {
        return method.includes("notifications/")
          ? this.notification({ method, params: params ?? {} })
          : this.request({ method, params }, options);
      };
    for (const [name, method] of Object.entries(HANDLERS))
      Object.defineProperty(app, `on${name}`, {
        get(this: App) {
          return this.#events.get(method || name, ON);
        },
        set(this: App, handler) {
          this.#events.put(method || name, ON, handler);
        },
      });
  }
}

/** The methods that do nothing but ask, tell or hear: see the tables. */
export interface App {
  ontoolinput: On<"toolinput">;
  ontoolinputpartial: On<"toolinputpartial">;
  ontoolresult: On<"toolresult">;
  ontoolcancelled: On<"toolcancelled">;
  onhostcontextchanged: On<"hostcontextchanged">;
  onteardown: Answering<{ reason?: string }, Json | void>;
  oncalltool: Answering<CallToolParams, CallToolResult>;
  onlisttools: Answering<Maybe<ListParams>, ListToolsResult>;
  readServerResource: Ask<ReadResourceParams, ReadResourceResult>;
  listServerResources: Ask<Maybe<ListParams> | void, ListResourcesResult>;
  createSamplingMessage: Ask<CreateMessageParams, CreateMessageResult>;
  sendMessage: Ask<MessageParams, Outcome>;
  updateModelContext: Ask<ModelContextParams, { _meta?: Json }>;
  openLink: Ask<{ url: string }, Outcome>;
  /** The old name of `openLink`. */
  sendOpenLink: Ask<{ url: string }, Outcome>;
  downloadFile: Ask<{ contents: (EmbeddedResource | ResourceLink)[] }, Outcome>;
  requestDisplayMode: Ask<{ mode: DisplayMode }, { mode: DisplayMode; [key: string]: unknown }>;
  sendLog(params: LogParams): Promise<void>;
  sendSizeChanged(params: SizeParams): Promise<void>;
  requestTeardown(params?: Json): Promise<void>;
  sendToolListChanged(params?: Json): Promise<void>;
}

/** A result without `content` is an empty one (V-29). */
const EMPTY = { content: [] as ContentBlock[] };

/** Keys the one handler behind an `on…` property. */
const ON = "on";
