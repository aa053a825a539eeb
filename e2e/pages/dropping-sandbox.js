// A sandbox written by the spec's letter: relays everything but sandbox-*, knows nothing of ports and so drops them.
const { host, guest } = document.currentScript.dataset;
const inner = document.createElement("iframe");
inner.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
document.body.append(inner);
const guestOrigin = new URL(guest).origin;
addEventListener("message", ({ source, origin, data }) => {
  if (String(data?.method).startsWith("ui/notifications/sandbox-")) return;
  if (source === parent && origin === host)
    inner.contentWindow.postMessage(data, guestOrigin);
  else if (source === inner.contentWindow && origin === guestOrigin)
    parent.postMessage(data, host);
});
inner.src = guest;
parent.postMessage(
  {
    jsonrpc: "2.0",
    method: "ui/notifications/sandbox-proxy-ready",
    params: {},
  },
  host,
);
