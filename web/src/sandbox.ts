/**
 * The Sandbox page: a relay between the host page and the guest frame, on an origin of its own. It
 * has no opinions, no secrets, and says nothing of its own but `sandbox-proxy-ready`, once.
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
 */
import { policyOf, sizeOf } from "./guard.js";
import { openLane, type Lane } from "./port.js";
import { isObject, namesPort, type Json } from "./wire.js";

function main(settings: DOMStringMap): void {
  const allowed = (settings.host ?? "").split(" ");
  const origin = parentOrigin() ?? allowed[0];
  if (parent === window) return refuse("this page only works inside a host");
  if (!origin || !allowed.includes(origin))
    return refuse("this host may not embed this page");
  if (reaches(parent) || reaches(top))
    return refuse("this page shares an origin with its host");

  const limit = Number(settings.limit) || 16 * 2 ** 20;
  const rate = Number(settings.rate) || 2000;
  const frame = document.createElement("iframe");
  let guest: Lane | undefined;
  let waiting = settings.guest === undefined;
  let budget = rate * BURST;
  let refilled = performance.now();

  const host = openLane(
    parent,
    (data, ports) => {
      if (isReserved(data)) {
        const params = (data as Json).params;
        if (
          !waiting ||
          !RESOURCE_READY.test((data as Json).method as string) ||
          !isObject(params)
        )
          return false;
        waiting = false;
        mount(String(params.html ?? ""), params);
        return true;
      }
      if (!guest) return false;
      const port = isOffer(data) && ports.length === 1;
      if (!port) for (const stray of ports) stray.close();
      guest.send(data, port ? [...ports] : []);
      return true;
    },
    origin,
  );

  /** Listens before the frame is there: a fast guest speaks at once. */
  const show = (
    source: { src: string } | { srcdoc: string },
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
      (data, ports) => {
        for (const stray of ports) stray.close();
        const now = performance.now();
        budget =
          Math.min(rate * BURST, budget + ((now - refilled) / 1000) * rate) - 1;
        refilled = now;
        if (budget < 0) stop();
        else if (isReserved(data) || sizeOf(data, limit) > limit) return false;
        else host.send(data);
        return true;
      },
      opaque
        ? "null"
        : "src" in source
          ? new URL(source.src).origin
          : location.origin,
    );
  };
  const stop = () => {
    guest?.close();
    host.close();
    frame.remove();
    refuse("this view was stopped because it sent too many messages");
  };
  const mount = (html: string, { csp, permissions, sandbox }: Json) => {
    const meta = document.createElement("meta");
    meta.httpEquiv = "Content-Security-Policy";
    meta.content = policyOf(csp);
    // A srcdoc document is never in quirks mode, so that nothing is lost by standing before its doctype.
    show(
      { srcdoc: meta.outerHTML + html },
      tokensOf(typeof sandbox === "string" ? sandbox : settings.sandbox),
      allowOf(permissions, settings.allow),
    );
  };

  if (settings.guest !== undefined)
    show(
      { src: settings.guest },
      tokensOf(settings.sandbox),
      settings.allow ?? "",
    );
  host.send({
    jsonrpc: "2.0",
    method: "ui/notifications/sandbox-proxy-ready",
    params: {},
  });
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
  return (
    isObject(data) &&
    isObject(data.result) &&
    namesPort(data.result.hostCapabilities)
  );
}

/** P-16: an override can take away and never add. */
function tokensOf(wanted: string | undefined): string {
  return TOKENS.filter((token) =>
    (wanted ?? token).split(/\s+/).includes(token),
  ).join(" ");
}

function allowOf(permissions: unknown, ceiling: string | undefined): string {
  const most = ceiling?.split(/\s*;\s*/);
  return FEATURES.filter(
    ([key, feature]) =>
      isObject(permissions) &&
      permissions[key] &&
      (!most || most.includes(feature)),
  )
    .map(([, feature]) => feature)
    .join("; ");
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
  const [nearest] = location.ancestorOrigins ?? [];
  return (
    nearest ??
    (document.referrer ? new URL(document.referrer).origin : undefined)
  );
}

function refuse(reason: string): void {
  document.documentElement.dataset.refused = reason;
  document.body.textContent = `Transom: ${reason}.`;
}

const BURST = 10;
const TOKENS = ["allow-scripts", "allow-same-origin", "allow-forms"];
const RESOURCE_READY = /^ui\/(?:notifications\/)?sandbox-resource-ready$/;
const FEATURES = [
  ["camera", "camera"],
  ["microphone", "microphone"],
  ["geolocation", "geolocation"],
  ["clipboardWrite", "clipboard-write"],
] as const;

main((document.currentScript ?? document.documentElement).dataset);
