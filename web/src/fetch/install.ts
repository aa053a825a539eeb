/**
 * Puts our `fetch` in the place of the page's, and decides which requests are ours.
 *
 * ```text
 * init ──▶ active ──stop──▶ inactive ──start──▶ active
 *            └──restore──▶ terminated ◀──restore──┘
 * ```
 */
import { TransomError } from "../error.js";
import type { CallToolParams, CallToolResult, Json } from "../wire.js";
import { failure } from "./failure.js";
import { toArguments } from "./request.js";
import { toResponse } from "./response.js";
import { openStream } from "./stream.js";

/** The part of an `App` that is used, ours or that of ext-apps. */
export type ToolCaller = {
  callServerTool(
    params: CallToolParams,
    options?: {
      signal?: AbortSignal;
      timeout?: number;
      resetTimeoutOnProgress?: boolean;
      onprogress?: () => void;
    },
  ): Promise<CallToolResult>;
  getHostCapabilities(): { serverTools?: unknown } | undefined;
};

/** What is carried, and how. */
export type FetchOptions = {
  /** Paths that are carried, with everything below them; all of this origin unless told. */
  paths?: string[];
  /** Other origins whose requests are carried too. */
  origins?: string[];
  /** What relative addresses belong to, where the document has no address of its own. */
  base?: string;
  /** What becomes of a request that cannot be carried; it goes to the browser's own `fetch` unless told. */
  fallback?: "native" | "reject";
  /** How long a request waits for the handshake, in milliseconds. */
  patience?: number;
  /** How long the backend may take, in milliseconds; the server's own limit unless told. */
  timeout?: number;
  /** The tool's name. */
  tool?: string;
  /** Hears, once each, why requests are not carried. */
  log?: (words: string) => void;
};

/** A `fetch` that is in place. */
export type FetchHandle = {
  /** Ours, whether or not it is the page's. */
  fetch: typeof fetch;
  /** Lets every request go to the browser's own. */
  stop(): void;
  /** Carries requests again. */
  start(): void;
  isActive(): boolean;
  /** Gives the page its own `fetch` back, unless another script has put its own there. */
  restore(): void;
};

let installed: { app: ToolCaller; handle: FetchHandle } | undefined;

/** Carries the requests of this page to the server that the View belongs to. */
export function initMcpFetch(
  app: ToolCaller,
  options: FetchOptions = {},
): FetchHandle {
  if (installed) {
    if (installed.app === app) return installed.handle;
    throw new Error(
      "fetch is carried for another App already: restore it first",
    );
  }
  const scope = globalThis;
  const descriptor = Object.getOwnPropertyDescriptor(scope, "fetch")!;
  const native = scope.fetch;
  const carry = openCarrier(app, options);
  let active = true;

  const ours = {
    // Without a second parameter, so that its length is that of the browser's.
    fetch(input: RequestInfo | URL, ...[init]: [RequestInit?]) {
      const fall = () => native.call(scope, input, init);
      return active ? carry(input, init, fall) : fall();
    },
  }.fetch;
  Object.defineProperty(scope, "fetch", { ...descriptor, value: ours });

  const handle: FetchHandle = {
    fetch: ours,
    stop: () => void (active = false),
    start: () => void (active = installed?.handle === handle),
    isActive: () => active,
    restore() {
      active = false;
      if (installed?.handle === handle) installed = undefined;
      if (scope.fetch === ours)
        Object.defineProperty(scope, "fetch", descriptor);
    },
  };
  installed = { app, handle };
  return handle;
}

/** Decides about each request, and carries those that are ours. */
export function openCarrier(
  app: ToolCaller,
  {
    paths = ["/"],
    origins = [],
    base,
    fallback = "native",
    patience = 10_000,
    timeout,
    tool = "http_request",
    log,
  }: FetchOptions,
) {
  const said = new Set<string>();
  const say = (words: string) => {
    if (!said.has(words)) log?.(words);
    said.add(words);
  };

  const call = callerOf(app, timeout);
  return async (
    input: RequestInfo | URL,
    init: RequestInit | undefined,
    fall: () => Promise<Response>,
  ): Promise<Response> => {
    const url = ours(input, homeOf(base), paths, origins);
    // In a tab of its own there is no Host, and the page's requests are its own.
    if (!url || (globalThis.parent && parent === self)) return fall();
    const body = init?.body;
    const entries = body instanceof FormData ? [...body] : undefined;
    const signal = signalOf(input, init);
    signal?.throwIfAborted();
    if (!(await ready(app, patience, signal, say))) {
      if (fallback === "native") return fall();
      throw failure("host_unavailable", "no host carries this request");
    }
    // Whatever a browser refuses, its own constructor refuses here, with its own words. It need not follow the
    // signal: some engines remember every request that does (ERR-7).
    const request = new Request(
      input instanceof Request ? input : url.href,
      init instanceof Request ? init : { ...init, signal: null },
    );
    const args = await toArguments(request, body, entries);
    signal?.throwIfAborted();
    const result = await call(
      tool,
      { ...args, stream: true, ...(timeout && { timeoutMs: timeout }) },
      signal,
    );
    const response = toResponse(result, request, tool, (streamId) =>
      openStream(streamId, call, signal),
    );
    if (request.integrity)
      await verify(response.clone(), request.integrity, tool);
    return response;
  };
}

