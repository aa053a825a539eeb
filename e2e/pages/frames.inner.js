// An inner page: sets itself up without asking, and answers a few methods. `?allow=` names who may connect.
import { InnerFrameTransport } from "../../web/src/frames/index.ts";

const query = new URLSearchParams(location.search);
globalThis.count = 0;

/** Everything that anybody posted to this page. */
globalThis.heardHere = [];
addEventListener("message", ({ origin, data }) => heardHere.push({ origin, data }));

if (!query.has("silent")) begin();

globalThis.begin = begin;
function begin() {
  const inner = (globalThis.inner = new InnerFrameTransport({
    allowedOrigins: query.getAll("allow"),
    requiresVisibleSetup: query.has("visible"),
    opaque: query.has("opaque"),
  }));
  const answer = (id, result) => inner.send({ jsonrpc: "2.0", id, result });
  inner.onmessage = ({ id, method, params }) => {
    if (method === "echo") void answer(id, params);
    if (method === "count") void answer(id, { count: ++count });
    if (method === "reload") location.reload();
    if (method === "leave") location.href = params.url;
    if (method === "require") void inner.requireSetup(params);
    if (method === "close") void inner.close();
  };
  inner.onclose = () => ear.hear("close", inner.reason?.code);
  if (inner.phase === "transport")
    inner.start().then(
      () => ear.hear("open", inner.session.origin),
      ({ code }) => ear.hear("failed", code),
    );
  else
    inner.setup().then(
      async () => {
        ear.hear("pinned", inner.session.origin);
        if (!query.has("visible"))
          await inner.complete({
            status: "success",
            title: query.get("title") ?? "Echo",
            visibility: { requirement: "hidden" },
          });
      },
      ({ code }) => ear.hear("failed", code),
    );
}
