// A page that wants into somebody else's connection. `frameAttack` posts all eight messages, and ours, to a window.
globalThis.received = [];
addEventListener("message", ({ origin, data, ports }) =>
  received.push({ origin, type: data?.type, text: JSON.stringify(data), ports: ports.length }),
);
globalThis.eight = (sessionId = "attacker") => [
  { type: "MCP_SETUP_HANDSHAKE", protocolVersion: "1.0", requiresVisibleSetup: true },
  { type: "MCP_SETUP_HANDSHAKE_REPLY", protocolVersion: "1.0", sessionId },
  {
    type: "MCP_SETUP_COMPLETE",
    status: "success",
    serverTitle: "Your bank",
    transportVisibility: { requirement: "required" },
  },
  { type: "MCP_TRANSPORT_HANDSHAKE", protocolVersion: "1.0" },
  { type: "MCP_TRANSPORT_HANDSHAKE_REPLY", protocolVersion: "1.0", sessionId },
  { type: "MCP_TRANSPORT_ACCEPTED", sessionId },
  { type: "MCP_SETUP_REQUIRED", reason: "OTHER", message: "evil", canContinue: false },
  { type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", id: 0, result: { evil: true } } },
  { type: "MCP_MESSAGE", payload: { jsonrpc: "2.0", id: 1, method: "evil" } },
  { type: "MCPX_CLOSE", sessionId, reason: "closed" },
  { type: "MCPX_PORT" },
];
globalThis.frameAttack = (target, sessionId) => {
  // Marked, so that a test knows when all have arrived; nobody reads the mark but the test.
  for (const message of eight(sessionId)) target.postMessage({ ...message, attack: true }, "*");
  return eight().length;
};
