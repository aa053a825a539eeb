/**
 * `<transom-view>`: mounts a Sandbox frame, carries its messages to a `Channel` and does as the channel
 * says. It has hands and no opinions: what a view may do is decided at the other end.
 */
import type { Channel, Seat } from "./channel.js";
import type { Ask, Container, Facts, Opened, Said, Told } from "./envelope.js";
import { guard, hold, holds, tally, VIEWS, type Guarded } from "./keyboard.js";
import { Lanes } from "./lanes.js";
import { isInside, openLane, type Lane, type Stray } from "./port.js";
import type { EventKind, TransomViewEvents } from "./reports.js";
import { SHEET } from "./sheet.js";
import type { DisplayMode, Json, Request } from "./wire.js";

export { InPageChannel, WebSocketChannel } from "./channel.js";
export type { Channel, Seat, WebSocketOptions } from "./channel.js";
export { asMessage } from "./envelope.js";
export type * from "./reports.js";

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
  /**
   * Whether the element waits for its view: set it before the channel, and what every view needs is loaded ahead, in a process
   * of its own. `open()` ends the wait, with the `tool` of that moment. Hide the element as long as it waits.
   */
  spare = false;

  readonly #box = document.createElement("div");
  #channel: Channel | undefined;
  #seat: Seat | undefined;
  #frame: HTMLIFrameElement | undefined;
  #window: Lane | undefined;
  readonly #lanes = new Lanes({
    post: (message, ports) => this.#window?.send(message, ports),
    pass: (message) => this.#pass({ message }),
    chosen: (lane) => this.#report("lane", { lane }),
    stop: (reason) => this.#stop(reason),
  });
  /** What the page knows of the frame. */
  #it!: Guarded;
  /** The address of the frame, when all of it is loaded that can be before there is a view. */
  #warm: string | undefined;
  #mode: DisplayMode = "inline";
  /** What the view wants to measure; it does as soon as no question is open. */
  readonly #size: { width?: number; height?: number } = {};

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
    new ResizeObserver(() => this.fit()).observe(this);
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }
  set channel(channel: Channel | undefined) {
    this.#channel = channel;
    this.connectedCallback();
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

  disconnectedCallback(): void {
    this.#end("gone");
  }

  attributeChangedCallback(): void {
    this.connectedCallback();
  }

  connectedCallback(): void {
    this.#end("gone");
    const view = this.getAttribute("view");
    if (!this.isConnected || !this.#channel || !view) return;
    this.#seat = this.#channel.join(view, (told) => this.#obey(told));
    if (this.spare) this.say({ spare: {} });
    else this.open();
  }

  /** Opens the view, by itself or in the frame that was loaded ahead. Call it where `spare` was set; otherwise it opens by itself. */
  open(): void {
    const spare = !!this.#warm;
    this.spare = false;
    // What has not come so far by now would come while the view opens, and be taken for it.
    if (!spare) this.#unmount();
    this.say({
      open: {
        lanes: ["port"],
        modes: this.modes,
        container: this.#container(),
        context: this.facts,
        tool: this.tool!,
        spare,
      },
    });
  }

  /** Says something to the host process. */
  say(said: Said): void {
    this.#seat?.say(said);
  }

  #report<K extends EventKind>(
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
        if (kind === "message") this.#lanes.carry(it);
        else if (kind === "open" || (this.spare && kind === "spare"))
          this.#mount(it);
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
    let frame = this.#frame!;
    // What a frame may use is settled when it loads. One whose process has ended meanwhile has no porch in it.
    if (this.#warm === href && !allow && frame.contentWindow!.length) {
      this.#warm = undefined;
      // The porch shows its guest at the first word.
      this.#window!.send({});
    } else {
      this.#unmount();
      frame = this.#frame = Object.assign(document.createElement("iframe"), {
        sandbox: "allow-scripts allow-same-origin allow-forms",
        allow,
        src: href,
      });
      this.#box.prepend(frame);
      this.#it = guard(frame, this, () => this.#stop("focus"));
      this.#window = openLane(
        frame.contentWindow!,
        (data) => this.#hear(data, opened),
        origin,
        (event) => this.#stray(event),
      );
    }
    this.toggleAttribute("border", !!border);
    frame.title = title ?? this.getAttribute("label") ?? "View";
    if (!this.spare) this.#report("open", opened);
  }

  /** What the view said on the window. */
  #hear(data: unknown, { resource }: Opened): unknown {
    const message = Object(data) as Request;
    const { method, params = {} } = message;
    // What is no text is no word: a list of one word would read like it.
    const word = typeof method === "string" && RESERVED.exec(method)?.[2];
    if (word) {
      if (word === "stopped")
        return this.#stop(params.reason === "not-text" ? "not-text" : "flood");
      if (word === "dropped")
        return this.#pass({ dropped: params }) && this.#ignore();
      if (word === "active") this.#it.asked.shift()?.(params.active);
      if (word !== "proxy-ready") return true;
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
    // Of a frame that waits only its porch can say anything, and what it says is that it is there.
    if (this.spare) return (this.#warm = this.#frame!.src);
    // Well formed or not: the host process judges what says that it is a message, ours or mcp-ui's. Other traffic is not a view's word.
    return this.#lanes.heard(message) &&
      (message.jsonrpc === "2.0" || (message as Json).type)
      ? this.#pass({ message })
      : this.#ignore();
  }

  /**
   * The view wrote to this page itself, past its sandbox. The sandbox did not measure that, so the page does not read it; but it takes the
   * page's time to receive, and a large one takes it from every view. Some libraries do it once; whoever does
   * it more often than five times within minutes is ended. A frame that is gone by now has left its origin: when several views
   * have it, it is not known whose it was, so that two are charged a twentieth each, and three a twentieth of that.
   */
  #stray({ source, origin }: Parameters<Stray>[0]): void {
    if (
      source
        ? !isInside(source, this.#frame!.contentWindow)
        : origin !== this.#it.home
    )
      return;
    let share = source ? 1 : 20;
    if (!source) VIEWS.forEach(({ home }) => home === origin && (share /= 20));
    this.ignored++;
    if (tally(this.#it.strays, share) > 5) this.#stop("past-sandbox");
  }

  /** The frame goes at once; what is said of it comes from the host process. */
  #stop(reason: "flood" | "past-sandbox" | "focus" | "not-text"): true {
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
    // Hides it too, if it was one.
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
    this.#unmount();
    this.#report("close", { reason });
  }

  #unmount(): void {
    this.#window?.close();
    this.#frame?.remove();
    VIEWS.delete(this.#frame!);
    this.#frame = this.#window = this.#warm = undefined;
    this.#leave();
    this.#lanes.begin();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "transom-view": TransomView;
  }
}

/** Makes `<transom-view>` known to the page. */
export function define(): void {
  if (!customElements.get("transom-view"))
    customElements.define("transom-view", TransomView);
}

const RESERVED = /^ui\/(notifications\/)?sandbox-(.*)/;

define();
