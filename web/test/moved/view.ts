/**
 * A view that uses everything that ext-apps exports to views and we have too. It is type-checked and run with both packages: what it
 * reports must be the same. `ext-apps.test.ts` holds its list of imports against the two packages.
 */
import {
  App,
  applyDocumentTheme,
  applyHostFonts,
  applyHostStyleVariables,
  DOWNLOAD_FILE_METHOD,
  EventDispatcher,
  getDocumentTheme,
  HOST_CONTEXT_CHANGED_METHOD,
  INITIALIZE_METHOD,
  INITIALIZED_METHOD,
  LATEST_PROTOCOL_VERSION,
  McpUiDownloadFileRequestSchema,
  McpUiDownloadFileResultSchema,
  McpUiHostContextChangedNotificationSchema,
  McpUiInitializedNotificationSchema,
  McpUiInitializeRequestSchema,
  McpUiInitializeResultSchema,
  McpUiMessageRequestSchema,
  McpUiMessageResultSchema,
  McpUiOpenLinkRequestSchema,
  McpUiOpenLinkResultSchema,
  McpUiRequestDisplayModeRequestSchema,
  McpUiRequestDisplayModeResultSchema,
  McpUiRequestTeardownNotificationSchema,
  McpUiResourceTeardownRequestSchema,
  McpUiResourceTeardownResultSchema,
  McpUiSandboxProxyReadyNotificationSchema,
  McpUiSandboxResourceReadyNotificationSchema,
  McpUiSizeChangedNotificationSchema,
  McpUiToolCancelledNotificationSchema,
  McpUiToolInputNotificationSchema,
  McpUiToolInputPartialNotificationSchema,
  McpUiToolResultNotificationSchema,
  McpUiUpdateModelContextRequestSchema,
  MESSAGE_METHOD,
  OPEN_LINK_METHOD,
  PostMessageTransport,
  REQUEST_DISPLAY_MODE_METHOD,
  REQUEST_TEARDOWN_METHOD,
  RESOURCE_MIME_TYPE,
  RESOURCE_TEARDOWN_METHOD,
  RESOURCE_URI_META_KEY,
  SANDBOX_PROXY_READY_METHOD,
  SANDBOX_RESOURCE_READY_METHOD,
  SIZE_CHANGED_METHOD,
  TOOL_CANCELLED_METHOD,
  TOOL_INPUT_METHOD,
  TOOL_INPUT_PARTIAL_METHOD,
  TOOL_RESULT_METHOD,
} from "@modelcontextprotocol/ext-apps";
import * as z from "zod";
import { shapes } from "./types.js";

const heard: unknown[] = [];
const hear = (what: string, ...about: unknown[]) =>
  void heard.push([what, ...about]);

/** What is there before anybody connects. */
const standing = {
  methods: [
    DOWNLOAD_FILE_METHOD,
    HOST_CONTEXT_CHANGED_METHOD,
    INITIALIZE_METHOD,
    INITIALIZED_METHOD,
    MESSAGE_METHOD,
    OPEN_LINK_METHOD,
    REQUEST_DISPLAY_MODE_METHOD,
    REQUEST_TEARDOWN_METHOD,
    RESOURCE_TEARDOWN_METHOD,
    SANDBOX_PROXY_READY_METHOD,
    SANDBOX_RESOURCE_READY_METHOD,
    SIZE_CHANGED_METHOD,
    TOOL_CANCELLED_METHOD,
    TOOL_INPUT_METHOD,
    TOOL_INPUT_PARTIAL_METHOD,
    TOOL_RESULT_METHOD,
  ],
  words: [LATEST_PROTOCOL_VERSION, RESOURCE_MIME_TYPE, RESOURCE_URI_META_KEY],
  named: [
    McpUiDownloadFileRequestSchema,
    McpUiHostContextChangedNotificationSchema,
    McpUiInitializedNotificationSchema,
    McpUiInitializeRequestSchema,
    McpUiMessageRequestSchema,
    McpUiOpenLinkRequestSchema,
    McpUiRequestDisplayModeRequestSchema,
    McpUiRequestTeardownNotificationSchema,
    McpUiResourceTeardownRequestSchema,
    McpUiSandboxProxyReadyNotificationSchema,
    McpUiSandboxResourceReadyNotificationSchema,
    McpUiSizeChangedNotificationSchema,
    McpUiToolCancelledNotificationSchema,
    McpUiToolInputNotificationSchema,
    McpUiToolInputPartialNotificationSchema,
    McpUiToolResultNotificationSchema,
    McpUiUpdateModelContextRequestSchema,
  ].map((schema) => schema.shape.method.value),
  shapes,
};

const app = new App(
  { name: "moved", version: "1.0.0" },
  { availableDisplayModes: ["inline", "fullscreen"] },
  { autoResize: false },
);

app.ontoolinput = ({ arguments: args }) => hear("input", args);
app.addEventListener("toolresult", ({ content }) => hear("result", content));
app.onhostcontextchanged = (context) => hear("context", context);
app.setNotificationHandler(
  "x/told",
  { params: z.object({ n: z.number() }) },
  ({ n }) => hear("told", n),
);
app.setNotificationHandler(
  z.object({ method: z.literal("x/zod"), params: z.object({ n: z.number() }) }),
  ({ method, params }) => hear("zod", method, params.n),
);
app.setNotificationHandler(McpUiToolCancelledNotificationSchema, ({ params }) =>
  hear("cancelled", params.reason),
);
app.onteardown = (_params, extra) => {
  hear("teardown", extra.mcpReq.method, extra.mcpReq.signal.aborted);
  return { saved: true };
};
app.setRequestHandler(
  "x/checked",
  {
    params: z.object({ n: z.number() }),
    result: z.object({ twice: z.number() }),
  },
  ({ n }, extra) =>
    ({ twice: n * 2, id: typeof extra.mcpReq.id }) as { twice: number },
);
app.setRequestHandler(
  z.object({
    method: z.literal("x/asked"),
    params: z.object({ n: z.number() }),
  }),
  async ({ params }, extra) => {
    await extra.sendNotification({
      method: "x/hello",
      params: { n: params.n },
    });
    return { id: typeof extra.requestId, aborted: extra.signal.aborted };
  },
);
app.setRequestHandler("x/gone", { params: z.object({}) }, () => ({}));
app.removeRequestHandler("x/gone");
app.setNotificationHandler("x/quiet", { params: z.object({}) }, () =>
  hear("quiet"),
);
app.removeNotificationHandler("x/quiet");

