/**
 * The Sandbox page: a relay between the host page and the guest frame, on an origin of its own. It
 * has no opinions, no secrets, and says nothing of its own but `sandbox-proxy-ready`, once, `sandbox-dropped` for a
 * message that was too large or not JSON, `sandbox-stopped` if it had to stop its guest, and `sandbox-active` when it is
 * asked whether the person did something in it of late.
 *
 * ```text
 * host page ──sandbox-resource-ready──▶ here ──srcdoc──▶ guest      (raw mode)
 * host page ◀──────── everything but sandbox-* ────────▶ guest      (windows; a guest with a porch speaks through it)
 * host page ◀── its port ──▶ here ◀── the guest's port ──▶ guest    (text, D15)
 * ```
 *
 * All views of a page share its one thread, and whoever reads a message pays for its size. So the page reads nothing
 * of a guest but what was measured here, on either lane, where the guest pays for it itself.
 *
 * It is configured by attributes of its own `<script>` element, which stands in `<body>`:
 *
 * - `data-host`: the origins that may embed this page, separated by spaces. Required.
 * - `data-porch`: the URL of the guest's porch (`porch.ts`), which frames the guest.
 * - `data-guest`: in its place, the URL of a guest that has none. Without either the page waits for HTML (raw mode).
 * - `data-allow`: the guest's `allow` attribute; in raw mode, the most that may be granted, as feature
 *   names separated by semicolons.
 * - `data-private`: in raw mode, what of this machine and its networks a document may be given when it
 *   declares it, as sources separated by spaces. Nothing, unless told.
 * - `data-sandbox`: tokens for the guest's `sandbox` attribute; only the three usual ones count.
 * - `data-limit`: the size in bytes above which a guest's message is dropped, 16 MiB unless told. A text counts by its
 *   characters, which are no more than its bytes and cost no time to count; an object by about what it weighs here: up to
 *   eight times its JSON.
 * - `data-rate`: messages a second that a guest may send for long, 2,000 unless told.
 * - `data-bytes`: bytes a second that it may send for long, 32 MB unless told. Of both, ten seconds' worth may come
 *   at once; beyond that the guest is stopped.
 * - `data-pace`: how many messages go on at once; the others follow at that rate, and wait here: what has been sent
 *   to the page cannot be called back. Without it nothing waits.
 *
 * A number that is none, or not above zero, counts as not told.
 */
import { policyOf, sizeOf } from "./guard.js";
import { openLane, type Lane } from "./port.js";
import { namesPort, type Json, type Response } from "./wire.js";

/** Begins to relay, unless this page stands where it must not. */
function start(): void {
  const allowed = settings.host?.split(" ") ?? [];
  const origin =
    location.ancestorOrigins?.[0] ??
    (document.referrer.split("/", 3).join("/") || allowed[0]);
  // A page that stands by itself is its own parent.
  if (reaches(parent) || reaches(top)) return refuse("not inside a host");
  if (!origin || !allowed.includes(origin)) return refuse("not this host");
  host = openLane(parent, hearHost, origin);
  if (url) show({ src: url }, settings.allow);
  // Whose strays the host page hears when the frame that sent them is gone: it has their origin and no more.
  host.send(own("proxy-ready", { guest: url && home }));
}

function hearHost(data: unknown, { ports }: Pick<MessageEvent, "ports">) {
  if (isReserved(data)) {
    const { method, params } = data as { method: string; params: Json };
    // Whether the person did something in the guest of late: the browser tells it to the frames above.
    if (/active$/.test(method))
      host.send(own("active", { active: navigator.userActivation.isActive }));
    // P-17: one document per load.
    else if (/resource/.test(method) && !guest) mount(params);
    return;
  }
  // The one message that may carry a port: the Host's answer to a handshake that asked for it.
  const port =
    namesPort((data as Partial<Response>)?.result?.hostCapabilities) &&
    ports.length < 2 &&
    ports[0];
  guest?.send(data, port ? [join(port)] : []);
  // What returns nothing has its ports closed.
  return port;
}

function hearGuest(data: unknown): void {
  const size = sizeOf(data, limit);
  // Measured before anything in it is looked at.
  const { method, id } = Object(data) as Json;
  take(size <= limit && !isReserved(data) && host, data, size, { method, id });
}

/** Ends the host page's port here and makes one for the guest, which it returns. */
function join(port: MessagePort): MessagePort {
  const { port1, port2 } = new MessageChannel();
  for (const end of ends) end.close();
  const outer = openLane(port, (text) => inner.send(text));
  const inner = openLane(port1, (text) =>
    typeof text === "string"
      ? take(outer, text, text.length, { message: text.slice(0, 999) })
      : stop("not-text"),
  );
  ends = [outer, inner];
  return port2;
}

