// Every method a host and a view can exchange, as rows. The same rows run for every pair of libraries.
import assert from "node:assert/strict";

const TEXT = [{ type: "text", text: "done" }];

/** What the view asks or tells: the call, what the host must hear, what it answers, what the view must get. */
export const FROM_VIEW = [
  {
    method: "tools/call",
    call: (app) =>
      app.callServerTool({
        name: "add",
        arguments: { a: 1, b: [2, null, "ü"] },
      }),
    params: { name: "add", arguments: { a: 1, b: [2, null, "ü"] } },
    answer: {
      content: TEXT,
      structuredContent: { sum: 3 },
      _meta: { "x/y": 1 },
    },
  },
  {
    method: "resources/read",
    call: (app) => app.readServerResource({ uri: "file:///a" }),
    params: { uri: "file:///a" },
    answer: {
      contents: [{ uri: "file:///a", mimeType: "text/plain", text: "a" }],
    },
  },
  {
    method: "resources/list",
    call: (app) => app.listServerResources({ cursor: "2" }),
    params: { cursor: "2" },
    answer: { resources: [{ uri: "file:///a", name: "a" }], nextCursor: "3" },
  },
  {
    method: "sampling/createMessage",
    call: (app) =>
      app.createSamplingMessage({
        messages: [{ role: "user", content: { type: "text", text: "hi" } }],
        maxTokens: 5,
      }),
    params: {
      messages: [{ role: "user", content: { type: "text", text: "hi" } }],
      maxTokens: 5,
    },
    answer: {
      role: "assistant",
      content: { type: "text", text: "ho" },
      model: "m",
      stopReason: "endTurn",
    },
  },
  {
    method: "ui/message",
    call: (app) =>
      app.sendMessage({
        role: "user",
        content: [{ type: "text", text: "hello" }],
      }),
    params: { role: "user", content: [{ type: "text", text: "hello" }] },
    answer: {},
  },
  {
    method: "ui/update-model-context",
    call: (app) =>
      app.updateModelContext({
        content: [{ type: "text", text: "n=1" }],
        structuredContent: { n: 1 },
      }),
    params: {
      content: [{ type: "text", text: "n=1" }],
      structuredContent: { n: 1 },
    },
    answer: {},
  },
  {
    method: "ui/open-link",
    call: (app) => app.openLink({ url: "https://example.com/?a=1#b" }),
    params: { url: "https://example.com/?a=1#b" },
    answer: {},
  },
  {
    method: "ui/download-file",
    call: (app) =>
      app.downloadFile({
        contents: [
          {
            type: "resource",
            resource: {
              uri: "file:///a.txt",
              mimeType: "text/plain",
              text: "a",
            },
          },
        ],
      }),
    params: {
      contents: [
        {
          type: "resource",
          resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "a" },
        },
      ],
    },
    answer: {},
  },
  {
    method: "ui/request-display-mode",
    call: (app) => app.requestDisplayMode({ mode: "fullscreen" }),
    params: { mode: "fullscreen" },
    answer: { mode: "fullscreen" },
  },
  {
    method: "ui/notifications/size-changed",
    call: (app) => app.sendSizeChanged({ width: 321, height: 123 }),
    params: { width: 321, height: 123 },
  },
  {
    method: "notifications/message",
    call: (app) =>
      app.sendLog({ level: "info", logger: "view", data: { a: 1 } }),
    params: { level: "info", logger: "view", data: { a: 1 } },
  },
  {
    method: "ui/notifications/request-teardown",
    call: (app) => app.requestTeardown(),
  },
];

