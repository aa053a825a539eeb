/**
 * The Sandbox page: a relay between the host page and the guest frame, on an origin of its own. It
 * has no opinions, no secrets, and says nothing of its own but `sandbox-proxy-ready`, once,
 * `sandbox-dropped` for a message that was too large, and `sandbox-stopped` if it had to stop its guest.
 *
 * ```text
 * host page ──sandbox-resource-ready──▶ here ──srcdoc──▶ guest      (raw mode)
 * host page ◀──────── everything but sandbox-* ────────▶ guest
 * ```
 *
 * It is configured by attributes of its own `<script>` element, which stands in `<body>`:
 *
 * - `data-host`: the origins that may embed this page, separated by spaces. Required.
 * - `data-guest`: the URL of the guest. Without it the page waits for HTML (raw mode).
 * - `data-allow`: the guest's `allow` attribute; in raw mode, the most that may be granted, as feature
 *   names separated by semicolons.
 * - `data-sandbox`: tokens for the guest's `sandbox` attribute; only the three usual ones count.
 * - `data-limit`: the size in bytes above which a guest's message is dropped, 16 MiB unless told.
 * - `data-rate`: messages a second that a guest may send for long, 2,000 unless told. Ten seconds'
 *   worth may come at once; beyond that the guest is stopped.
 * - `data-pace`: how many of them go on at once; the others wait here and go on at that rate. All of a
 *   page's views share its one thread, and what has been sent there cannot be called back. Without it
 *   nothing waits.
 */
import { policyOf, sizeOf } from "./guard.js";
import { openLane, type Lane } from "./port.js";
import { isObject, namesPort, type Json, type Response } from "./wire.js";

function main(settings: DOMStringMap): void {
  const allowed = (settings.host ?? "").split(" ");
  const origin = parentOrigin() ?? allowed[0];
  if (parent === window) return refuse("only works inside a host");
  if (!origin || !allowed.includes(origin))
    return refuse("this host may not embed it");
  if (reaches(parent) || reaches(top)) return refuse("same origin as its host");

  const limit = Number(settings.limit ?? 16 * 2 ** 20);
  const rate = Number(settings.rate ?? 2000);
  const frame = document.createElement("iframe");
  let guest: Lane | undefined;
  const url = settings.guest;
  let waiting = !url;
  let budget = rate * BURST;
  let refilled = 0;
  const pace = Number(settings.pace ?? Infinity);
  let leave = pace;
  let queue: unknown[] = [];

  const host = openLane(
    parent,
    (data, { ports }) => {
      if (isReserved(data)) {
        const { method, params } = data as { method: string; params: unknown };
        const resource = isObject(params) && method.endsWith("-resource-ready");
        if (resource && waiting) mount(params);
        return;
      }
      // What returns nothing has its ports closed; one that has gone on is beyond that.
      guest?.send(
        data,
        isOffer(data) && ports.length === 1 ? [...ports] : undefined,
      );
    },
    origin,
  );

  const refill = () => {
    const now = performance.now();
    const more = ((now - refilled) / 1000) * rate;
    budget = Math.min(rate * BURST, budget + more);
    leave = Math.min(pace, leave + more);
    refilled = now;
  };
  /** Passes on what may go by now, in its order, and the rest a little later. */
  const drain = () => {
    refill();
    const now = queue.splice(0, leave);
    leave -= now.length;
    for (const data of now) host.send(data);
    if (queue.length) setTimeout(drain, PAUSE);
  };

  /** Listens before the frame is there: a fast guest speaks at once. */
  const show = (
    source: { src?: string; srcdoc?: string },
    tokens: string,
    allow: string,
  ) => {
    frame.setAttribute("sandbox", tokens);
    frame.allow = allow;
    frame.title = document.title;
    frame.style.cssText =
      "border:0;position:fixed;inset:0;width:100%;height:100%";
    Object.assign(frame, source);
    document.body.append(frame);
    const opaque = !tokens.includes("allow-same-origin");
    guest = openLane(
      frame.contentWindow!,
      (data) => {
        refill();
        if (--budget < 0) return stop();
        if (isReserved(data)) return;
        if (sizeOf(data, limit) > limit) return say("dropped");
        if (queue.push(data) > 1) return;
        if (leave >= 1) drain();
        else setTimeout(drain, PAUSE);
      },
      // HTML runs on the origin of this page.
      opaque ? "null" : new URL(source.src ?? location.href).origin,
    );
  };
  const say = (word: string) =>
    host.send({
      jsonrpc: "2.0",
      method: "ui/notifications/sandbox-" + word,
      params: {},
    });
  const stop = () => {
    say("stopped");
    queue = [];
    guest?.close();
    host.close();
    frame.remove();
    refuse("too many messages");
  };
  /** P-17: one document per load. */
  const mount = ({ html, csp, permissions, sandbox }: Json) => {
    waiting = false;
    const meta = document.createElement("meta");
    meta.httpEquiv = "Content-Security-Policy";
    meta.content = policyOf(csp);
    // A srcdoc document is never in quirks mode, so that nothing is lost by standing before its doctype.
    show(
      { srcdoc: meta.outerHTML + html },
      tokensOf(sandbox, settings.sandbox),
      allowOf(permissions, settings.allow),
    );
  };

  if (url) show({ src: url }, tokensOf(settings.sandbox), settings.allow ?? "");
  say("proxy-ready");
}

/** Spec, "Sandbox proxy" 6: sandbox-* methods stop here, in both directions. */
function isReserved(data: unknown): boolean {
  return (
    isObject(data) &&
    typeof data.method === "string" &&
    /^ui\/(?:notifications\/)?sandbox-/.test(data.method)
  );
}

/** The one message that may carry a port: the Host's answer to a handshake that asked for it. */
function isOffer(data: unknown): boolean {
  return namesPort((data as Partial<Response>)?.result?.hostCapabilities);
}

/** P-16: an override can take away and never add. */
function tokensOf(...wishes: unknown[]): string {
  return TOKENS.filter((token) =>
    wishes.every((wish) => `${wish ?? TOKENS}`.split(/[\s,]+/).includes(token)),
  ).join(" ");
}

function allowOf(permissions: unknown, ceiling: string | undefined): string {
  const most = ceiling?.split(/\s*;\s*/);
  return FEATURES.filter(
    (feature) =>
      isObject(permissions) &&
      permissions[feature.replace("-w", "W")] &&
      (most?.includes(feature) ?? true),
  ).join("; ");
}

/** P-13: across origins every property but a few throws. */
function reaches(other: Window | null): boolean {
  try {
    return other?.document !== undefined;
  } catch {
    return false;
  }
}

function parentOrigin(): string | undefined {
  const { referrer } = document;
  return (
    location.ancestorOrigins?.[0] ??
    (referrer ? new URL(referrer).origin : undefined)
  );
}

function refuse(reason: string): void {
  document.documentElement.dataset.refused = reason;
  document.body.textContent = `Stopped: ${reason}.`;
}

const BURST = 10;
/** Between two handfuls of what waits, in milliseconds. */
const PAUSE = 8;
const TOKENS = ["allow-scripts", "allow-same-origin", "allow-forms"];
const FEATURES = ["camera", "microphone", "geolocation", "clipboard-write"];

main((document.currentScript ?? document.documentElement).dataset);
