// `WebSocket` in a view and in a tab, to one backend: what a page can see of it is the same.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { openFetch } from "../rig/fetch.mjs";

const stage = await openFetch();
after(() => stage.stop());
const { guest, tab } = stage;

/** Does the same in a tab and in a view, and compares what each was told. */
async function same(steps) {
  const [native, ours] = await Promise.all([tab.evaluate(steps), guest.evaluate(steps)]);
  assert.deepEqual(ours, native);
  return ours;
}

test("WSK-3 WSK-5 WSK-6 text and bytes come back in their order, as what was asked for", async () => {
  const told = await same(
    () =>
      new Promise((done) => {
        const socket = new WebSocket("/ws/echo?x=1", "chat");
        const told = [[socket.readyState, socket.binaryType, socket.bufferedAmount, socket.protocol, socket.extensions, new URL(socket.url).pathname]];
        try {
          socket.send("too early");
        } catch ({ name }) {
          told.push(name);
        }
        socket.binaryType = "nonsense";
        socket.onopen = ({ type }) => {
          told.push([type, socket.readyState, socket.protocol, socket.binaryType]);
          const bytes = new Uint8Array([0, 255, 1]);
          socket.send("käse\ud800");
          socket.send(bytes);
          // What was handed over counts as it was then.
          bytes.fill(7);
          socket.send(new Blob(["blob"]));
          socket.send("");
          told.push(["buffered", socket.bufferedAmount > 0]);
          for (let at = 0; at < 50; at++) socket.send(`${at}`);
        };
        let turn = Promise.resolve();
        socket.onmessage = ({ data, origin, lastEventId }) => {
          const blob = data instanceof Blob;
          turn = turn.then(async () => {
            const seen = blob ? [...new Uint8Array(await data.arrayBuffer())] : data instanceof ArrayBuffer ? ["buffer", ...new Uint8Array(data)] : data;
            told.push([blob, seen, origin.startsWith("ws"), lastEventId]);
            if (seen === "49") (socket.binaryType = "arraybuffer"), socket.send(new Uint8Array([1, 2, 3]).subarray(1));
            if (seen[0] === "buffer") socket.send("goodbye");
          });
        };
        socket.onerror = ({ type }) => told.push(type);
        socket.onclose = ({ type, code, reason, wasClean }) => {
          told.push([type, code, reason, wasClean, socket.readyState, socket.bufferedAmount]);
          socket.send("late");
          told.push(socket.bufferedAmount);
          done(told);
        };
      }),
  );
  assert.equal(told.filter((row) => row[1] === "7").length, 1);
});

// WSK-4, WSK-5.
for (const [name, args] of Object.entries({ "a code": [3001, "enough"], "1000": [1000], "no code": [] }))
  test(`WSK-4 closed with ${name}`, async () => {
    const close = (args) =>
      new Promise((done) => {
        const socket = new WebSocket("/ws/echo");
        socket.onopen = () => (socket.send("last"), socket.close(...args), told.push(socket.readyState));
        const told = [];
        socket.onerror = ({ type }) => told.push(type);
        socket.onclose = ({ code, reason, wasClean }) => done([...told, code, reason, wasClean, socket.readyState]);
      });
    const [native, ours] = await Promise.all([tab.evaluate(close, args), guest.evaluate(close, args)]);
    assert.deepEqual(ours, native);
  });

test("WSK-5 a connection that breaks, and one that is never made, end with 1006", async () => {
  for (const path of ["/ws/echo", "/ws/none", "/admin"]) {
    const end = (path) =>
      new Promise((done) => {
        const socket = new WebSocket(path);
        const told = [];
        socket.onopen = () => (told.push("open"), socket.send("drop"));
        socket.onerror = ({ type }) => told.push([type, socket.readyState]);
        socket.onclose = ({ code, reason, wasClean }) => done([...told, code, reason, wasClean, socket.readyState]);
      });
    const ours = await guest.evaluate(end, path);
    assert.deepEqual(ours.slice(-4), [1006, "", false, 3]);
    // The tab's own backend has no route that is closed.
    if (path !== "/admin") assert.deepEqual(ours, await tab.evaluate(end, path), path);
  }
});

test("WSK-4 closed while it is opened", async () => {
  await same(
    () =>
      new Promise((done) => {
        const socket = new WebSocket("/ws/echo");
        const told = [];
        socket.onopen = socket.onerror = ({ type }) => told.push(type);
        socket.onclose = ({ code, wasClean }) => done([...told, code, wasClean, socket.readyState]);
        socket.close();
        told.push(socket.readyState);
      }),
  );
});

test("WSK-2 WSK-4 what is refused at once is refused with the same name", async () => {
  await same(() => {
    const open = [["/ws#x"], ["ftp://a.test"], ["http://["], ["/ws/echo", ["a", "a"]], ["/ws/echo", "a b"], ["/ws/echo", [""]]];
    const refused = (what) => {
      try {
        what();
        return "nothing";
      } catch ({ name }) {
        return name;
      }
    };
    const socket = new WebSocket("/ws/echo");
    const ends = [[1001], [2999], [5000], [1000, "x".repeat(124)], [3000, "ä".repeat(62)]];
    return [
      ...open.map((args) => refused(() => new WebSocket(...args))),
      ...ends.map((args) => refused(() => socket.close(...args))),
      [WebSocket.CONNECTING, WebSocket.OPEN, WebSocket.CLOSING, WebSocket.CLOSED, socket.CLOSED, socket instanceof WebSocket, socket instanceof EventTarget],
      socket.close(),
    ];
  });
});
