// The raw relay: what the spec asks of a sandbox proxy and nothing else. Source and origin are checked both ways.
//   ?ports=1   also relays MessagePorts, for the adapter that hands one over
//   ?guest=    shows that address instead of HTML from sandbox-resource-ready
const asked = new URL(location.href).searchParams;
const HOST = new URL(document.referrer).origin;
const GUEST = asked.get("guest");
const ports = asked.get("ports") === "1" ? (event) => event.ports : () => [];
const inner = document.createElement("iframe");
inner.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
if (GUEST) inner.src = GUEST;
document.body.append(inner);
const INNER = GUEST ? new URL(GUEST).origin : location.origin;

addEventListener("message", (event) => {
  const { source, origin, data } = event;
  if (source === window.parent) {
    if (origin !== HOST) return;
    const method = data?.method;
    if (method === "ui/notifications/sandbox-resource-ready") {
      const { contentDocument } = inner;
      contentDocument.open();
      contentDocument.write(data.params.html);
      contentDocument.close();
    } else if (
      typeof method !== "string" ||
      !method.startsWith("ui/notifications/sandbox-")
    )
      inner.contentWindow.postMessage(data, INNER, ports(event));
  } else if (source === inner.contentWindow) {
    if (origin !== INNER) return;
    window.parent.postMessage(data, HOST, ports(event));
  }
});
window.parent.postMessage(
  {
    jsonrpc: "2.0",
    method: "ui/notifications/sandbox-proxy-ready",
    params: {},
  },
  HOST,
);
