/** The windows that the outer side opens: a frame in its page, or a popup. Here is all that touches the document. */
import { FrameError } from "./error.js";

/** Opens, shows, hides and closes one window. A new one is made for each phase. */
export type WindowControl = {
  readonly kind: "iframe" | "popup";
  /** True when the page runs without an origin of its own, and is reached through a port. */
  readonly opaque: boolean;
  /** How often the window has loaded a page; nothing where a window does not tell. */
  readonly loads: number | undefined;
  /** True once the window was closed or taken away by another script. */
  readonly gone: boolean;
  /** Makes a new window that shows nothing yet; throws a `FrameError` when it cannot. */
  open(origin: string, permissions: readonly string[]): Window;
  navigate(url: string): void;
  show(): void;
  hide(): void;
  destroy(): void;
};

/** How a frame is made. */
export type IframeOptions = {
  /** Where the frame stands; the body unless told. Moving the frame later would reload it. */
  container?: Element;
  /** What a screen reader calls the frame. */
  title?: string;
  /** Runs the page without an origin: no storage, and nothing of its own site's. The page must expect it. */
  opaque?: boolean;
  /** Sandbox tokens beside `allow-scripts`, `allow-forms` and `allow-same-origin`. */
  sandbox?: readonly string[];
  className?: string;
};

/** A sandboxed frame in this page. */
export class IframeControl implements WindowControl {
  readonly kind = "iframe";
  readonly opaque: boolean;
  readonly #options: IframeOptions;
  #frame: HTMLIFrameElement | undefined;
  #loads = 0;

  constructor(options: IframeOptions = {}) {
    this.#options = options;
    this.opaque = options.opaque === true;
  }

  /** The frame, while there is one. */
  get frame(): HTMLIFrameElement | undefined {
    return this.#frame;
  }
  get loads(): number {
    return this.#loads;
  }
  get gone(): boolean {
    return this.#frame !== undefined && !this.#frame.isConnected;
  }

  open(origin: string, permissions: readonly string[]): Window {
    const { sandbox = [], title = "MCP page", className } = this.#options;
    // With both, a page of our own origin could take its sandbox off.
    if (!this.opaque && origin === self.origin)
      throw new FrameError(
        "SAME_ORIGIN",
        `${origin} is this page's own origin: a frame of it must be opaque, or be served from another origin`,
      );
    const frame = document.createElement("iframe");
    const tokens = ["allow-scripts", "allow-forms", ...sandbox].filter(
      (token) => token !== "allow-same-origin",
    );
    if (!this.opaque) tokens.push("allow-same-origin");
    // Both are read when the page begins to load. An opaque origin cannot be named, and is granted nothing.
    frame.setAttribute("sandbox", tokens.join(" "));
    frame.setAttribute(
      "allow",
      this.opaque
        ? ""
        : permissions
            .filter(grantable)
            .map((name) => `${name} ${origin}`)
            .join("; "),
    );
    frame.title = title;
    if (className) frame.className = className;
    this.#frame = frame;
    this.hide();
    (this.#options.container ?? document.body).append(frame);
    this.#loads = 0;
    const peer = frame.contentWindow;
    if (!peer)
      throw new FrameError(
        "FRAME_REMOVED",
        "the frame's container is not in the document",
      );
    return peer;
  }

  navigate(url: string): void {
    const frame = this.#frame!;
    // Not before: the empty page that a frame begins with loads too.
    frame.addEventListener("load", () => {
      if (frame === this.#frame) this.#loads++;
    });
    frame.src = url;
  }

  show(): void {
    this.#style(SHOWN, false);
  }

  /** Keeps the page at full speed: browsers slow the timers of frames that are off the screen or not laid out. */
  hide(): void {
    this.#style(HIDDEN, true);
  }

  destroy(): void {
    this.#frame?.remove();
    this.#frame = undefined;
  }

  #style(css: string, hidden: boolean): void {
    const frame = this.#frame;
    if (!frame) return;
    frame.style.cssText = css;
    frame.tabIndex = hidden ? -1 : 0;
    frame.setAttribute("aria-hidden", `${hidden}`);
  }
}

/**
 * A popup. It must be opened by a click, cannot be hidden, and can navigate the page that opened it: it deserves more trust
 * than a frame.
 */
export class PopupControl implements WindowControl {
  readonly kind = "popup";
  readonly opaque = false;
  readonly loads = undefined;
  readonly #features: string;
  #popup: Window | undefined;

  constructor({ width = 480, height = 640 } = {}) {
    this.#features = `popup,width=${+width},height=${+height}`;
  }

  get gone(): boolean {
    return this.#popup?.closed === true;
  }

  open(): Window {
    // A name of its own: under a shared one, a second server would move into the first one's window.
    const name = `mcp-${crypto.randomUUID()}`;
    const popup = window.open("", name, this.#features);
    if (!popup)
      throw new FrameError(
        "POPUP_BLOCKED",
        "the browser did not open the popup: it must follow a click, and a sandboxed page needs allow-popups",
      );
    this.#popup = popup;
    return popup;
  }

  navigate(url: string): void {
    this.#popup!.location.replace(url);
  }

  show(): void {
    this.#popup?.focus();
  }

  hide(): void {
    // A popup is in sight until it is closed.
  }

  destroy(): void {
    this.#popup?.close();
    this.#popup = undefined;
  }
}

/** True for a browser feature that a frame can be given. What is not in the list is never granted. */
export function grantable(name: string): boolean {
  return FEATURES.includes(name);
}

const FEATURES =
  "accelerometer autoplay bluetooth camera clipboard-read clipboard-write display-capture encrypted-media fullscreen gamepad geolocation gyroscope hid magnetometer microphone midi picture-in-picture screen-wake-lock serial storage-access usb web-share xr-spatial-tracking".split(
    " ",
  );

const SHOWN = "border:0;width:100%;height:100%";
const HIDDEN =
  "border:0;width:1px;height:1px;position:fixed;top:0;left:0;visibility:hidden";
