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
import { Calls, type RequestOptions } from "./calls.js";
import { TransomError } from "./error.js";
import { Events, type AppEventMap } from "./events.js";
import { watchSize } from "./resize.js";
import {
  list,
  register,
  type AppToolCallback,
  type AppToolConfig,
  type RegisteredAppTool,
  type Registry,
  type RequestExtra,
  type ToolSchema,
} from "./tools.js";
import { PostMessageTransport, type Transport } from "./transport.js";
import {
  isObject,
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
type RequestHandler = (request: Request, extra: RequestExtra) => unknown;
type NotificationHandler = (notification: Notification) => void;

/** The View's end of one session. */
export class App {
  /** Called once when the channel has closed. */
  onclose?: Maybe<() => void>;
  /** Hears what handlers threw; without it the browser reports them as uncaught. */
  onerror?: Maybe<(error: Error) => void>;
  onteardown: Answering<{ reason?: string }, Json | void>;
  oncalltool: Answering<CallToolParams, CallToolResult>;
  onlisttools: Answering<Maybe<ListParams>, ListToolsResult>;

  readonly #info: Implementation;
  readonly #options: AppOptions;
  #capabilities: AppCapabilities;
  #transport: Maybe<Transport>;
  #ready: Maybe<Promise<InitializeResult>>;
  #host: Maybe<InitializeResult>;
  #unwatch: Maybe<() => void>;
  readonly #calls = new Calls((message) => this.#send(message));
  readonly #events = new Events((error) => this.#failed(error));
  readonly #requests = new Map<string, RequestHandler>();
  readonly #notifications = new Map<string, NotificationHandler>();
  readonly #answering = new Map<unknown, AbortController>();
  readonly #tools: Registry = new Map();
  readonly #names = new Map<string, string>();

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
    this.#answering.clear();
    if (!transport) return;
    transport.onmessage = transport.onclose = undefined;
    await transport.close();
    this.onclose?.();
  }

  get transport(): Maybe<Transport> {
    return this.#transport;
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
    this.#events.add(event, handler);
  }

  removeEventListener<K extends keyof AppEventMap>(
    event: K,
    handler: (params: AppEventMap[K]) => void,
  ): void {
    this.#events.remove(event, handler);
  }

  get ontoolinput(): On<"toolinput"> {
    return this.#events.get("toolinput");
  }
  set ontoolinput(handler: On<"toolinput">) {
    this.#events.set("toolinput", handler);
  }

  get ontoolinputpartial(): On<"toolinputpartial"> {
    return this.#events.get("toolinputpartial");
  }
  set ontoolinputpartial(handler: On<"toolinputpartial">) {
    this.#events.set("toolinputpartial", handler);
  }

  get ontoolresult(): On<"toolresult"> {
    return this.#events.get("toolresult");
  }
  set ontoolresult(handler: On<"toolresult">) {
    this.#events.set("toolresult", handler);
  }

  get ontoolcancelled(): On<"toolcancelled"> {
    return this.#events.get("toolcancelled");
  }
  set ontoolcancelled(handler: On<"toolcancelled">) {
    this.#events.set("toolcancelled", handler);
  }

  get onhostcontextchanged(): On<"hostcontextchanged"> {
    return this.#events.get("hostcontextchanged");
  }
  set onhostcontextchanged(handler: On<"hostcontextchanged">) {
    this.#events.set("hostcontextchanged", handler);
  }

  /**
   * Calls a tool of the server that this View belongs to.
   *
   * A gateway may have put a prefix before the server's names. It is learnt from the tool that opened
   * the View when the option `toolName` says how the server calls that tool; otherwise, when the Host
   * does not know the name, its list of tools is searched once for the only one that ends in it.
   */
  async callServerTool(
    params: CallToolParams,
    options?: RequestOptions,
  ): Promise<CallToolResult> {
    const { name } = params;
    const call = (): Promise<CallToolResult> =>
      this.#ask(
        "tools/call",
        { ...params, name: this.#names.get(name) ?? this.#prefix() + name },
        { onprogress: () => {}, resetTimeoutOnProgress: true, ...options },
      );
    try {
      const result = { ...EMPTY, ...(await call()) };
      if (!result.isError || !isUnknown(textOf(result), name)) return result;
      return (await this.#resolve(name)) ? await call() : result;
    } catch (error) {
      const { message } = error as Error;
      if (isUnknown(message, name) && (await this.#resolve(name))) return call();
      throw error;
    }
  }

  readServerResource(
    params: ReadResourceParams,
    options?: RequestOptions,
  ): Promise<ReadResourceResult> {
    return this.#ask("resources/read", params, options);
  }

  listServerResources(
    params?: ListParams,
    options?: RequestOptions,
  ): Promise<ListResourcesResult> {
    return this.#ask("resources/list", params, options);
  }

  createSamplingMessage(
    params: CreateMessageParams,
    options?: RequestOptions,
  ): Promise<CreateMessageResult> {
    return this.#ask("sampling/createMessage", params, options);
  }

  sendMessage(params: MessageParams, options?: RequestOptions): Promise<Outcome> {
    return this.#ask("ui/message", params, options);
  }

  updateModelContext(
    params: ModelContextParams,
    options?: RequestOptions,
  ): Promise<{ _meta?: Json }> {
    return this.#ask("ui/update-model-context", params, options);
  }

  openLink(params: { url: string }, options?: RequestOptions): Promise<Outcome> {
    return this.#ask("ui/open-link", params, options);
  }

  /** The old name of `openLink`. */
  sendOpenLink(params: { url: string }, options?: RequestOptions): Promise<Outcome> {
    return this.openLink(params, options);
  }

  downloadFile(
    params: { contents: (EmbeddedResource | ResourceLink)[] },
    options?: RequestOptions,
  ): Promise<Outcome> {
    return this.#ask("ui/download-file", params, options);
  }

  requestDisplayMode(
    params: { mode: DisplayMode },
    options?: RequestOptions,
  ): Promise<{ mode: DisplayMode; [key: string]: unknown }> {
    return this.#ask("ui/request-display-mode", params, options);
  }

  sendLog(params: LogParams): Promise<void> {
    return this.#tell("notifications/message", params);
  }

  sendSizeChanged(params: SizeParams): Promise<void> {
    return this.#tell("ui/notifications/size-changed", params);
  }

  requestTeardown(params: Json = {}): Promise<void> {
    return this.#tell("ui/notifications/request-teardown", params);
  }

  sendToolListChanged(params: Json = {}): Promise<void> {
    return this.#tell("notifications/tools/list_changed", params);
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
    this.oncalltool ??= ({ name, arguments: args }, extra) => {
      const tool = this.#tools.get(name);
      if (!tool) throw new Error(`Tool ${name} not found`);
      return tool.handler(args, extra);
    };
    this.onlisttools ??= () => ({ tools: list(this.#tools) });
    return register(
      this.#tools,
      name,
      config as AppToolConfig<ToolSchema, ToolSchema>,
      callback,
      () => {
        // Before the handshake there is no list that could have changed.
        if (this.#host && this.#capabilities.tools?.listChanged)
          this.sendToolListChanged().catch(() => {});
      },
    );
  }

  /** Sends any request. */
  request(request: { method: string; params?: Json }, ...options: unknown[]): Promise<Json> {
    return this.#ask(request.method, request.params, options.at(-1) as RequestOptions);
  }

  /** Sends any notification. */
  notification(notification: { method: string; params?: Json }): Promise<void> {
    return this.#tell(notification.method, notification.params);
  }

  /** Answers requests of a method that the library does not know. */
  setRequestHandler(method: string, handler: RequestHandler): void {
    this.#requests.set(method, handler);
  }

  /** Hears notifications of a method that the library does not know. */
  setNotificationHandler(method: string, handler: NotificationHandler): void {
    this.#notifications.set(method, handler);
  }

  async #open(
    transport: Maybe<Transport>,
    options: Maybe<RequestOptions>,
  ): Promise<InitializeResult> {
    if (!transport && window.parent === window)
      throw new TransomError("NoHost", "this page was not opened by an MCP Apps host");
    const lane: Transport & Partial<PostMessageTransport> =
      transport ?? new PostMessageTransport();
    const stillOurs = () => {
      if (this.#transport !== lane) throw new TransomError("Closed", "closed while connecting");
    };
    this.#transport = lane;
    lane.onmessage = (message) => this.#receive(message);
    lane.onclose = () => void this.close();
    await lane.start();
    stillOurs();
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
    stillOurs();
    const host = {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      hostInfo: { name: "unknown", version: "0" },
      hostCapabilities: {},
      hostContext: {},
      ...result,
    } as InitializeResult;
    lane.upgrade?.(isObject(host.hostCapabilities.experimental?.[PORT_CAPABILITY]));
    this.#host = host;
    this.#send({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
    if (this.#options.autoResize !== false) this.#unwatch = this.setupSizeChangedNotifications();
    return host;
  }

  #send(message: Message): void {
    if (!this.#transport) throw new TransomError("NotConnected", "connect() comes first");
    this.#transport.send(message).catch((error: unknown) => this.#failed(error));
  }

  /** Runs now when the handshake is over, after it when it is under way. */
  async #afterHello<T>(run: () => T): Promise<T> {
    if (!this.#ready) throw new TransomError("NotConnected", "connect() comes first");
    await this.#ready;
    return run();
  }

  #ask<T>(method: string, params?: Json, options?: RequestOptions): Promise<T> {
    return this.#afterHello(() => this.#calls.call(method, params, options)) as Promise<T>;
  }

  #tell(method: string, params?: Json): Promise<void> {
    return this.#afterHello(() =>
      this.#send({ jsonrpc: "2.0", method, ...(params && { params }) }),
    );
  }

  #failed(error: unknown): void {
    if (this.onerror) this.onerror(error as Error);
    else globalThis.reportError?.(error);
  }

  #receive(message: Message): void {
    if (!("method" in message)) this.#calls.settle(message);
    else if ("id" in message) void this.#answer(message);
    else this.#hear(message);
  }

  #hear(notification: Notification): void {
    const { method, params = {} } = notification;
    // Names of earlier drafts differ by a missing "notifications/" or a missing "d" (reference §4.2).
    const [, name] =
      /^ui\/(?:notifications\/)?(tool-(?:input(?:-partial)?|result|cancelled)|host-context-change)d?$/.exec(
        method,
      ) ?? [];
    if (name === "host-context-change") {
      if (this.#host)
        this.#host.hostContext = { ...this.#host.hostContext, ...params };
      this.#events.emit("hostcontextchanged", params);
    } else if (name) {
      this.#events.emit(
        name.replaceAll("-", ""),
        name === "tool-result" ? { ...EMPTY, ...params } : params,
      );
    } else if (method === "notifications/progress") {
      this.#calls.progress(params);
    } else if (method === "notifications/cancelled") {
      this.#answering.get(params.requestId)?.abort();
    }
    try {
      this.#notifications.get(method)?.(notification);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #answer(request: Request): Promise<void> {
    const { id, method } = request;
    const controller = new AbortController();
    const { signal } = controller;
    this.#answering.set(id, controller);
    let answer: { result: Json } | { error: { code: number; message: string; data?: unknown } };
    try {
      const handler = this.#handler(method);
      answer = handler
        ? {
            // A handler that returns nothing still answers with an object (V-23).
            result: ((await handler(request, {
              signal,
              requestId: id,
              mcpReq: { id, method, signal },
            })) ?? {}) as Json,
          }
        : { error: { code: -32601, message: "Method not found" } };
    } catch (thrown) {
      const { code, message, data } = thrown as TransomError;
      answer = {
        error: {
          code: Number.isInteger(code) ? (code as number) : -32603,
          message: message ?? `${thrown}`,
          ...(data !== undefined && { data }),
        },
      };
    }
    this.#answering.delete(id);
    // Whoever cancels a request wants no answer to it.
    if (!signal.aborted) this.#send({ jsonrpc: "2.0", id, ...answer });
  }

  #handler(method: string): Maybe<RequestHandler> {
    const custom = this.#requests.get(method);
    if (custom) return custom;
    const known: Answering<never, unknown> =
      method === "ping"
        ? () => ({})
        : method === "ui/resource-teardown"
          ? this.onteardown
          : method === "tools/call"
            ? this.oncalltool
            : method === "tools/list"
              ? this.onlisttools
              : undefined;
    return known && (({ params = {} }, extra) => known(params as never, extra));
  }

  /** What stands before the server's own names, as far as the opening tool shows it. */
  #prefix(): string {
    const opened = this.getHostContext()?.toolInfo?.tool?.name ?? "";
    const { toolName } = this.#options;
    return toolName && opened.endsWith(toolName) ? opened.slice(0, -toolName.length) : "";
  }

  /** Looks the name up in the Host's list; true when it stands for another one. */
  async #resolve(name: string): Promise<boolean> {
    if (this.#names.has(name)) return false;
    const { tools } = await this.#ask<ListToolsResult>("tools/list").catch(() => ({ tools: [] }));
    const found = tools.filter((tool) => tool.name.endsWith(name) && tool.name !== name);
    const [only] = found;
    if (!only || found.length > 1 || tools.some((tool) => tool.name === name)) return false;
    this.#names.set(name, only.name);
    return true;
  }
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join();
}

function isUnknown(text: string, name: string): boolean {
  return text.includes(name) && /unknown|not found/i.test(text);
}

/** A result without `content` is an empty one (V-29). */
const EMPTY = { content: [] as ContentBlock[] };
