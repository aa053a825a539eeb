/**
 * The Porch: a page on the guest's own origin, between the sandbox and the guest, so that a guest may look at its
 * `parent` as views do that were written for other hosts. What a guest does to it, it does to itself.
 *
 * ```text
 * sandbox ◀──posts── parent.postMessage, which is a function of this page ◀──calls── guest
 * sandbox ──posts───────────────────────────────────────────────────────────────────▶ guest
 * ```
 *
 * A message is cloned once on either way, as if this page were not there. What comes down the sandbox posts to the
 * guest itself; its event says that it came from this window, which is the one that a guest expects to hear.
 *
 * Its `<script>` element stands in `<body>` and has the address of the guest in `data-guest`. With `data-spare` the page is
 * loaded before there is a guest: it tells the sandbox that it is there, and shows the guest at the first word from it.
 */
const { guest, spare } = document.currentScript!.dataset;
/** Whether there is no guest yet. */
let waits = !!spare;
let known: unknown;

function show(): void {
  waits = false;
  document.body.append(
    Object.assign(document.createElement("iframe"), {
      src: guest,
      title: document.title,
      style: "border:0;position:fixed;width:100%;height:100%;inset:0",
    }),
  );
}

/** Has the events of the guest's present document name this window in place of the sandbox. */
function greet(): void {
  const events = (self[0] as unknown as typeof globalThis).MessageEvent
    .prototype;
  if (known === events) return;
  known = events;
  const of = (member: string) =>
    Object.getOwnPropertyDescriptor(events, member)!.get!;
  const [source, origin] = [of("source"), of("origin")];
  const members: [string, unknown, () => unknown][] = [
    ["source", self, source],
    ["origin", self.origin, origin],
  ];
  for (const [member, ours, told] of members)
    Object.defineProperty(events, member, {
      get() {
        return source.call(this) === parent ? ours : told.call(this);
      },
    });
}

/** As a window's own, for whoever is on this origin; what it is given goes to the sandbox. */
function post(
  data: unknown,
  options?: string | WindowPostMessageOptions,
  ports?: Transferable[],
): void {
  // A guest speaks before it is spoken to.
  greet();
  const { targetOrigin = "/", transfer = ports } =
    typeof options === "object" ? options : { targetOrigin: options };
  if (
    /^[*/]$/.test(targetOrigin) ||
    new URL(targetOrigin).origin === self.origin
  )
    // The policies of this page let no page be above it but its sandbox and the host page.
    parent.postMessage(data, "*", transfer);
}

self.postMessage = post;
addEventListener("message", ({ source, origin, data, ports }) => {
  const inside = self[0];
  if (source === parent) {
    // What came before the guest had said anything; and before there is one, that there shall be.
    if (inside) inside.postMessage(data, "/", [...ports]);
    else if (waits) show();
  }
  // What the guest posted with a function of its own.
  else if (source === inside && origin === self.origin)
    post(data, "*", [...ports]);
});

// Only this page is here yet, and the sandbox passes it on.
if (waits) parent.postMessage("spare", "*");
else show();

export {};
