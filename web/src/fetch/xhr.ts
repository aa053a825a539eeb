/** `XMLHttpRequest` over a carried `fetch`. */
import { handlers } from "./events.js";

type Fetch = typeof fetch;
type Sent = XMLHttpRequestBodyInit | Document | null;

const EVENTS = [
  "loadstart",
  "progress",
  "abort",
  "error",
  "load",
  "timeout",
  "loadend",
];
const STATES = {
  UNSENT: 0,
  OPENED: 1,
  HEADERS_RECEIVED: 2,
  LOADING: 3,
  DONE: 4,
};

/** Makes the class, for requests that are carried by this `fetch`. */
export function xhrOver(carried: Fetch, base: () => string) {
  class XMLHttpRequest extends Carried {
    static override carried = carried;
    static override base = base;
  }
  return XMLHttpRequest as unknown as typeof globalThis.XMLHttpRequest;
}

class XMLHttpRequestUpload extends EventTarget {}
class Carried extends EventTarget {
  /** Those of the class that is made of this one. */
  static carried: Fetch;
  static base: () => string;
  readonly upload = new XMLHttpRequestUpload();
  readyState = 0;
  status = 0;
  statusText = "";
  responseURL = "";
  #method = "";
  #url = "";
  #headers = new Headers();
  #sent: { at: number; stop: AbortController } | undefined;
  #uploading = false;
  #timeout = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #credentials = false;
  #type: XMLHttpRequestResponseType = "";
  #mime = "";
  #got: Headers | undefined;
  #chunks: Uint8Array<ArrayBuffer>[] = [];
  #made: unknown;

