// The token of the address is good for one key; after that the page is the host's.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
const response = await fetch("/api/key", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ token }),
});
const { key } = await response.json();
const channel = new transomHost.WebSocketChannel({ url: `ws://${location.host}/ws`, key });

const view = document.createElement("transom-view");
view.setAttribute("view", crypto.randomUUID());
view.setAttribute("label", "Weather");
view.tool = { server: "demo", name: "show_weather", arguments: { city: "Porto" } };
// Who is asked says yes or no. Only what is offered is an answer, and the first yes is the shortest.
view.addEventListener("transom-ask", (event) => {
  event.preventDefault();
  const { text, choices, answer } = event.detail;
  answer(confirm(text) ? choices.find((choice) => choice.startsWith("allow")) : "deny");
});
document.body.append(view);
view.channel = channel;
