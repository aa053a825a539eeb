// The reference host page: an MCP Client over HTTP, ext-apps' AppBridge, and a sandbox on another origin. It does what
// ext-apps' own example host does on a click: calls the tool, reads its view, and mounts it, all at once.
import {
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import {
  AppBridge,
  PostMessageTransport,
} from "@modelcontextprotocol/ext-apps/app-bridge";

const asked = new URLSearchParams(location.search);
const client = new Client({ name: "reference", version: "1" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(asked.get("server"))),
);
const { tools } = await client.listTools();

let shown;
globalThis.run = async (name, values) => {
  const result = client.callTool({ name, arguments: values });
  const { _meta } = tools.find((tool) => tool.name === name);
  const resource = client.readResource({ uri: _meta.ui.resourceUri });
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  frame.src = asked.get("sandbox");
  document.body.append(frame);
  const bridge = new AppBridge(
    client,
    { name: "reference", version: "1" },
    { serverTools: {}, serverResources: {}, logging: {} },
  );
  const sandboxReady = new Promise((done) => (bridge.onsandboxready = done));
  const initialized = new Promise((done) => (bridge.oninitialized = done));
  await bridge.connect(
    new PostMessageTransport(frame.contentWindow, frame.contentWindow),
  );
  await sandboxReady;
  const { contents } = await resource;
  await bridge.sendSandboxResourceReady({ html: contents[0].text });
  shown = { frame, bridge };
  await initialized;
  await bridge.sendToolInput({ arguments: values });
  await bridge.sendToolResult(await result);
};
globalThis.clear = async () => {
  await shown.bridge.teardownResource({});
  shown.frame.remove();
  await shown.bridge.close();
};
globalThis.isReady = true;
