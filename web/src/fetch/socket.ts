/** `WebSocket` over tool calls: what it sends goes one by one, and what comes is pulled. */
import { isObject, type Json } from "../wire.js";
import { handlers } from "./events.js";
import { fromBase64 } from "./response.js";
import { toBase64 } from "./request.js";
import type { CallStream } from "./stream.js";

type Data = string | Blob | ArrayBuffer | ArrayBufferView;
type End = { code: number; reason: string; wasClean: boolean };
type Handler = ((event: Event) => unknown) | null;

/** Makes the class, for connections whose address `ours` knows; the others are the browser's own. */
export function webSocketOver(
  call: CallStream,
  base: () => string,
  ours: (url: string) => boolean,
) {
  const native = globalThis.WebSocket;
  class WebSocket extends Carried {
    static override carry = call;
    constructor(address: string | URL, protocols: string | string[] = []) {
      const url = resolve(address, base());
      // A constructor may return another object, which is then what `new` gives.
      if (!ours(url.href.replace(/^ws/, "http")))
        return new native(url, protocols) as unknown as WebSocket;
      super(url, protocols);
    }
  }
  return WebSocket as unknown as typeof globalThis.WebSocket;
}

class Carried extends EventTarget {
  /** That of the class that is made of this one. */
  static carry: CallStream;
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readonly CLOSED = 3;
  readonly url: string;
  readonly extensions = "";
  protocol = "";
  readyState: 0 | 1 | 2 | 3 = 0;
  bufferedAmount = 0;
  declare onopen: Handler;
  declare onmessage: Handler;
  declare onerror: Handler;
  declare onclose: Handler;
  #binaryType: BinaryType = "blob";
  #gone = new AbortController();
  #connectionId: unknown;
  #seq = 0;
  /** One message after the other (WSK-6). */
  #queue = Promise.resolve();

  constructor(url: URL, protocols: string | string[]) {
    super();
    this.url = url.href;
    const asked = [protocols].flat().map(String);
    if (new Set(asked).size < asked.length || !asked.every(isToken))
      throw new DOMException(
        "a protocol is none, or there twice",
        "SyntaxError",
      );
    void this.#run(url.pathname + url.search, asked);
  }

  get binaryType() {
    return this.#binaryType;
  }

  set binaryType(type: BinaryType) {
    if (type === "blob" || type === "arraybuffer") this.#binaryType = type;
  }

  send(data: Data) {
    if (this.readyState === 0)
      throw new DOMException("still in CONNECTING state", "InvalidStateError");
    const whole = isBinary(data) ? data : new TextEncoder().encode(`${data}`);
    // Whoever sends a buffer may write into it the next moment.
    const bytes =
      whole instanceof Blob ? whole : new Uint8Array(copyOf(whole)).slice();
    const size = bytes instanceof Blob ? bytes.size : bytes.byteLength;
    this.bufferedAmount += size;
    if (this.readyState !== 1) return;
    this.#then(async () => {
      const sent =
        bytes instanceof Blob
          ? new Uint8Array(await bytes.arrayBuffer())
          : bytes;
      const payload = isBinary(data)
        ? { base64: toBase64(sent) }
        : { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(sent) };
      await this.#call("ws_send", { seq: this.#seq++, ...payload });
      this.bufferedAmount -= size;
    });
  }

  close(code?: number, reason?: string) {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code < 5000))
      throw new DOMException("no such code for a page", "InvalidAccessError");
    if (new TextEncoder().encode(reason ?? "").length > 123)
      throw new DOMException("the reason is too long", "SyntaxError");
    if (this.readyState > 1) return;
    const early = this.readyState === 0;
    this.readyState = 2;
    if (early) return this.#gone.abort();
    // After all that was sent before.
    this.#then(() =>
      this.#call("ws_close", {
        ...(code !== undefined && { code, reason: `${reason ?? ""}` }),
      }),
    );
  }

  #then(next: () => Promise<unknown>) {
    this.#queue = this.#queue.then(next).then(
      () => {},
      () => this.#gone.abort(),
    );
  }

  async #call(name: string, args: Json): Promise<Json> {
    const { carry } = this.constructor as typeof Carried;
    const connectionId = this.#connectionId;
    const { structuredContent: data, isError } = await carry(
      name,
      { ...(connectionId !== undefined && { connectionId }), ...args },
      this.#gone.signal,
    );
    if (isError || !isObject(data)) throw new Error(name);
    return data;
  }

  async #run(url: string, protocols: string[]) {
    try {
      const opened = await this.#call("ws_connect", { url, protocols });
      this.#connectionId = opened.connectionId;
      if (this.readyState > 1) throw new Error("closed meanwhile");
      this.protocol = `${opened.protocol ?? ""}`;
      this.readyState = 1;
      this.dispatchEvent(new Event("open"));
      for (let afterSeq = -1; ;) {
        const { messages, done, closed } = await this.#call("ws_receive", {
          ...(afterSeq >= 0 && { afterSeq }),
        });
        for (const message of Array.isArray(messages) ? messages : []) {
          if (!isObject(message) || !((message.seq as number) > afterSeq))
            continue;
          afterSeq = message.seq as number;
          this.#tell(message);
        }
        if (done) {
          // What was sent before is acknowledged first.
          await this.#queue;
          const end = { ...BROKEN, ...(closed as End) };
          // Where the other side is just gone, browsers speak of no error.
          return this.#end(end, !end.wasClean && end.code !== 1006);
        }
      }
    } catch {
      this.#end(BROKEN, true);
      const { carry } = this.constructor as typeof Carried;
      const connectionId = this.#connectionId;
      // Whatever went wrong here, the server shall not keep it.
      if (connectionId !== undefined)
        void carry("ws_close", { connectionId }, null).catch(() => {});
    }
  }

  #tell({ text, base64 }: Json) {
    if (this.readyState !== 1) return;
    const bytes =
      typeof text === "string" ? undefined : fromBase64(`${base64}`);
    const data = !bytes
      ? text
      : this.#binaryType === "blob"
        ? new Blob([bytes])
        : bytes.buffer;
    const { origin } = new URL(this.url);
    this.dispatchEvent(new MessageEvent("message", { data, origin }));
  }

  #end({ code, reason, wasClean }: End, failed: boolean) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#gone.abort();
    if (failed) this.dispatchEvent(new Event("error"));
    this.dispatchEvent(new CloseEvent("close", { code, reason, wasClean }));
  }
}

function isBinary(data: unknown): data is Blob | ArrayBuffer | ArrayBufferView {
  return (
    data instanceof Blob ||
    data instanceof ArrayBuffer ||
    ArrayBuffer.isView(data)
  );
}

function copyOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/** An address as browsers take it: of the page's own where it is relative, `http` as `ws` (WSK-2). */
function resolve(address: string | URL, base: string): URL {
  try {
    const url = new URL(address, base);
    url.protocol = url.protocol.replace(/^http/, "ws");
    if (/^wss?:$/.test(url.protocol) && !url.href.includes("#")) return url;
  } catch {
    // It is said below.
  }
  throw new DOMException(`"${address}" is no address`, "SyntaxError");
}

function isToken(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

/** An end without a goodbye. */
const BROKEN: End = { code: 1006, reason: "", wasClean: false };

handlers(Carried.prototype, ["open", "message", "error", "close"]);
