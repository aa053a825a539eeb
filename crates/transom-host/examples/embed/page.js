// A key for this load of the page; who is not signed in gets none.
const response = await fetch("/key", { method: "POST" });
if (!response.ok) {
  document.getElementById("sign-in").hidden = false;
  throw new Error("not signed in");
}
const key = await response.text();
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