/** What the host tells or asks: the message, the handler's name on `App`, what the view must hear, what it answers. */
export const FROM_HOST = [
  {
    method: "ui/notifications/tool-input-partial",
    params: { arguments: { city: "Ul" } },
    event: "toolinputpartial",
  },
  {
    method: "ui/notifications/tool-input",
    params: { arguments: { city: "Ulm", n: 1 } },
    event: "toolinput",
  },
  {
    method: "ui/notifications/tool-result",
    params: {
      content: TEXT,
      structuredContent: { t: [1, 2] },
      isError: false,
      _meta: { k: "v" },
    },
    event: "toolresult",
  },
  {
    method: "ui/notifications/tool-cancelled",
    params: { reason: "changed my mind" },
    event: "toolcancelled",
  },
  {
    method: "ui/notifications/host-context-changed",
    params: { theme: "light", locale: "de-DE" },
    event: "hostcontextchanged",
  },
  { method: "ping", answer: {} },
  {
    method: "tools/list",
    params: {},
    event: "listtools",
    answer: { tools: [{ name: "zoom", inputSchema: { type: "object" } }] },
  },
  {
    method: "tools/call",
    params: { name: "zoom", arguments: { by: 2 } },
    event: "calltool",
    answer: { content: TEXT, structuredContent: { zoom: 2 } },
  },
  // A notification without a handler must not disturb what follows; the last row shows that nothing did.
  { method: "notifications/tools/list_changed" },
  { method: "notifications/resources/list_changed" },
  { method: "notifications/prompts/list_changed" },
  { method: "ui/resource-teardown", params: {}, event: "teardown", answer: {} },
];

export const HOST_CONTEXT = {
  theme: "dark",
  displayMode: "inline",
  availableDisplayModes: ["inline", "fullscreen"],
  containerDimensions: { width: 400, maxHeight: 600 },
  locale: "en-GB",
  platform: "web",
  styles: { variables: { "--color-text-primary": "#111" } },
};

export const HOST_CAPABILITIES = {
  openLinks: {},
  downloadFile: {},
  serverTools: { listChanged: true },
  serverResources: {},
  logging: {},
  message: { text: {} },
  updateModelContext: { text: {} },
  sampling: {},
};

/** Makes the host answer every row of FROM_VIEW, and write down what it heard. */
export async function hostAnswers(host) {
  const rows = FROM_VIEW.map(({ method, answer }) => ({ method, answer }));
  await host.evaluate((rows) => {
    for (const { method, answer } of rows)
      globalThis.theHost.handle(method, async (params) => {
        ear.hear(method, params);
        return answer;
      });
  }, rows);
}

/** Creates `app` in the view with every handler of FROM_HOST, and connects it. */
export async function viewConnects(
  view,
  { capabilities = { tools: { listChanged: true } } } = {},
) {
  const rows = FROM_HOST.filter((row) => row.event).map(
    ({ event, answer }) => ({ event, answer }),
  );
  return view.evaluate(
    async ({ rows, capabilities }) => {
      const app = (globalThis.app = new library.App(
        { name: "e2e-view", version: "2" },
        capabilities,
        {
          autoResize: false,
        },
      ));
      for (const { event, answer } of rows)
        app[`on${event}`] = (params) => {
          ear.hear(event, params);
          return answer;
        };
      await app.connect();
      return {
        context: app.getHostContext(),
        capabilities: app.getHostCapabilities(),
        host: app.getHostVersion(),
      };
    },
    { rows, capabilities },
  );
}

/** Runs the whole table as subtests of `t`. */
export async function converse(t, { host, view }) {
  for (const row of FROM_VIEW)
    await t.test(`view → host ${row.method}`, async () => {
      const got = await view.evaluate(`(${row.call})(app)`);
      const heard = await host.evaluate(
        (method) => ear.next(method),
        row.method,
      );
      if (row.params) same(without("_meta", heard), row.params);
      if (row.answer) same(got, row.answer);
    });
  for (const row of FROM_HOST)
    await t.test(`host → view ${row.method}`, async () => {
      const got = await host.evaluate(
        ({ method, params }) => globalThis.theHost.send(method, params),
        { method: row.method, params: row.params },
      );
      if (row.event) {
        const heard = await view.evaluate(
          (event) => ear.next(event),
          row.event,
        );
        if (row.params) same(without("_meta", heard, row.params), row.params);
      }
      if (row.answer) same(got, row.answer);
    });
}

/** Compares as JSON: a key that holds undefined is a key that is not there. */
export function same(actual, expected) {
  assert.deepEqual(actual && JSON.parse(JSON.stringify(actual)), expected);
}

// Libraries add a progress token of their own under `_meta`; only what we sent there is ours to compare.
function without(key, value, sent = {}) {
  if (value === null || typeof value !== "object" || key in sent) return value;
  const { [key]: _, ...rest } = value;
  return rest;
}
