// Clients as they are published, with the servers that they were written for; each step is the same in a tab and in a view.
import { createClient } from "graphql-ws";
import { io } from "socket.io-client";

const once = (target, name) => new Promise((done) => target.once(name, (...given) => done(given)));

globalThis.LIBRARIES = {
  async "graphql-ws"() {
    const client = createClient({ url: "/ws/graphql", retryAttempts: 0 });
    const told = [];
    const run = (query) =>
      new Promise((done) =>
        client.subscribe({ query }, { next: ({ data, errors }) => told.push(data ?? errors.length), error: (error) => done(told.push(String(error.length ?? error))), complete: () => done(told.push("complete")) }),
      );
    await run("{ hello }");
    await run("subscription { count(to: 5) }");
    await run("{ nothing }");
    await client.dispose();
    return told;
  },
  // As it begins unless told otherwise: by requests that wait for their answers, and then over a WebSocket.
  async "socket.io-client, from polling to WebSocket"() {
    const socket = io(base(), { path: "/socket.io/", reconnection: false, forceNew: true });
    await once(socket, "connect");
    const first = await socket.emitWithAck("add", 1, 2);
    if (socket.io.engine.transport.name !== "websocket") await once(socket.io.engine, "upgrade");
    const second = await socket.emitWithAck("add", 3, 4);
    socket.emit("bytes", new Uint8Array([1, 2, 3]));
    const [bytes] = await once(socket, "bytes");
    const { name } = socket.io.engine.transport;
    socket.emit("goodbye");
    const [reason] = await once(socket, "disconnect");
    return [first, second, [...new Uint8Array(bytes)], name, reason];
  },
  async "socket.io-client, by polling alone"() {
    const socket = io(base(), { path: "/socket.io/", transports: ["polling"], reconnection: false, forceNew: true });
    await once(socket, "connect");
    const sums = await Promise.all([1, 2, 3].map((at) => socket.emitWithAck("add", at, at)));
    socket.disconnect();
    return sums;
  },
};
const base = () => (document.baseURI.startsWith("http") ? new URL(document.baseURI).origin : "https://app.invalid");

/** What somebody sees of htmx's work: a click that fetches, a form that is posted, an address that is not there. */
globalThis.hypertext = async (htmx) => {
  document.body.innerHTML = `<button id="more" hx-get="/api/row" hx-target="#rows" hx-swap="beforeend">More</button><ul id="rows"></ul>
    <form id="form" hx-post="/api/form" hx-target="#answer"><input name="a" value="x y"><input name="b" value="ä&="><button>Send</button></form><div id="answer"></div>
    <button id="none" hx-get="/api/none">None</button>`;
  htmx.process(document.body);
  const failed = new Promise((done) => ["htmx:responseError", "htmx:response:404", "htmx:response:error"].forEach((name) => document.body.addEventListener(name, () => done(true))));
  const until = async (condition) => {
    while (!condition()) await new Promise((done) => setTimeout(done, 10));
  };
  const rows = () => document.querySelectorAll("#rows li");
  document.querySelector("#more").click();
  await until(() => rows().length === 1);
  document.querySelector("#more").click();
  await until(() => rows().length === 2);
  document.querySelector("#form button").click();
  await until(() => document.querySelector("#told"));
  document.querySelector("#none").click();
  await failed;
  // The library marks what is new for a moment.
  await until(() => !document.querySelector(".htmx-added"));
  return [rows()[1].outerHTML, document.querySelector("#told").textContent];
};
