// Frame plumbing shared by the host adapters. env: { container, direct, html, guest, directUrl, proxyUrl }.
export function createFrame({ container, direct, directUrl, proxyUrl }) {
  const iframe = document.createElement("iframe");
  iframe.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  iframe.src = direct ? directUrl : proxyUrl;
  container.appendChild(iframe);
  return { iframe, win: iframe.contentWindow };
}

/** For adapters that do not speak ui/notifications/sandbox-*: waits for the proxy and hands it the HTML. */
export function loadThroughProxy({ direct, guest, html }, win) {
  if (direct || guest) return;
  const listener = ({ source, data }) => {
    if (
      source !== win ||
      data?.method !== "ui/notifications/sandbox-proxy-ready"
    )
      return;
    removeEventListener("message", listener);
    win.postMessage(
      {
        jsonrpc: "2.0",
        method: "ui/notifications/sandbox-resource-ready",
        params: { html },
      },
      "*",
    );
  };
  addEventListener("message", listener);
}