const tool = app.registerTool(
  "add",
  {
    description: "Adds",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  },
  async ({ a, b }, extra) => {
    extra.mcpReq.signal.throwIfAborted();
    return { content: [], structuredContent: { sum: a + b } };
  },
);
app.registerTool("now", {}, () => ({
  content: [{ type: "text", text: "now" }],
}));
tool.update({ title: "Add" });

/** A failure as a view can tell it. */
const failure = (error: unknown) => (error as Error).message;

/** All that a view asks of its host, and what it gets. */
async function ask() {
  const text = { type: "text", text: "hi" } as const;
  const slow = {
    timeout: 50,
    maxTotalTimeout: 80,
    resetTimeoutOnProgress: true,
  };
  const model = await app.createSamplingMessage({
    messages: [{ role: "user", content: text }],
    maxTokens: 5,
  });
  return {
    call: await app.callServerTool({
      name: "add",
      arguments: { a: 1, b: [2, null, "ü"] },
    }),
    refused: await app.readServerResource({ uri: "file:///no" }).catch(failure),
    late: await app.callServerTool({ name: "never" }, slow).then(
      () => "an answer",
      () => "none in time",
    ),
    string: await app
      .callServerTool("add" as unknown as { name: string })
      .catch(
        (error) =>
          /object|Write/.test(failure(error)) && /name/.test(failure(error)),
      ),
    read: (await app.readServerResource({ uri: "file:///a" })).contents[0]?.uri,
    list: (await app.listServerResources({ cursor: "2" })).nextCursor,
    model: model.content.type === "text" && model.content.text,
    message: await app.sendMessage({ role: "user", content: [text] }),
    known: await app.updateModelContext({ content: [text] }),
    link: await app.openLink({ url: "https://example.com/" }),
    old: await app.sendOpenLink({ url: "https://example.com/" }),
    file: await app.downloadFile({
      contents: [
        { type: "resource", resource: { uri: "file:///a", text: "a" } },
      ],
    }),
    mode: await app.requestDisplayMode({ mode: "fullscreen" }),
    plain: [
      await app.request(
        { method: OPEN_LINK_METHOD, params: { url: "https://example.com/" } },
        McpUiOpenLinkResultSchema,
      ),
      await app.request(
        { method: MESSAGE_METHOD, params: { role: "user", content: [text] } },
        McpUiMessageResultSchema,
      ),
      await app.request(
        {
          method: DOWNLOAD_FILE_METHOD,
          params: {
            contents: [
              { type: "resource", resource: { uri: "file:///a", text: "a" } },
            ],
          },
        },
        McpUiDownloadFileResultSchema,
      ),
      await app.request(
        { method: REQUEST_DISPLAY_MODE_METHOD, params: { mode: "inline" } },
        McpUiRequestDisplayModeResultSchema,
        { timeout: 5000 },
      ),
    ],
  };
}

/** Dispatches as the class says. */
function dispatched() {
  const all: unknown[] = [];
  const events = new EventDispatcher<{ a: number }>();
  const listen = (n: number) => void all.push(["listener", n]);
  events.addEventListener("a", listen);
  events.addEventListener("a", listen);
  events.setHandler("a", (n) => void all.push(["handler", n]));
  events.dispatch("a", 1);
  events.removeEventListener("a", listen);
  events.dispatch("a", 2);
  events.setHandler("a", undefined);
  events.dispatch("a", 3);
  return [all, events.getHandler("a")];
}

/** The host's look. */
function dressed() {
  applyDocumentTheme("dark");
  applyHostStyleVariables({ "--color-text-primary": "red" } as never);
  applyHostFonts("@font-face { font-family: a; src: local(a) }");
  const { style } = document.documentElement;
  return [
    getDocumentTheme(),
    style.colorScheme,
    style.getPropertyValue("--color-text-primary"),
  ];
}

async function connect() {
  await app.connect(new PostMessageTransport(window.parent, window.parent));
  await app.sendSizeChanged({ width: 100, height: 50 });
  await app.sendLog({ level: "info", data: "here" });
  await app.notification({
    method: SIZE_CHANGED_METHOD,
    params: { width: 100, height: 60 },
  });
  return [
    app.getHostContext()?.theme,
    app.getHostVersion()?.name,
    app.getHostCapabilities()?.serverTools,
  ];
}

/** Shapes of answers that only a host gives: what they let through. */
async function answers() {
  const given = {
    protocolVersion: "2026-01-26",
    hostInfo: { name: "h", version: "1" },
    hostCapabilities: {},
    hostContext: {},
  };
  const all: unknown[] = [];
  for (const schema of [
    McpUiInitializeResultSchema,
    McpUiResourceTeardownResultSchema,
  ])
    all.push("value" in (await schema["~standard"].validate(given)));
  return all;
}

Object.assign(globalThis, {
  moved: {
    standing,
    heard,
    connect,
    ask,
    dispatched,
    dressed,
    answers,
    close: () => app.close(),
    offer: () => app.sendToolListChanged(),
  },
});
