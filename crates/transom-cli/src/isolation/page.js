// A host page of its own, with the host's element and nothing else: one neighbour and a few strangers.
"use strict";
const start = async () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", location.pathname);
  const { key } = await fetch("/api/key", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  }).then((response) => response.json());
  sessionStorage.setItem("transom-key", key);
  const post = (words) =>
    fetch("/isolation/report", { method: "POST", headers: { authorization: `Bearer ${key}` }, body: JSON.stringify(words) });
  // Whatever the host's element makes of it: what is here was carried here.
  addEventListener("message", ({ data }) => {
    const said = data?.params?.arguments;
    if (said?.odd) void post({ fooled: said.id });
  });
  const channel = new transomHost.WebSocketChannel({ url: `ws://${location.host}/ws`, key });
  const { mount } = await fetch("/isolation/plan").then((response) => response.json());
  for (const { server, tool, args } of mount) {
    const view = document.createElement("transom-view");
    view.setAttribute("view", crypto.randomUUID());
    view.setAttribute("label", `${server}: ${tool}`);
    view.tool = { server, name: tool, arguments: args };
    view.addEventListener("transom-close", ({ detail }) => void post({ closed: args.view ?? server, reason: detail.reason }));
    document.body.append(view);
    view.channel = channel;
  }
  // Answered when everything was tried; what this page knows by then is the last word.
  await fetch("/isolation/finish");
  await post({ page: { cookie: document.cookie, key, title: document.title } });
};
void start();
