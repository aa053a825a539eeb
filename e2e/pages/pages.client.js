// An outer page with the official client on it, for the sample pages.
import { Client } from "@modelcontextprotocol/client";
import { IframeControl, OuterFrameTransport, PopupControl } from "../../web/src/frames/index.ts";

const servers = new Map();

/** How a promise ended, in words that cross to the test. */
const settled = (promise) =>
  promise.then(
    (value) => ({ value }),
    ({ code, message }) => ({ error: { code, message } }),
  );

/** Prepares a connection under a name; nothing is opened yet. */
globalThis.prepare = (name, url, { popup, ...options } = {}) => {
  const control = popup ? new PopupControl() : new IframeControl({ container: document.body });
  const transport = new OuterFrameTransport({ url, control, ...options });
  servers.set(name, { control, transport, progress: [], updates: [] });
  attend(name, transport);
  return transport.session;
};
function attend(name, transport) {
  transport.onsetuprequired = (required) => ear.hear(`${name} required`, required);
}
globalThis.setUp = (name, options) => settled(servers.get(name).transport.setup(options));
globalThis.connect = (name) => {
  const server = servers.get(name);
  server.client = new Client({ name: "test", version: "1" });
  server.client.setNotificationHandler("notifications/resources/updated", ({ params }) => ear.hear(`${name} updated`, params.uri));
  return settled(server.client.connect(server.transport).then(() => "open"));
};
/** A fresh transport for the same session, as after a required setup. */
globalThis.again = async (name) => {
  const server = servers.get(name);
  const next = server.transport.again();
  await server.transport.close();
  server.transport = next;
  attend(name, next);
};
globalThis.tools = async (name) => (await servers.get(name).client.listTools()).tools;
globalThis.call = (name, tool, args = {}, { cancelled } = {}) => {
  const server = servers.get(name);
  const controller = new AbortController();
  server.progress = [];
  const onprogress = ({ progress }) => server.progress.push(progress);
  const answer = server.client.callTool({ name: tool, arguments: args }, { onprogress, signal: controller.signal });
  // Sent, and then taken back.
  if (cancelled) queueMicrotask(() => controller.abort());
  return settled(answer);
};
globalThis.progressOf = (name) => servers.get(name).progress;
globalThis.read = (name, uri) => servers.get(name).client.readResource({ uri });
globalThis.show = (name) => servers.get(name).control.show();
globalThis.hide = (name) => servers.get(name).control.hide();
globalThis.shut = (name) => servers.get(name).transport.close();
