// A host as people write it first: the documents in plain frames of its own.
"use strict";
const start = async () => {
  sessionStorage.setItem("transom-key", "naive-key");
  const report = (words) => fetch("/isolation/report", { method: "POST", body: JSON.stringify(words) });
  addEventListener("message", ({ data }) => {
    const said = data?.params?.arguments;
    if (said?.odd) void report({ fooled: said.id });
  });
  const { mount } = await fetch("/isolation/plan").then((response) => response.json());
  const show = ({ server, args }, place) => {
    const frame = document.createElement("iframe");
    frame.allow = "camera; microphone; geolocation; clipboard-read; fullscreen";
    frame.src = `/isolation/naive/${server}?view=${args.view ?? ""}`;
    document.body[place](frame);
  };
  const isNeighbour = ({ server }) => server === "neighbour";
  show(mount.find(isNeighbour), "append");
  // The neighbour first, as with a host. The documents themselves must not wait: a browser has six connections.
  await fetch("/isolation/ready");
  mount
    .filter((each) => !isNeighbour(each))
    .forEach((each, n) => show(each, n === 0 ? "prepend" : "append"));
  await fetch("/isolation/finish");
  await report({ page: { cookie: document.cookie, key: "naive-key", title: document.title } });
};
void start();