/** Takes what the guest said, whichever way; it goes on in its turn. Without a lane it goes nowhere, and counts. */
function take(
  lane: Lane | false,
  data: unknown,
  size: number,
  outline: Json,
): void {
  const now = performance.now();
  const at = due > now ? due : now;
  // What is dropped costs the page no more than a small one.
  due = at + gap + (size > limit ? 0 : size / bytes);
  // Ten seconds ahead of it, and no more.
  if (due - now > 1e4) return stop("flood");
  if (size > limit) {
    lane = host;
    // That may be too large itself.
    data = own("dropped", sizeOf(outline, 1100) > 1100 ? {} : outline);
  }
  // With others before it, it is passed on in their turn.
  if (lane && queue.push([at, lane, data]) < 2) drain();
}

/** Passes on, in its order, all but what is too far ahead of its time. */
function drain(): void {
  const end = performance.now() + pace;
  for (const [, lane, data] of queue.splice(
    0,
    // Without any, -1 becomes more than there can be.
    queue.findIndex(([at]) => at >= end) >>> 0,
  ))
    lane.send(data);
  if (queue.length) setTimeout(drain, 10);
}

function stop(reason: "flood" | "not-text"): void {
  host.send(own("stopped", { reason }));
  queue = [];
  for (const lane of [host, door!, guest!, ...ends]) lane.close();
  // Takes the frame out of the page too.
  refuse(reason);
}

/** Puts the frame into this page. */
function show(
  source: { src?: string; srcdoc?: string },
  allow = "",
  sandbox?: unknown,
): void {
  const tokens = tokensOf(sandbox, settings.sandbox);
  const frame = Object.assign(document.createElement("iframe"), source, {
    allow,
    sandbox: tokens,
    title: document.title,
    style: "border:0;position:fixed;width:100%;height:100%;inset:0",
  });
  document.body.append(frame);
  const open = (window: Window): Lane =>
    openLane(
      window,
      (data) => {
        const inside = frame.contentWindow!;
        // A guest with a porch speaks through it, and is spoken to itself. A porch that waits has none yet.
        if (settings.porch && guest === door && inside.length)
          guest = open(inside[0]!);
        hearGuest(data);
      },
      /same/.test(tokens) ? home : "null",
    );
  door = guest = open(frame.contentWindow!);
}

function mount({ html, csp, permissions, sandbox }: Json): void {
  // A srcdoc document is never in quirks mode, so that nothing is lost by standing before its doctype.
  // No source of a policy has a quote in it: each has been parsed.
  show(
    {
      srcdoc: `<meta http-equiv=Content-Security-Policy content="${policyOf(csp, settings.private)}">${html}`,
    },
    allowOf(permissions, settings.allow),
    sandbox,
  );
}

/** A setting: above zero and finite, or as it usually is. What compares false with everything would limit nothing. */
function numberOf(setting: string | undefined, usual: number): number {
  const told = +setting!;
  return told > 0 && told < Infinity ? told : usual;
}

/** What this page says itself. */
const own = (word: string, params: Json) => ({
  method: "ui/notifications/sandbox-" + word,
  params,
  jsonrpc: "2.0",
});

/** Spec, "Sandbox proxy" 6: sandbox-* methods stop here, in both directions. */
function isReserved(data: unknown): boolean {
  const method = (data as Json)?.method;
  return (
    typeof method === "string" && /^ui\/(notifications\/)?sandbox-/.test(method)
  );
}

/** P-16: an override can take away and never add. */
function tokensOf(...wishes: unknown[]): string {
  return TOKENS.filter((token) =>
    wishes.every((wish) =>
      `${wish ?? token}`
        .toLowerCase()
        .split(/[ \t\n\f\r]/)
        .includes(token),
    ),
  ).join(" ");
}

function allowOf(permissions: unknown, ceiling: string | undefined): string {
  const most = ceiling?.split(/; */);
  return FEATURES.filter(
    (feature) =>
      (Object(permissions) as Json)[feature.replace("-w", "W")] &&
      (!most || most.includes(feature)),
  ).join("; ");
}

/** P-13: across origins every property but a few throws. */
function reaches(other: Window | null): Document | void {
  try {
    return other!.document;
  } catch {}
}

function refuse(reason: string): void {
  document.documentElement.dataset.refused = reason;
  document.body.textContent = "Stopped: " + reason;
}

const TOKENS = "allow-scripts allow-same-origin allow-forms".split(" ");
const FEATURES = "camera microphone geolocation clipboard-write".split(" ");

const settings = document.currentScript!.dataset;
const limit = numberOf(settings.limit, 2 ** 24);
const gap = 1000 / numberOf(settings.rate, 2000);
const pace = gap * numberOf(settings.pace, 1e9);
const bytes = numberOf(settings.bytes, 32e6) / 1000;
const url = settings.porch ?? settings.guest;
// HTML runs on the origin of this page.
const home = new URL(url ?? location.href).origin;
let host: Lane;
/** To the frame in this page, and to the guest: the same, unless a porch stands between. */
let door: Lane | undefined;
let guest: Lane | undefined;
/** When what has come would all have come at its rate. */
let due = 0;
/** What waits, since when it would not be too early, and on which lane it goes on. */
let queue: [at: number, lane: Lane, data: unknown][] = [];
/** The ends of the present document's port: the host page's and the guest's. */
let ends: Lane[] = [];

start();
