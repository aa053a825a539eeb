// Runs in a host window: one same-origin frame per adapter, so that listeners of different libraries never see each
// other's messages. Bundled once per adapter with "#adapter" standing for adapters/<name>.host.js.
import adapter from "#adapter";

const asked = new URL(location.href).searchParams;
const quiet = asked.get("quiet") === "1";
if (quiet) console.debug = () => {};

const now = () => performance.now();
const absolute = () => performance.timeOrigin + performance.now();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const onCallTool = async ({ arguments: args }) =>
  args.rows
    ? { content: [], structuredContent: { rows: args.rows } }
    : { content: [{ type: "text", text: args.payload }] };

// Topologies: "direct", "same-site", "other-site", "own-origin", "other-site-html" (see README.md).
async function addView({
  topo,
  adapterName,
  viewHtml,
  sandboxPort,
  withControl = true,
  timeout = 30_000,
}) {
  const direct = topo === "direct";
  const { key, port: control } = top.expectView();
  const about = JSON.stringify({ quiet, key });
  const { html, ...addresses } = addressesOf(
    topo,
    adapterName,
    sandboxPort,
    key,
    about,
    viewHtml,
  );

  let initialized;
  const ready = new Promise((resolve) => (initialized = resolve));
  const start = now();
  let handshakeMs;
  const host = await adapter.mount({
    container: document.body,
    direct,
    html,
    ...addresses,
    onCallTool,
    onInitialized() {
      handshakeMs ??= now() - start;
      initialized();
    },
  });
  const soon = (promise, what) =>
    Promise.race([
      promise,
      sleep(timeout).then(() => {
        throw new Error(`timeout: ${what}`);
      }),
    ]);
  await soon(ready, "initialized");
  const cmd = withControl
    ? commander(await soon(control, "control port"))
    : undefined;

  return {
    handshakeMs,
    cmd,
    unmount: () => host.unmount(),
    partials: (how) => partials(host, cmd, how),
  };
}

/** Sends partial inputs at `rate` a second, paced by short ticks as a relay of a token stream would. */
async function partials(
  host,
  cmd,
  { rate, seconds, size, spinMs = 0, drainMs = 3000 },
) {
  await cmd("partialStart", { spinMs });
  const total = rate * seconds;
  const text = "x".repeat(size);
  const begin = now();
  let sent = 0;
  let sendMs = 0;
  while (sent < total) {
    const due = Math.min(
      total,
      Math.floor(((now() - begin) / 1000) * rate) + 1,
    );
    const before = now();
    for (; sent < due; sent++)
      host.sendPartial({ seq: sent, t: absolute(), text })?.catch?.(() => {});
    sendMs += now() - before;
    await sleep(1);
  }
  const deadline = now() + drainMs;
  let last = -1;
  do {
    await sleep(5);
    last = await Promise.race([
      cmd("partialLast"),
      sleep(drainMs).then(() => -2),
    ]);
  } while (last !== -2 && last < total - 1 && now() < deadline);
  const record = await cmd("partialStop");
  return {
    sent: total,
    sendUsPer: (sendMs / total) * 1000,
    newestArrived: record.newest === total - 1,
    ...record,
  };
}

/** Where the frames of a topology come from. */
function addressesOf(topo, adapterName, sandboxPort, key, about, viewHtml) {
  const directUrl = `${location.origin}/guest.${adapterName}.html#${encodeURIComponent(about)}`;
  const html = `<!doctype html><html><head><meta charset="utf-8"></head><body><script>window.__BENCH=${about}</script>${viewHtml}</body></html>`;
  const ports = adapter.needsPorts ? 1 : 0;
  const [sandboxName, guestName] =
    {
      "same-site": ["localhost", "localhost"],
      "other-site": ["127.0.0.1", "127.0.0.1"],
      "own-origin": [`s${key}.localhost`, `g${key}.localhost`],
      "other-site-html": ["127.0.0.1"],
    }[topo] ?? [];
  const guest =
    guestName &&
    `http://${guestName}:${sandboxPort}/guest.${adapterName}.html#${encodeURIComponent(about)}`;
  const query = new URLSearchParams({
    ports,
    host: location.origin,
    ...(guest && { guest }),
  });
  const proxyUrl = `http://${sandboxName}:${sandboxPort}/${adapter.proxy ?? "proxy.default"}.html?${query}`;
  return { html, guest, directUrl, proxyUrl };
}

function commander(port) {
  const pending = new Map();
  let last = 0;
  port.onmessage = ({ data: { id, result, error } }) => {
    const [resolve, reject] = pending.get(id);
    pending.delete(id);
    error ? reject(new Error(error)) : resolve(result);
  };
  return (cmd, args) =>
    new Promise((resolve, reject) => {
      pending.set(++last, [resolve, reject]);
      port.postMessage({ id: last, cmd, args });
    });
}

window.hostRuntime = { addView };