/** What a connection needs of a carrier: how it calls tools once the Host is there, and which addresses are ours. */
export function openCaller(
  app: ToolCaller,
  {
    paths = ["/"],
    origins = [],
    base,
    patience = 10_000,
    timeout,
    log,
  }: FetchOptions,
) {
  const call = callerOf(app, timeout);
  return {
    ours: (url: string) => !!ours(url, homeOf(base), paths, origins),
    async call(name: string, args: Json, signal: AbortSignal | null) {
      if (!(await ready(app, patience, signal, log ?? (() => {}))))
        throw failure("host_unavailable", "no host carries this");
      return call(name, args, signal);
    },
  };
}

/** The address, if it is one of ours. Decided before any `Request` is made: making one uses its body up (INS-2). */
function ours(
  input: unknown,
  home: URL,
  paths: string[],
  origins: string[],
): URL | undefined {
  try {
    const url = new URL(
      input instanceof Request ? input.url : `${input}`,
      home,
    );
    const near = url.origin === home.origin || origins.includes(url.origin);
    return near && paths.some((path) => isBelow(url.pathname, path))
      ? url
      : undefined;
  } catch {
    return undefined;
  }
}

/** The caller's signal, where there is one; what is said in `init` counts, also if it is none. */
function signalOf(input: unknown, init?: RequestInit): AbortSignal | null {
  if (init?.signal !== undefined) return init.signal;
  return input instanceof Request ? input.signal : null;
}

/** Waits until the handshake is over, and tells whether the Host carries calls of tools. */
async function ready(
  app: ToolCaller,
  patience: number,
  signal: AbortSignal | null,
  say: (words: string) => void,
): Promise<boolean> {
  const end = performance.now() + patience;
  while (!app.getHostCapabilities() && performance.now() < end) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const capabilities = app.getHostCapabilities();
  if (!capabilities) say("not connected to a host: requests are not carried");
  else if (!capabilities.serverTools)
    say("this host carries no calls of tools: requests are not carried");
  return Boolean(capabilities?.serverTools);
}

/** Calls a tool, and says why nothing came of it as `fetch` does. */
function callerOf(app: ToolCaller, timeout = 120_000) {
  return async (
    name: string,
    args: Json,
    signal: AbortSignal | null,
  ): Promise<CallToolResult> => {
    try {
      return await app.callServerTool(
        { name, arguments: args },
        // Longer than the server's own limit, so that it is the server who says what happened (ERR-8).
        {
          ...(signal && { signal }),
          timeout: timeout + 10_000,
          resetTimeoutOnProgress: true,
        },
      );
    } catch (error) {
      signal?.throwIfAborted();
      const { code, message } = error as TransomError;
      throw failure(
        code === "Timeout" || code === -32001
          ? "timeout"
          : typeof code === "number"
            ? "blocked"
            : "host_unavailable",
        message,
        name,
      );
    }
  };
}

/** Where relative addresses belong: to the document's own, or to a name that leads nowhere (INS-3). */
export function homeOf(base?: string): URL {
  const home = new URL(
    base ?? globalThis.document?.baseURI ?? NOWHERE,
    NOWHERE,
  );
  return home.origin === "null" ? new URL(NOWHERE) : home;
}

/** Whole segments: /api is not above /apikeys (INS-4). */
function isBelow(path: string, above: string): boolean {
  return (
    path === above || path.startsWith(above.endsWith("/") ? above : `${above}/`)
  );
}

/** Holds a response against the hash that its caller expects; the strongest kind that is named counts. */
async function verify(
  response: Response,
  integrity: string,
  tool: string,
): Promise<void> {
  const named = [...integrity.matchAll(/sha(256|384|512)-([\w+/=-]+)/g)];
  const strongest = named
    .map(([, bits]) => bits!)
    .sort()
    .pop();
  if (!strongest) return;
  const bytes = await response.arrayBuffer();
  const hash = new Uint8Array(
    await crypto.subtle.digest(`SHA-${strongest}`, bytes),
  );
  const is = btoa(String.fromCharCode(...hash));
  if (!named.some(([, bits, text]) => bits === strongest && text === is))
    throw failure("network", "the response is not what integrity says", tool);
}

const NOWHERE = "https://app.invalid/";
