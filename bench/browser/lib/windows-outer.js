// The outer page: raw postMessage and our transport in turns, between the same two origins.
import {
  IframeControl,
  OuterFrameTransport,
} from "../../../web/src/frames/index.ts";

const { sandboxPort } = Object.fromEntries(new URL(location.href).searchParams);
const KINDS = ["raw", "frames"];
const now = () => performance.now();
const rotate = (list, by) => list.map((_, i) => list[(i + by) % list.length]);

window.bench = {
  /** Milliseconds for one message there and back, by kind. */
  async windowsRtt({ topo, size, rounds, chunk }) {
    const ends = { raw: await openRaw(topo), frames: await openFrames(topo) };
    const out = { raw: [], frames: [] };
    const text = "x".repeat(size);
    for (let round = -3; round < rounds; round++)
      for (const kind of rotate(KINDS, Math.abs(round))) {
        const start = now();
        for (let i = 0; i < chunk; i++) await ends[kind].ask({ text });
        if (round >= 0) out[kind].push((now() - start) / chunk);
      }
    for (const kind of KINDS) ends[kind].close();
    return out;
  },
  /** Milliseconds from each announcement until the setup is complete and the connection open, both phases, by kind. */
  async windowsHandshake({ topo, n }) {
    const out = { raw: [], frames: [] };
    for (let i = -1; i < n; i++)
      for (const kind of rotate(KINDS, i + 1)) {
        const ms = await (kind === "raw" ? shakeRaw(topo) : shakeFrames(topo));
        if (i >= 0) out[kind].push(ms);
      }
    return out;
  },
};
window.benchReady = true;

function address(topo, kind) {
  const name = topo === "same-site" ? "localhost" : "127.0.0.1";
  const query = new URLSearchParams({ kind, outer: location.origin });
  return `http://${name}:${sandboxPort}/guest.windows.html?${query}`;
}

/** When the next message arrives, from wherever: nobody else posts here. */
function firstWord() {
  return new Promise((done) =>
    addEventListener("message", () => done(now()), { once: true }),
  );
}

async function shakeRaw(topo) {
  let total = 0;
  for (const fragment of ["#setup", ""]) {
    const frame = rawFrame(topo, fragment);
    const start = await frame.heard("HELLO");
    frame.post({ type: "REPLY" });
    await frame.heard(fragment ? "COMPLETE" : "ACCEPTED");
    // The window of a setup is taken away before anybody goes on.
    if (fragment) frame.close();
    total += now() - start;
    frame.close();
  }
  return total;
}

async function shakeFrames(topo) {
  const outer = frames(topo);
  let start = firstWord();
  await outer.setup();
  let total = now() - (await start);
  start = firstWord();
  await outer.start();
  total += now() - (await start);
  await outer.close();
  return total;
}

function frames(topo) {
  return new OuterFrameTransport({
    url: address(topo, "frames"),
    control: new IframeControl(),
    limits: { rate: 1e9, bytes: 1e12 },
  });
}

async function openFrames(topo) {
  const outer = frames(topo);
  await outer.setup();
  await outer.start();
  const pending = new Map();
  outer.onmessage = ({ id }) => (pending.get(id)(), pending.delete(id));
  return {
    ask: asker(pending, (m) => outer.send(m)),
    close: () => outer.close(),
  };
}

async function openRaw(topo) {
  const frame = rawFrame(topo, "");
  const pending = new Map();
  await frame.heard("HELLO");
  frame.onmessage = ({ id }) => (pending.get(id)(), pending.delete(id));
  const send = (payload) => frame.post({ type: "MESSAGE", payload });
  return { ask: asker(pending, send), close: frame.close };
}

function asker(pending, send) {
  let last = 0;
  return (params) =>
    new Promise((done) => {
      pending.set(++last, done);
      send({ jsonrpc: "2.0", id: last, method: "echo", params });
    });
}

function rawFrame(topo, fragment) {
  const url = address(topo, "raw");
  const { origin } = new URL(url);
  const frame = document.createElement("iframe");
  const waiting = new Map();
  const self = {
    onmessage: undefined,
    heard: (type) => new Promise((done) => waiting.set(type, done)),
    post: (data) => frame.contentWindow.postMessage(data, origin),
    close() {
      removeEventListener("message", listener);
      frame.remove();
    },
  };
  const listener = ({ source, origin: from, data }) => {
    if (source !== frame.contentWindow || from !== origin) return;
    if (data.type === "MESSAGE") self.onmessage(data.payload);
    else waiting.get(data.type)?.(now());
  };
  addEventListener("message", listener);
  frame.setAttribute("sandbox", "allow-scripts allow-forms allow-same-origin");
  frame.src = url + fragment;
  document.body.append(frame);
  return self;
}
