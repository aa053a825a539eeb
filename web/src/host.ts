/**
 * `<transom-view>`: mounts a Sandbox frame, carries its messages to a `Channel` and does as the channel
 * says. It has hands and no opinions: what a view may do is decided at the other end.
 *
 * The lane to the view (D15):
 *
 * ```text
 * window ──answer with the key──▶ offered ──initialized on the port──▶ port
 *    ▲                              └──initialized on the window──▶ window
 *    └──────────── ui/initialize on the window, from any ────────────┘
 * ```
 */
import type { Channel, Seat } from "./channel.js";
import {
  asMessage,
  LIMIT,
  textOf,
  type Ask,
  type Carried,
  type Container,
  type Facts,
  type Opened,
  type Said,
  type Told,
} from "./envelope.js";
import { bytesOf } from "./guard.js";
import { guard, hold, holds, tally, VIEWS, type Guarded } from "./keyboard.js";
import type { TransomViewEvents } from "./reports.js";
import { openLane, type Lane, type Stray } from "./port.js";
import {
  namesPort,
  parseMessage,
  type DisplayMode,
  type Json,
  type Message,
  type Request,
  type RequestId,
} from "./wire.js";

export { InPageChannel, WebSocketChannel } from "./channel.js";
export type { Channel, Seat, WebSocketOptions } from "./channel.js";
export { asMessage } from "./envelope.js";
export type * from "./reports.js";

/** What it is called without what all of them begin with. */
type Kind<E = keyof TransomViewEvents> = E extends `transom-${infer K}`
  ? K
  : never;

/** One view on a page. Give it a `channel` and an id in the attribute `view`. */
export class TransomView extends HTMLElement {
  static observedAttributes = ["view"];

  /** Which display modes the page offers. */
  modes: DisplayMode[] = ["inline", "fullscreen", "pip"];
  /** How many things arrived from the frame that were not carried on. */
  ignored = 0;
  /** A tool to call when the view opens; without it the host process already knows the view. */
  tool: Extract<Said, { open: unknown }>["open"]["tool"];
  /** What the page says of itself when the view opens; what changes later goes to `say({ context })`. */
  facts: Facts = {};

  readonly #box = document.createElement("div");
  #channel: Channel | undefined;
  #seat: Seat | undefined;
  #frame: HTMLIFrameElement | undefined;
  #window: Lane | undefined;
  #port: Lane | undefined;
  #lane: "window" | "offered" | "port" = "window";
  /** The handshake that asked for a port and has no answer yet. */
  #hello: RequestId | undefined;
  /** What waits until the view has chosen its lane. */
  #held: Carried[] = [];
  /** How much that is, in about the bytes that it takes. */
  #load = 0;
  /** What the page knows of the frame. */
  #it!: Guarded;
  #mode: DisplayMode = "inline";
  /** What the view wants to measure; it does as soon as no question is open. */
  readonly #size: { width?: number; height?: number } = {};
  readonly #watch = new ResizeObserver(() => this.fit());

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [SHEET];
    const button = Object.assign(document.createElement("button"), {
      textContent: "×",
      ariaLabel: "Close",
      onclick: () => this.#leave(),
    });
    Object.assign(this.#box, {
      className: this.#mode,
      // A stop between the frames of two views: a Tab that is pressed inside one is not heard on the page, the next one is.
      tabIndex: 0,
      // An `on…` handler that returns false cancels its event: every other key would be swallowed.
      onkeydown: ({ key }: KeyboardEvent) => {
        if (key === "Escape") this.#leave();
      },
      onfullscreenchange: () => {
        if (!root.fullscreenElement && this.#mode === "fullscreen")
          this.#leave();
      },
    }).append(button);
    root.append(this.#box);
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }
  set channel(channel: Channel | undefined) {
    this.#channel = channel;
    this.#restart();
  }

  /** Where the view is shown now. */
  get mode(): DisplayMode {
    return this.#mode;
  }

