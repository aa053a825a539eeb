/**
 * The View's client: one engine, two faces. `App` has the names of ext-apps' class, `McpApp` those of
 * the smaller one that takes names and arguments.
 */
import type { RequestOptions } from "./calls.js";
import type { AppEventMap } from "./events.js";
import { HANDLERS, openSession } from "./session.js";
import type {
  NotificationHandlerSetter,
  RequestHandlerSetter,
} from "./handlers.js";
import type {
  AppToolCallback,
  AppToolConfig,
  Ask,
  RegisteredAppTool,
  RequestExtra,
  Tell,
  ToolSchema,
} from "./tools.js";
import type { Transport } from "./transport.js";
import type {
  AppCapabilities,
  CallToolParams,
  CallToolResult,
  ContentBlock,
  CreateMessageParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  DisplayMode,
  EmbeddedResource,
  HostCapabilities,
  HostContext,
  Implementation,
  InitializeResult,
  Json,
  ListParams,
  ListResourcesResult,
  ListToolsResult,
  LogParams,
  MessageParams,
  ModelContextParams,
  Outcome,
  ReadResourceParams,
  ReadResourceResult,
  ResourceLink,
  SizeParams,
} from "./wire.js";

export { TransomError, type LocalCode } from "./error.js";
export { PostMessageTransport, type Transport } from "./transport.js";
export type { RequestOptions } from "./calls.js";
export type { AppEventMap } from "./events.js";
export type * from "./tools.js";
export type * from "./wire.js";

/** How an `App` behaves. */
export type AppOptions = {
  /** Report the content's size whenever it changes. True unless told. */
  autoResize?: boolean;
  /** Accepted for ext-apps' sake; early calls wait for the handshake instead of throwing. */
  strict?: boolean;
  /** Accepted for ext-apps' sake; nothing here evaluates code. */
  allowUnsafeEval?: boolean;
  /** Accepted for ext-apps' sake; what the Host refuses fails with its own words. */
  enforceStrictCapabilities?: boolean;
  /** Accepted for ext-apps' sake; sizes and partial inputs are never more than the Host can take. */
  debouncedNotificationMethods?: string[];
};

type On<K extends keyof AppEventMap> =
  ((params: AppEventMap[K]) => void) | undefined;
type Answering<P, R> =
  ((params: P, extra: RequestExtra) => R | Promise<R>) | undefined;

/** The View's end of one session. */
export interface App {
  /** Shakes hands with the Host. One promise, however often it is called. */
  connect(
    transport?: Transport,
    options?: RequestOptions,
  ): Promise<InitializeResult>;
  /** Closes the channel and fails everything that still waits. */
  close(): Promise<void>;
  /** Called once when the channel has closed. */
  onclose?: (() => void) | undefined;
  /** Hears what handlers threw; without it the browser reports them as uncaught. */
  onerror?: ((error: Error) => void) | undefined;

  getHostContext(): HostContext | undefined;
  getHostCapabilities(): HostCapabilities | undefined;
  getHostVersion(): Implementation | undefined;

  /** Handlers that come late get the last input, result or cancellation. */
  ontoolinput: On<"toolinput">;
  /** Partial inputs coalesce when the handler is slow; the newest always arrives. */
  ontoolinputpartial: On<"toolinputpartial">;
  ontoolresult: On<"toolresult">;
  ontoolcancelled: On<"toolcancelled">;
  onhostcontextchanged: On<"hostcontextchanged">;
  addEventListener<K extends keyof AppEventMap>(
    event: K,
    handler: (params: AppEventMap[K]) => void,
  ): void;
  /** Any other notification, by its method: `notifications/tools/list_changed`. */
  addEventListener(
    method: `${string}/${string}`,
    handler: (params: Json) => void,
  ): void;
  removeEventListener(
    method: `${string}/${string}`,
    handler: (params: Json) => void,
  ): void;
  removeEventListener<K extends keyof AppEventMap>(
    event: K,
    handler: (params: AppEventMap[K]) => void,
  ): void;

  /** Saves what must be saved before the View goes; the Host waits a while. */
  onteardown: Answering<{ reason?: string }, Json | void>;
  oncalltool: Answering<CallToolParams, CallToolResult>;
  onlisttools: Answering<ListParams | undefined, ListToolsResult>;

