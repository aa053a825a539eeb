/** One View's channel to its Host, as JSON-RPC: what we ask and wait for, and what the Host asks and is answered. */
import { openCalls, type RequestOptions } from "./calls.js";
import { TransomError } from "./error.js";
import { eventOf, type Events } from "./events.js";
import type { PostMessageTransport, Transport } from "./transport.js";
import type { App } from "./view.js";
import type {
  ErrorObject,
  Json,
  Message,
  Progress,
  Request,
  Unsigned,
} from "./wire.js";

/** Hears a notification, or answers a request. */
export type Handler = (...args: never[]) => unknown;

/** A channel, which may have something to offer in the handshake. */
export type Lane = Transport & Partial<PostMessageTransport>;

/** Begins without a channel. `close` is called when the other end closes the channel, or did not want to shake hands. */
export function openPeer(
  app: App,
  { emit, get }: Events,
  failed: (error: unknown) => void,
  close: () => void,
) {
  let transport: Lane | undefined;
  /** The Host's requests that we have not answered yet. */
  const answering = new Map<unknown, AbortController>();

  const send = async (message: Unsigned<Message>) => {
    if (!transport) throw new TransomError("NotConnected");
    (message as Message).jsonrpc = "2.0";
    await transport.send(message as Message);
  };
  const { call, tell, end } = openCalls(send);

  const hear = (message: Message): void | Promise<void> => {
    if (!("method" in message))
      return tell(message.id, message.error, message.result);
    const { method, params = {} } = message;
    const event = eventOf(method);
    if ("id" in message)
      return answer(app, message, answering, get(event), send).catch(failed);
    if (method === "notifications/progress")
      tell(params.progressToken, null, null, params as Progress);
    if (method === "notifications/cancelled")
      answering.get(params.requestId)?.abort();
    // A result without content is an empty one (V-29).
    emit(event, event === "toolresult" ? { content: [], ...params } : params);
  };

  return {
    send,
    call,
    /** Starts on a channel, in place of the one before, and shakes hands with who is there. */
    async begin(lane: Lane, hello: Json, options?: RequestOptions) {
      transport = lane;
      // A channel that we have left may still have something to say.
      lane.onmessage = (message) => transport === lane && hear(message);
      lane.onclose = close;
      await lane.start();
      if (transport !== lane) throw new TransomError("Closed");
      return call("ui/initialize", hello, options).catch((error) => {
        // Only what this attempt opened is closed: another one may have begun since.
        if (transport === lane) close();
        throw error;
      });
    },
    /** Leaves the channel, if there is one, and settles what waits on either side. */
    async depart() {
      const lane = transport;
      transport = undefined;
      end();
      answering.forEach((controller) => controller.abort());
      await lane?.close();
      return lane;
    },
  };
}

/** Answers a request of the Host, unless it is cancelled meanwhile. */
async function answer(
  app: App,
  { id, method, params = {} }: Request,
  answering: Map<unknown, AbortController>,
  handler: Handler | undefined,
  reply: (message: Unsigned<Message>) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  let answer: { result: Json } | { error: ErrorObject };
  answering.set(id, controller);
  try {
    if (!handler) throw new TransomError(-32601, `${method} not found`);
    const { _meta } = params;
    const { request: send, notification: notify } = app;
    const extra = {
      signal,
      _meta,
      requestId: id,
      sendRequest: send,
      sendNotification: notify,
      mcpReq: { signal, _meta, id, method, send, notify },
    };
    // A handler that returns nothing still answers with an object (V-23).
    answer = {
      result: ((await handler(params as never, extra as never)) ?? {}) as Json,
    };
  } catch (thrown) {
    const { code, message = `${thrown}` } = Object(thrown) as ErrorObject;
    answer = {
      error: { code: Number.isInteger(code) ? code : -32603, message },
    };
  }
  answering.delete(id);
  if (!signal.aborted) await reply({ id, ...answer });
}
