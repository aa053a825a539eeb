// The inner page of the postMessage transport's measurements: raw messages, or our transport, as its address says.
import { InnerFrameTransport } from "../../../web/src/frames/index.ts";

const asked = new URL(location.href).searchParams;
const outer = asked.get("outer");
const setup = location.hash === "#setup";

if (asked.get("kind") === "raw") raw();
else transport();

/** As few lines as there can be: who it is from, and an answer. */
function raw() {
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== parent || origin !== outer) return;
    const { type, payload } = data;
    if (type === "REPLY")
      parent.postMessage({ type: setup ? "COMPLETE" : "ACCEPTED" }, outer);
    else if (type === "MESSAGE")
      parent.postMessage({ type, payload: answer(payload) }, outer);
  });
  parent.postMessage({ type: "HELLO" }, "*");
}

async function transport() {
  const inner = new InnerFrameTransport({
    allowedOrigins: [outer],
    // A measurement is a flood.
    limits: { rate: 1e9, bytes: 1e12 },
  });
  inner.onmessage = (message) => inner.send(answer(message));
  if (inner.phase === "transport") return inner.start();
  await inner.setup();
  await inner.complete({
    status: "success",
    title: "Echo",
    visibility: { requirement: "hidden" },
  });
}

function answer({ id, params }) {
  return { jsonrpc: "2.0", id, result: params };
}
