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
view.addEventListener("transom-ask", (event) => {
  event.preventDefault();
  withdraw(event.detail.id);
  waiting.push(event.detail);
  draw();
});
view.addEventListener("transom-withdraw", ({ detail }) => (withdraw(detail.id), draw()));
view.addEventListener("transom-close", () => (waiting.splice(0), draw()));

// Questions are in a modal dialog, one at a time, with all that would be sent. While it is open, no view hears the pointer or the
// keyboard; its buttons work when it has been there for a moment, since the click that is under way was meant for a view.
const dialog = document.createElement("dialog");
document.body.append(view, dialog);
const waiting = [];
let shown, release, timer;

function draw() {
  const before = shown;
  shown = waiting[0];
  if (shown === before) return;
  clearTimeout(timer);
  if (!shown) {
    release();
    return dialog.close();
  }
  const { who, text, tools = [], url, preview, folded = {}, changes = [], contents = [], choices } = shown;
  const files = contents.map(({ name }) => name);
  const words = [who, text, ...tools, url, preview, folded.text, folded.beyond, ...changes, ...files];
  const buttons = choices.map((choice) => make("button", { textContent: choice, disabled: true, onclick: () => decide(choice) }));
  dialog.replaceChildren(...words.filter(Boolean).map((textContent) => make("pre", { textContent })), ...buttons);
  if (!dialog.open) {
    release = transomHost.TransomView.hold();
    dialog.showModal();
  }
  timer = setTimeout(() => buttons.forEach((button) => (button.disabled = false)), 700);
}

function decide(choice) {
  const { answer } = waiting.shift();
  draw();
  answer(choice);
}

function withdraw(id) {
  const at = waiting.findIndex((each) => each.id === id);
  if (at >= 0) waiting.splice(at, 1);
}

// The Escape key says no. Some browsers close a dialog at the second one, whatever the page says.
dialog.oncancel = (event) => (event.preventDefault(), decide("deny"));
dialog.onclose = () => shown && dialog.showModal();

function make(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

view.channel = channel;