  /**
   * Calls a tool of the server that this View belongs to.
   *
   * A gateway may have put a prefix before the server's names. When the Host does not know a name, the
   * prefix is learnt from the only name in its list of tools that ends in it.
   */
  callServerTool(
    params: CallToolParams,
    options?: RequestOptions,
  ): Promise<CallToolResult>;
  readServerResource(
    params: ReadResourceParams,
    options?: RequestOptions,
  ): Promise<ReadResourceResult>;
  listServerResources(
    params?: ListParams,
    options?: RequestOptions,
  ): Promise<ListResourcesResult>;
  createSamplingMessage(
    params: CreateMessageParams & { tools?: undefined },
    options?: RequestOptions,
  ): Promise<CreateMessageResult>;
  createSamplingMessage(
    params: CreateMessageParams,
    options?: RequestOptions,
  ): Promise<CreateMessageResultWithTools>;
  sendMessage(
    params: MessageParams,
    options?: RequestOptions,
  ): Promise<Outcome>;
  updateModelContext(
    params: ModelContextParams,
    options?: RequestOptions,
  ): Promise<{ _meta?: Json }>;
  openLink(params: { url: string }, options?: RequestOptions): Promise<Outcome>;
  /** The old name of `openLink`. */
  sendOpenLink(
    params: { url: string },
    options?: RequestOptions,
  ): Promise<Outcome>;
  downloadFile(
    params: { contents: (EmbeddedResource | ResourceLink)[] },
    options?: RequestOptions,
  ): Promise<Outcome>;
  requestDisplayMode(
    params: { mode: DisplayMode },
    options?: RequestOptions,
  ): Promise<{ mode: DisplayMode; [key: string]: unknown }>;
  sendLog(params: LogParams): Promise<void>;
  requestTeardown(params?: Json): Promise<void>;
  sendSizeChanged(params: SizeParams): Promise<void>;
  /**
   * Reports the size of the content, or of one element, whenever it changes, until the returned function
   * is called.
   */
  setupSizeChangedNotifications(element?: HTMLElement): () => void;

  /** Offers a tool to the Host for as long as the View lives. */
  registerTool<
    Out extends ToolSchema | undefined = undefined,
    In extends ToolSchema | undefined = undefined,
  >(
    name: string,
    config: AppToolConfig<In, Out>,
    callback: AppToolCallback<In, Out>,
  ): RegisteredAppTool;
  sendToolListChanged(params?: Json): Promise<void>;

  /** Answers any request of the Host, in the place of the `on…` property for it, if there is one. */
  setRequestHandler: RequestHandlerSetter;
  removeRequestHandler(method: string): void;
  /** Hears any notification of the Host, beside the `on…` property and the listeners for it. */
  setNotificationHandler: NotificationHandlerSetter;
  removeNotificationHandler(method: string): void;

  request: Ask;
  notification: Tell;
}

/** The View's client under ext-apps' names. Its methods belong to the object, not to a prototype. */
export class App {
  constructor(
    appInfo: Implementation,
    capabilities: AppCapabilities = {},
    options: AppOptions = {},
  ) {
    openSession(this, appInfo, capabilities, options);
  }
}

/** What both faces have. */
type Shared =
  | "connect"
  | "close"
  | "request"
  | "notification"
  | "setRequestHandler"
  | "removeRequestHandler"
  | "setNotificationHandler"
  | "removeNotificationHandler"
  | "getHostContext"
  | "getHostCapabilities"
  | "getHostVersion"
  | "addEventListener"
  | "removeEventListener"
  | "registerTool"
  | "readServerResource"
  | "listServerResources"
  | "createSamplingMessage"
  | "downloadFile"
  | "sendLog"
  | "sendSizeChanged"
  | "setupSizeChangedNotifications"
  | "requestTeardown"
  | "sendToolListChanged";

type Handler<P> = ((params: P) => unknown) | undefined;

/** How an `McpApp` introduces itself. */
export type McpAppOptions = AppOptions & {
  appInfo?: Implementation;
  capabilities?: AppCapabilities;
};

/** The View's client that takes names and arguments. */
export interface McpApp extends Pick<App, Shared> {
  callServerTool(
    name: string,
    args?: Json,
    options?: RequestOptions,
  ): Promise<CallToolResult>;
  /** Whatever the role, a View speaks for the user; hosts accept nothing else. */
  sendMessage(
    role: string,
    content: ContentBlock | ContentBlock[],
  ): Promise<Outcome>;
  updateModelContext(
    content: ContentBlock | ContentBlock[],
    structuredContent?: Json,
  ): Promise<{ _meta?: Json }>;
  openLink(url: string): Promise<Outcome>;
  requestDisplayMode(mode: DisplayMode): Promise<{ mode: DisplayMode }>;
  ontoolinput: Handler<Json>;
  ontoolinputpartial: Handler<Json>;
  ontoolresult: Handler<CallToolResult>;
  ontoolcancelled: Handler<string | undefined>;
  onhostcontextchanged: Handler<HostContext>;
  onteardown: Handler<string | undefined>;
}

/** The View's client that takes names and arguments. */
export class McpApp {
  constructor({
    appInfo = { name: "view", version: "0" },
    capabilities,
    ...options
  }: McpAppOptions = {}) {
    const app = new App(appInfo, capabilities, options);
    const methods: Partial<McpApp> = {
      callServerTool: (name, args = {}, options) =>
        app.callServerTool({ name, arguments: args }, options),
      sendMessage: (_role, content) =>
        app.sendMessage({ role: "user", content: [content].flat() }),
      updateModelContext: (content, structuredContent) =>
        app.updateModelContext({
          content: [content].flat(),
          ...(structuredContent && { structuredContent }),
        }),
      openLink: (url) => app.openLink({ url }),
      requestDisplayMode: (mode) => app.requestDisplayMode({ mode }),
    };
    Object.assign(this, app, methods);
    for (const [name, member] of HANDLERS)
      Object.defineProperty(this, `on${name}`, {
        set(handler: Handler<unknown>) {
          (app as unknown as Json)[`on${name}`] =
            handler &&
            ((params: Json) => handler(member ? params[member] : params));
        },
      });
  }
}
