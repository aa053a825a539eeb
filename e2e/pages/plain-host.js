// A host as ext-apps' guide builds one: an AppBridge that is given an MCP client, and forwards by itself. The client's pipe is held by the test.
globalThis.openHost = async (frame) => {
  const pipe = { async start() {}, send: (message) => writeLine(JSON.stringify(message)), async close() {} };
  globalThis.hearLine = (line) => pipe.onmessage?.(JSON.parse(line));
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  const client = new Client({ name: "plain-host", version: "1" }, { capabilities: { extensions } });
  await client.connect(pipe);
  const bridge = new peer.AppBridge(client, { name: "plain-host", version: "1" }, { serverTools: {} });
  bridge.oninitialized = () => ear.hear("initialized");
  await bridge.connect(new peer.PostMessageTransport(frame.contentWindow, frame.contentWindow));
  return { bridge, client };
};
