// A server at the other end of a pipe, spoken to in lines of JSON, so that a test sees what is on the wire and not what a
// client makes of it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const UI = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const CLIENT = { name: "wire", version: "1" };

/** Starts a server and speaks one revision of MCP with it. */
export async function openWire({ command, args = [] }, { version, ui = true }) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  exited.then(() => waiting.forEach((settle) => settle({ error: { message: "the server ended" } })));
  const capabilities = ui ? { extensions: UI } : {};
  const modern = version >= "2026";
  const stamp = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  let last = 0;
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  /** The whole answer, `result` or `error`. */
  const ask = (method, params = {}) => {
    const id = ++last;
    say({ id, method, params: modern ? { ...params, _meta: stamp } : params });
    return new Promise((settle) => waiting.set(id, ({ result, error }) => settle(error ? { error } : { result })));
  };
  const hello = modern
    ? await ask("server/discover")
    : await ask("initialize", { protocolVersion: version, capabilities, clientInfo: CLIENT });
  if (!modern) say({ method: "notifications/initialized" });
  return {
    hello,
    ask,
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}

/** Every place in which two values differ, as `path: ours ≠ theirs`. */
export function differences(ours, theirs, path = "") {
  const kind = (value) => (Array.isArray(value) ? "list" : value === null ? "null" : typeof value);
  if (kind(ours) !== kind(theirs) || !["list", "object"].includes(kind(ours)))
    return Object.is(ours, theirs) ? [] : [`${path}: ${JSON.stringify(ours)} ≠ ${JSON.stringify(theirs)}`];
  const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...keys].sort().flatMap((key) => differences(ours[key], theirs[key], `${path}/${key}`));
}
