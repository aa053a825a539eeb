// A host page with one view and nothing else.
"use strict";
const start = async () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", location.pathname);
  const { key } = await fetch("/api/key", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  }).then((response) => response.json());
  const tool = await fetch("/doctor/tool").then((response) => response.json());
  const channel = new transomHost.WebSocketChannel({ url: `ws://${location.host}/ws`, key });
  const view = document.createElement("transom-view");
  view.setAttribute("view", crypto.randomUUID());
  view.setAttribute("label", tool.name);
  view.tool = tool;
  const say = (text) => (document.querySelector("p").textContent = text);
  view.addEventListener("transom-text", ({ detail }) => say(`${detail.why} ${detail.text ?? ""}`));
  view.addEventListener("transom-ask", (event) => {
    event.preventDefault();
    say(`It asks: ${event.detail.text}`);
  });
  view.addEventListener("transom-close", ({ detail }) => say(`The view ended: ${detail.reason}.`));
  document.body.prepend(view);
  view.channel = channel;
};
void start();
