// The outer page in its smallest form: sets a page server up, connects an MCP client to it, and calls its tools.
import { Client } from "@modelcontextprotocol/client";
import { IframeControl, OuterFrameTransport, PopupControl } from "transom/frames";
import { content, element, say } from "../shared/page.js";

let client;
let control;
let transport;
let shown = false;

const servers = JSON.parse(content("servers"));
element("server").append(...servers.map(({ name, url }) => new Option(name, url)));

/** Does something, and says what went wrong: the code for programs, the words for people. */
const attempt = (work) => async () => {
  try {
    await work();
  } catch (error) {
    say(error.code ? `${error.code}: ${error.message}` : String(error));
  }
};

element("open").onclick = attempt(async () => {
  await transport?.close();
  const { url, popup } = servers.find(({ url }) => url === element("server").value);
  control = popup ? new PopupControl() : new IframeControl({ container: element("frame"), title: "Server" });
  // Its name is a secret between the two pages. With it, the server would know this client again.
  transport = new OuterFrameTransport({ url, control });
  say("setting up");
  const { title, origin, visibility, ephemeralMessage = "" } = await transport.setup();
  say(`${title}, from ${origin}, is set up. ${ephemeralMessage}`);
  shown = visibility.requirement !== "hidden";
  element("toggle").hidden = visibility.requirement !== "optional";
  element("toggle").title = visibility.description ?? "";
  // A browser opens a popup upon a click, and the first click is spent.
  if (popup) element("connect").hidden = false;
  else await connect();
});

element("connect").onclick = attempt(async () => {
  element("connect").hidden = true;
  await connect();
});

async function connect() {
  attend(transport);
  client = new Client({ name: "transom-pages", version: "1.0.0" });
  client.onclose = () => {
    element("call").disabled = element("close").hidden = true;
    say(transport.reason ? `${transport.reason.code}: ${transport.reason.message}` : "disconnected");
  };
  await client.connect(transport);
  show();
  const { tools } = await client.listTools();
  element("tool").replaceChildren(...tools.map(({ name }) => new Option(name)));
  element("call").disabled = element("close").hidden = false;
  say(`connected to ${transport.origin}`);
}

function attend(transport) {
  transport.onsetuprequired = ({ message, canContinue }) => {
    const more = canContinue ? "" : " Nothing works until then.";
    element("banner").textContent = `The server asks to be set up again: ${message}.${more}`;
  };
}

function show() {
  if (shown) control.show();
  else control.hide();
  element("toggle").textContent = shown ? "Hide" : "Show";
}

element("toggle").onclick = () => {
  shown = !shown;
  show();
};
element("close").onclick = attempt(() => client.close());
element("call").onclick = attempt(async () => {
  const ask = { name: element("tool").value, arguments: JSON.parse(element("arguments").value) };
  const onprogress = ({ progress, total }) => say(`${progress} of ${total}`);
  const result = await client.callTool(ask, { onprogress });
  element("result").textContent = JSON.stringify(result, null, 2);
  say(`${ask.name} ${result.isError ? "failed" : "answered"}`);
});
