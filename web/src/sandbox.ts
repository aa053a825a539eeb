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
 * - `data-private`: in raw mode, what of this machine and its networks a document may be given when it
 *   declares it, as sources separated by spaces. Nothing, unless told.
 * - `data-sandbox`: tokens for the guest's `sandbox` attribute; only the three usual ones count.
 * - `data-limit`: the size in bytes above which a guest's message is dropped, 16 MiB unless told.
 * - `data-rate`: messages a second that a guest may send for long, 2,000 unless told. Ten seconds'
 *   worth may come at once; beyond that the guest is stopped.
 * - `data-pace`: how many of them go on at once; the others follow at that rate, and wait here. All of a
 *   page's views share its one thread, and what has been sent there cannot be called back. Without it
 *   nothing waits.
 */
import { policyOf, sizeOf } from "./guard.js";
import { openLane, type Lane } from "./port.js";
import { isObject, namesPort, type Json, type Response } from "./wire.js";

function main(settings: DOMStringMap): void {
  const allowed = (settings.host ?? "").split(" ");
  const origin =
    location.ancestorOrigins?.[0] ??
    /^\w+:\/\/[^/]+/.exec(document.referrer)?.[0] ??
    allowed[0];
  if (parent === self) return refuse("not inside a host");
  if (!origin || !allowed.includes(origin))
    return refuse("this host may not embed it");
  if (reaches(parent) || reaches(top)) return refuse("same origin as its host");

  const limit = +(settings.limit ?? 2 ** 24);
  const gap = 1000 / +(settings.rate ?? 2000);
  const frame = document.createElement("iframe");
  let guest: Lane | undefined;
  const url = settings.guest;
  let waiting = !url;
  /** When what has come would all have come at its rate. */
  let due = 0;
  const ahead = () => due - performance.now();
  const pace = +(settings.pace ?? 1e9);
  let queue: unknown[] = [];

  const host = openLane(
    parent,
    (data, { ports }) => {
      if (isReserved(data)) {
        const { method, params } = data as { method: string; params: unknown };
        const resource = isObject(params) && method.endsWith("resource-ready");
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

  /** Passes on, in its order, all but what is too far ahead of its time. */
  const drain = () => {
    const ready = queue.splice(0, queue.length + pace - ahead() / gap);
    if (queue.length) setTimeout(drain, 10);
    for (const data of ready) host.send(data);
  };

  /** Listens before the frame is there: a fast guest speaks at once. */
  const show = (
    source: { src?: string; srcdoc?: string },
    tokens: string,
    allow: string,
  ) => {
    frame.sandbox.value = tokens;
    frame.allow = allow;
    frame.title = document.title;
    frame.style.cssText =
      "border:0;position:fixed;width:100%;height:100%;inset:0";
    Object.assign(frame, source);
    document.body.append(frame);
    guest = openLane(
      frame.contentWindow!,
      (data) => {
        due = Math.max(due, performance.now()) + gap;
        // Ten seconds ahead of it, and no more.
        if (ahead() > 1e4) {
          host.send(own("stopped"));
          queue = [];
          guest!.close();
          host.close();
          frame.remove();
          return refuse("too many messages");
        }
        if (sizeOf(data, limit) > limit) {
          const { id, method } = data as Json;
          data = own("dropped", { id, method });
          // That may be too large itself.
          if (sizeOf(data, limit) > limit) data = own("dropped");
        } else if (isReserved(data)) return;
        // With others before it, it is passed on in their turn.
        if (queue.push(data) < 2) drain();
      },
      // HTML runs on the origin of this page.
      /same/.test(tokens)
        ? new URL(source.src ?? location.href).origin
        : "null",
    );
  };
  /** P-17: one document per load. */
  const mount = ({ html, csp, permissions, sandbox }: Json) => {
    waiting = false;
    // A srcdoc document is never in quirks mode, so that nothing is lost by standing before its doctype.
    // No source of a policy has a quote in it: each has been parsed.
    show(
      {
        srcdoc: `<meta http-equiv="Content-Security-Policy" content="${policyOf(csp, settings.private?.split(" "))}">${html}`,
      },
      tokensOf(sandbox, settings.sandbox),
      allowOf(permissions, settings.allow),
    );
  };

  if (url) show({ src: url }, tokensOf(settings.sandbox), settings.allow ?? "");
  host.send(own("proxy-ready"));
}

/** What this page says itself. */
const own = (word: string, params: Json = {}) => ({
  jsonrpc: "2.0",
  method: "ui/notifications/sandbox-" + word,
  params,
});

/** Spec, "Sandbox proxy" 6: sandbox-* methods stop here, in both directions. */
function isReserved(data: unknown): boolean {
  return /^ui\/(notifications\/)?sandbox-/.test(
    (data as Json)?.method as string,
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
function reaches(other: Window | null): unknown {
  try {
    return other!.document;
  } catch {
    return;
  }
}

function refuse(reason: string): void {
  document.documentElement.dataset.refused = reason;
  document.body.textContent = "Stopped: " + reason;
}

const TOKENS = ["allow-scripts", "allow-same-origin", "allow-forms"];
const FEATURES = ["camera", "microphone", "geolocation", "clipboard-write"];

main((document.currentScript ?? document.documentElement).dataset);