  /**
   * Holds every view of the page while a question is open, so that nothing which is meant for a view can answer it:
   * views go back inline and stay there, keep their size, and get neither the pointer nor the keyboard. Call
   * what it returns when the question is answered, before its dialog closes; then the sizes they asked for are taken.
   */
  static hold(): () => void {
    const release = hold();
    VIEWS.forEach(({ view }) => (view as TransomView).#leave());
    return () => {
      release();
      VIEWS.forEach(({ view }) => (view as TransomView).#resize({}));
    };
  }

  /** Gives the view the keyboard. What its script takes by itself is given back, or ends it (`focus`). */
  override focus(): void {
    this.#frame?.focus();
  }

  /** Asks the host process to end the view; it gets time to save. */
  close(): void {
    this.say({ close: { reason: "user" } });
  }

  connectedCallback(): void {
    this.#restart();
  }

  disconnectedCallback(): void {
    this.#end("gone");
  }

  attributeChangedCallback(): void {
    this.#restart();
  }

  #restart(): void {
    this.#end("gone");
    const view = this.getAttribute("view");
    if (!this.isConnected || !this.#channel || !view) return;
    this.#seat = this.#channel.join(view, (told) => this.#obey(told));
    this.say({
      open: {
        lanes: ["port"],
        modes: this.modes,
        container: this.#container(),
        context: this.facts,
        tool: this.tool!,
      },
    });
    this.#watch.observe(this);
  }

  /** Says something to the host process. */
  say(said: Said): void {
    this.#seat?.say(said);
  }

  #report<K extends Kind>(
    kind: K,
    detail: TransomViewEvents[`transom-${K}`]["detail"],
  ): boolean {
    return this.dispatchEvent(
      new CustomEvent("transom-" + kind, {
        detail,
        bubbles: true,
        composed: true,
        cancelable: true,
      }),
    );
  }

  #obey(told: Told): void {
    try {
      for (const kind in told) {
        const it = (told as Json)[kind] as never;
        if (kind === "message") this.#carry(it);
        else if (kind === "open") this.#mount(it);
        else if (kind === "mode")
          void this.#show((it as Json).mode as DisplayMode);
        else if (kind === "ask") {
          const answer = (choice: string) =>
            this.say({ answer: { id: (it as Ask).id, choice } });
          if (this.#report("ask", { ...(it as Ask), answer })) answer("deny");
        } else if (kind === "close") this.#end((it as Json).reason as string);
        else {
          // The rest is for the page to show or to do.
          if (kind === "text") this.#unmount();
          if (kind === "resize") this.#resize(it);
          this.#report(kind as "do", it);
        }
      }
    } catch {
      // One view's trouble must not reach the channel that it shares with others.
      this.#ignore();
    }
  }

  /**
   * Listens from the first moment on: a fast view speaks at once (H-46). Nothing that the frame says can
   * be heard before this task ends, so its address may come first; without one it would load an empty
   * page before its own.
   */
  #mount(opened: Opened): void {
    const { src, title, allow = "", border } = opened;
    const { href, origin } = new URL(src, location.href);
    if (!/^https?:/.test(href)) throw new TypeError("not a page");
    this.#unmount();
    this.toggleAttribute("border", !!border);
    const frame = (this.#frame = Object.assign(
      document.createElement("iframe"),
      {
        sandbox: "allow-scripts allow-same-origin allow-forms",
        allow,
        title: title ?? this.getAttribute("label") ?? "View",
        src: href,
      },
    ));
    this.#box.prepend(frame);
    this.#it = guard(frame, this, () => this.#stop("focus"));
    this.#window = openLane(
      frame.contentWindow!,
      (data) => this.#hear(data, opened),
      origin,
      (event) => this.#stray(event),
    );
    this.#report("open", opened);
  }

  /** What the view said on the window. */
  #hear(data: unknown, { resource }: Opened): boolean {
    const message = parseMessage(data);
    const method = methodOf(message)!;
    if (RESERVED.test(method)) {
      const { params = {} } = message as { params?: Json };
      if (method.endsWith("-stopped"))
        return this.#stop(params.reason === NOT_TEXT ? NOT_TEXT : "flood");
      if (method.endsWith("-dropped"))
        return this.#pass({ dropped: params }) && this.#ignore();
      if (method.endsWith("-active")) this.#it.asked.shift()?.(params.active);
      if (!method.endsWith("-ready")) return true;
      const tell = (word: string, params?: Json) =>
        this.#window?.send({
          jsonrpc: "2.0",
          method: "ui/notifications/sandbox-" + word,
          params,
        });
      // Only a sandbox that its guest cannot touch names it.
      if ((this.#it.home = params.guest))
        this.#it.ask = () =>
          new Promise((done) => {
            this.#it.asked.push(done);
            setTimeout(done, 2e3);
            tell("active");
          });
      // One resource per load of the sandbox page; what else it says is between it and us.
      if (resource) tell("resource-ready", resource);
      return true;
    }
    if (method === "ui/initialize")
      this.#begin(message as { id: RequestId; params?: Json });
    else if (this.#lane === "port") return this.#ignore();
    else if (this.#lane === "offered" && method === INITIALIZED)
      this.#settle("window");
    // Well formed or not: the host process judges what says that it is a message. Other traffic is not a view's word.
    return (data as Json)?.jsonrpc === "2.0"
      ? this.#pass({ message: data as Message })
      : this.#ignore();
  }

  /** A document says ui/initialize once: a second time it is another document. */
  #begin(hello?: { id: RequestId; params?: Json }): void {
    this.#port?.close();
    this.#port = undefined;
    this.#lane = "window";
    this.#held = [];
    this.#load = 0;
    this.#hello = namesPort(hello?.params?.appCapabilities)
      ? hello?.id
      : undefined;
  }

  /** What the view said on its port, which ends in the sandbox: it came on ours after it was measured there. */
  #hearPort(text: unknown): boolean {
    if (typeof text !== "string") return this.#stop(NOT_TEXT);
    if (this.#lane === "offered") {
      if (text.length > 999 || methodOf(asMessage(text)) !== INITIALIZED)
        return this.#ignore();
      this.#settle("port");
    }
    // As it came, JSON or not: the host process judges it.
    return this.#pass({ message: text });
  }

  /**
   * The view wrote to this page itself, past its sandbox. The sandbox did not measure that, so the page does not read it; but it takes the
   * page's time to receive, and a large one takes it from every view. Some libraries do it once; whoever does
   * it more often than five times within minutes is ended. A frame that is gone by now has left its origin: of several views
   * that have it nobody knows whose it was, so that two are charged a twentieth each, and three a twentieth of that.
   */
  #stray({ source, origin }: Parameters<Stray>[0]): void {
    // Every origin may see who is above it.
    let window = source as Window | null;
    for (
      ;
      source && window !== this.#frame!.contentWindow;
      window = window.parent
    )
      if (!window || window === window.parent) return;
    let share = 1;
    if (!source) {
      if (origin !== this.#it.home) return;
      share = 20;
      VIEWS.forEach(({ home }) => home === origin && (share /= 20));
    }
    this.ignored++;
    if (tally(this.#it.strays, share) > 5) this.#stop("past-sandbox");
  }

  /** The frame goes at once; what is said of it comes from the host process. */
  #stop(reason: "flood" | "past-sandbox" | "focus" | typeof NOT_TEXT): true {
    this.say({ close: { reason } });
    this.#unmount();
    return true;
  }

  #pass(said: Said): boolean {
    try {
      this.say(said);
      return true;
    } catch {
      // A clone can hold what JSON cannot: cycles, big integers. That it came is told all the same.
      this.say({ dropped: {} });
      return this.#ignore();
    }
  }

  #ignore(): boolean {
    this.ignored++;
    return false;
  }

  /** Takes a message to the view, on the lane that it has chosen. */
  #carry(carried: Carried): void {
    if (this.#hello !== undefined) {
      const message = asMessage(carried);
      if (!("method" in message) && message.id === this.#hello)
        return this.#answer(message);
    }
    if (this.#lane === "offered") {
      // Our views choose before they ask anything; one that goes on asking and does not choose is ended, since what is
      // kept here is the page's memory.
      this.#held.push(carried);
      this.#load += LIMIT / 512 + bytesOf(`${carried}`);
      if (this.#load > 2 * LIMIT) this.#stop("flood");
    } else if (this.#lane === "port") this.#port!.send(textOf(carried));
    else this.#window?.send(asMessage(carried));
  }

  /** The answer to the handshake brings the port, if whoever wrote it agreed. */
  #answer(message: Message): void {
    this.#hello = undefined;
    if (!namesPort(message.result?.hostCapabilities))
      return this.#window?.send(message);
    const { port1, port2 } = new MessageChannel();
    this.#port = openLane(port1, (text) => this.#hearPort(text));
    this.#lane = "offered";
    this.#window?.send(message, [port2]);
  }

  #settle(lane: "window" | "port"): void {
    this.#lane = lane;
    if (lane === "window") this.#port?.close();
    this.#report("lane", { lane });
    for (const carried of this.#held.splice(0)) this.#carry(carried);
  }

  #resize(size: { width?: number; height?: number }): void {
    const all = Object.assign(this.#size, size);
    for (const side in holds ? {} : all)
      this.#box.style.setProperty(`--${side}`, `${all[side as "width"]}px`);
  }

  /** Tells how much room there is; call it when the window changed. */
  fit(): void {
    this.say({ resize: this.#container() });
  }

  /** In flow a view may grow up to most of the window; in fullscreen it has all of it (H-84). */
  #container(): Container {
    const { clientWidth: width, clientHeight: height } = this.#box;
    return this.#mode === "fullscreen"
      ? { width, height }
      : { width, maxHeight: (innerHeight * 0.8) | 0 };
  }

  #leave(): void {
    if (this.#mode !== "inline") void this.#show("inline");
  }

  /** Changes where the view is shown without moving it in the document, so that it never reloads. */
  async #show(mode: DisplayMode): Promise<void> {
    const box = this.#box;
    const whole = () => this.shadowRoot!.fullscreenElement;
    if (this.modes.includes(mode)) this.#mode = mode;
    if (holds) this.#mode = "inline";
    const shown = this.#mode;
    box.className = shown;
    if (whole()) await document.exitFullscreen();
    if (box.popover) box.hidePopover();
    box.popover = null;
    if (shown !== "inline") {
      // The browser's own fullscreen lets Escape work from inside the view, but needs a recent click.
      if (shown === "fullscreen") await box.requestFullscreen().catch(() => {});
      // The browser took its time, and a question has come up meanwhile.
      if (this.#mode !== shown) {
        if (whole()) await document.exitFullscreen();
        return;
      }
      if (!whole()) {
        box.popover = "manual";
        box.showPopover();
      }
    }
    this.fit();
    const now = { mode: this.#mode };
    this.say({ mode: now });
    this.#report("mode", now);
  }

  #end(reason: string): void {
    if (!this.#seat) return;
    if (reason === "gone") this.say({ close: { reason } });
    this.#seat.leave();
    this.#seat = undefined;
    this.#watch.disconnect();
    this.#unmount();
    this.#report("close", { reason });
  }

  #unmount(): void {
    this.#window?.close();
    this.#frame?.remove();
    VIEWS.delete(this.#frame!);
    this.#frame = this.#window = undefined;
    this.#leave();
    this.#begin();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "transom-view": TransomView;
  }
  interface HTMLElementEventMap extends TransomViewEvents {}
}

const methodOf = (message?: Message) => (message as Partial<Request>)?.method;

/** Makes `<transom-view>` known to the page. */
export function define(): void {
  if (!customElements.get("transom-view"))
    customElements.define("transom-view", TransomView);
}

const NOT_TEXT = "not-text";
const INITIALIZED = "ui/notifications/initialized";
const RESERVED = /^ui\/(notifications\/)?sandbox-/;

/** A constructed sheet needs no exception in the page's policy, and one serves all. */
const SHEET = new CSSStyleSheet();
SHEET.replaceSync(`:host{display:block}div{padding:0;border:0;background:Canvas;color-scheme:light dark;position:relative}\
:host([border]) .inline,.pip{border:1px solid GrayText;border-radius:8px;overflow:hidden}\
iframe{display:block;border:0;width:100%;height:var(--height)}\
button{position:absolute;inset:8px 8px auto auto;font-size:20px}\
.inline button{display:none}\
.fullscreen,.fullscreen iframe{margin:0;width:100%;height:100%}\
.pip{width:min(var(--width,360px),90vw);inset:auto 8px 8px auto;max-height:80vh}`);

define();