  open(method: string, url: string | URL, async = true) {
    method = `${method}`;
    if (!TOKEN.test(method)) throw wrong("SyntaxError", "the method is none");
    if (/^(connect|trace|track)$/i.test(method))
      throw wrong("SecurityError", "no page can send this method");
    let address: URL;
    try {
      address = new URL(url, this.#class.base());
    } catch {
      throw wrong("SyntaxError", "the address is none");
    }
    // The page would stand still until a host has answered (XHR-8).
    if (!async) throw wrong("InvalidAccessError", "it cannot be synchronous");
    this.#stop();
    this.#method = /^(delete|get|head|options|post|put)$/i.test(method)
      ? method.toUpperCase()
      : method;
    this.#url = address.href;
    this.#headers = new Headers();
    this.#reset();
    if (this.readyState !== 1) this.#enter(1);
  }

  setRequestHeader(name: string, value: string) {
    this.#needsOpen();
    try {
      this.#headers.append(name, value);
    } catch {
      throw wrong("SyntaxError", "the header is none");
    }
  }

  send(body: Sent = null) {
    this.#needsOpen();
    if (this.#method === "GET" || this.#method === "HEAD") body = null;
    if (globalThis.Document && body instanceof Document) {
      if (!this.#headers.has("content-type"))
        this.#headers.set(
          "content-type",
          `${body.contentType === "text/html" ? "text/html" : "application/xml"};charset=UTF-8`,
        );
      body = new XMLSerializer().serializeToString(body);
    }
    const sent = { at: performance.now(), stop: new AbortController() };
    this.#sent = sent;
    this.#uploading = body !== null;
    this.#wait();
    this.#tell(this, "loadstart", 0);
    if (this.#uploading) this.#tell(this.upload, "loadstart", 0, sizeOf(body));
    // Whoever opened or aborted it in one of these has another one now.
    if (this.#sent === sent) void this.#run(body as BodyInit | null, sent);
  }

  abort() {
    if (this.#sent) this.#fail("abort");
    else this.#stop();
    if (this.readyState === 4) {
      this.readyState = 0;
      this.#reset();
    }
  }

  getResponseHeader(name: string): string | null {
    try {
      return this.#got?.get(name) ?? null;
    } catch {
      return null;
    }
  }

  /** Sorted, and with an end to every line, which others rely on (XHR-4). */
  getAllResponseHeaders(): string {
    return [...(this.#got ?? [])]
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
  }

  overrideMimeType(mime: string) {
    if (this.readyState > 2) throw wrong("InvalidStateError", "it is too late");
    this.#mime = `${mime}`;
  }

  get timeout() {
    return this.#timeout;
  }
  set timeout(ms: number) {
    this.#timeout = ms;
    if (this.#sent) this.#wait();
  }
  get withCredentials() {
    return this.#credentials;
  }
  set withCredentials(value: boolean) {
    if (this.#sent || this.readyState > 1)
      throw wrong("InvalidStateError", "it is too late");
    this.#credentials = value;
  }
  get responseType() {
    return this.#type;
  }
  set responseType(type: XMLHttpRequestResponseType) {
    if (this.readyState > 2) throw wrong("InvalidStateError", "it is too late");
    if (TYPES.includes(type)) this.#type = type;
  }

  get responseText(): string {
    if (this.#type !== "" && this.#type !== "text")
      throw wrong("InvalidStateError", "the response is no text");
    return this.readyState < 3 ? "" : this.#text();
  }
  get responseXML(): Document | null {
    if (this.#type !== "" && this.#type !== "document")
      throw wrong("InvalidStateError", "the response is no document");
    return this.readyState === 4 ? (this.#document() as Document | null) : null;
  }
  get response(): unknown {
    if (this.#type === "" || this.#type === "text") return this.responseText;
    if (this.readyState !== 4 || !this.#got) return null;
    return (this.#made ??= this.#make());
  }

  async #run(body: BodyInit | null, sent: { stop: AbortController }) {
    const { signal } = sent.stop;
    try {
      const response = await this.#class.carried(this.#url, {
        method: this.#method,
        headers: this.#headers,
        body,
        signal,
        credentials: this.#credentials ? "include" : "same-origin",
      });
      if (signal.aborted) return;
      const size = sizeOf(body);
      if (this.#uploading) {
        this.#uploading = false;
        for (const name of ["progress", "load", "loadend"])
          this.#tell(this.upload, name, size, size);
      }
      this.status = response.status;
      this.statusText = response.statusText;
      this.responseURL = response.url.split("#")[0]!;
      this.#got = response.headers;
      this.#enter(2);
      let loaded = 0;
      const reader = response.body?.getReader();
      while (reader && !signal.aborted) {
        const { value, done } = await reader.read();
        if (done || signal.aborted) break;
        this.#chunks.push(value);
        loaded += value.length;
        this.#enter(3);
        if (!signal.aborted) this.#tell(this, "progress", loaded);
      }
      if (signal.aborted) return;
      this.#stop();
      this.#enter(4);
      this.#tell(this, "load", loaded);
      this.#tell(this, "loadend", loaded);
    } catch {
      if (!signal.aborted) this.#fail("error");
    }
  }

  /** The end that is none: nothing of the response is left (XHR-6, XHR-7). */
  #fail(event: string) {
    this.#stop();
    this.#reset();
    this.#enter(4);
    if (this.#uploading) {
      this.#uploading = false;
      this.#tell(this.upload, event, 0);
      this.#tell(this.upload, "loadend", 0);
    }
    this.#tell(this, event, 0);
    this.#tell(this, "loadend", 0);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#sent?.stop.abort();
    this.#sent = undefined;
  }

  #reset() {
    this.status = 0;
    this.statusText = this.responseURL = "";
    this.#got = this.#made = undefined;
    this.#chunks = [];
  }

  /** Counted from the beginning, whenever it is set (XHR-5). */
  #wait() {
    clearTimeout(this.#timer);
    if (this.#timeout)
      this.#timer = setTimeout(
        () => this.#fail("timeout"),
        this.#sent!.at + this.#timeout - performance.now(),
      );
  }

  get #class() {
    return this.constructor as typeof Carried;
  }

  #needsOpen() {
    if (this.readyState !== 1 || this.#sent)
      throw wrong("InvalidStateError", "it is not open, or has been sent");
  }

  #enter(state: number) {
    this.readyState = state;
    this.dispatchEvent(new Event("readystatechange"));
  }

  #tell(target: EventTarget, name: string, loaded: number, total = 0) {
    const lengthComputable = total > 0;
    target.dispatchEvent(
      new ProgressEvent(name, { loaded, total, lengthComputable }),
    );
  }

  #mimeType(): string {
    return this.#mime || (this.#got?.get("content-type") ?? "");
  }

  #text(
    label = /charset="?([^";\s]+)/i.exec(this.#mimeType())?.[1] ?? "utf-8",
  ): string {
    let decoder: TextDecoder;
    try {
      decoder = new TextDecoder(label);
    } catch {
      decoder = new TextDecoder();
    }
    const pieces = this.#chunks.map((bytes) =>
      decoder.decode(bytes, { stream: true }),
    );
    return pieces.join("") + decoder.decode();
  }

  #document(): unknown {
    const [mime = ""] = (this.#mimeType() || "text/xml").split(";");
    const html = /^\s*text\/html\s*$/i.test(mime);
    if (!this.#chunks.length || (html && this.#type === "")) return null;
    if (!html && !/xml\s*$/i.test(mime)) return null;
    const found = new DOMParser().parseFromString(
      this.#text(),
      html ? "text/html" : "text/xml",
    );
    return found.querySelector("parsererror") ? null : found;
  }

  #make(): unknown {
    const blob = new Blob(this.#chunks, {
      type: this.#mimeType() || "text/xml",
    });
    switch (this.#type) {
      case "arraybuffer":
        return join(this.#chunks).buffer;
      case "blob":
        return blob;
      case "document":
        return this.#document();
      default:
        try {
          return JSON.parse(this.#text("utf-8")) as unknown;
        } catch {
          return null;
        }
    }
  }

  get [Symbol.toStringTag]() {
    return "XMLHttpRequest";
  }
}
for (const target of [Carried, Carried.prototype])
  for (const [name, value] of Object.entries(STATES))
    Object.defineProperty(target, name, { value, enumerable: true });
handlers(Carried.prototype, ["readystatechange", ...EVENTS]);
handlers(XMLHttpRequestUpload.prototype, EVENTS);

function sizeOf(body: unknown): number {
  if (typeof body === "string") return new TextEncoder().encode(body).length;
  if (body instanceof Blob) return body.size;
  if (body instanceof URLSearchParams) return `${body}`.length;
  return (body as ArrayBuffer | null)?.byteLength ?? 0;
}

function join(chunks: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(
    chunks.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function wrong(name: string, words: string): DOMException {
  return new DOMException(words, name);
}

// Written as text: the quotes in it would be taken for those of a string.
const TOKEN = new RegExp("^[!#$%&'*+.^`|~\\w-]+$");
const TYPES = ["", "text", "json", "arraybuffer", "blob", "document"];
