// Runs inside the view. Bundled once per adapter with "#adapter" standing for adapters/<name>.view.js.
import adapter from "#adapter";

const about =
  window.__BENCH ?? JSON.parse(decodeURIComponent(location.hash.slice(1)));
if (about.quiet) console.debug = () => {};
const now = () => performance.now();
const absolute = () => performance.timeOrigin + performance.now();

const payloads = new Map();
function payload(size, shape) {
  const key = size + shape;
  if (!payloads.has(key))
    payloads.set(
      key,
      shape === "rows" ? { rows: rows(size) } : { payload: "x".repeat(size) },
    );
  return payloads.get(key);
}
const rowCount = (size) => Math.max(1, Math.round(size / 100));
const rows = (size) =>
  Array.from({ length: rowCount(size) }, (_, i) => ({
    id: i,
    name: "row-" + String(i).padStart(8, "0"),
    value: i * 1.5,
    ok: i % 2 === 0,
    tags: ["alpha", "beta"],
  }));
function check(result, size, shape) {
  const right =
    shape === "rows"
      ? result?.structuredContent?.rows?.length === rowCount(size)
      : result?.content?.[0]?.text?.length === size;
  if (!right)
    throw new Error("bad echo " + JSON.stringify(result)?.slice(0, 200));
}

let record = null;
function onPartial(args) {
  if (!record) return;
  record.lag.push(absolute() - args.t);
  if (args.seq <= record.newest) record.backwards++;
  record.newest = args.seq;
  const end = now() + record.spinMs;
  while (now() < end);
}

const view = await adapter.createView({ onPartial });
const commands = new Map(
  Object.entries({
    // Sequential calls; the mean of each chunk, because performance.now() moves in steps of 100 µs.
    async rtt({ size, shape = "flat", chunks, chunk }) {
      const args = payload(size, shape);
      const means = [];
      check(await view.callTool("echo", args), size, shape);
      for (let c = 0; c < chunks; c++) {
        const start = now();
        for (let i = 0; i < chunk; i++) await view.callTool("echo", args);
        means.push((now() - start) / chunk);
      }
      return means;
    },
    async pipeline({ n, size }) {
      const args = payload(size, "flat");
      const start = now();
      const all = Array.from({ length: n }, () => view.callTool("echo", args));
      const results = await Promise.all(all);
      const totalMs = now() - start;
      check(results[n - 1], size, "flat");
      return totalMs;
    },
    partialStart({ spinMs }) {
      record = { lag: [], newest: -1, backwards: 0, spinMs };
    },
    partialLast: () => record.newest,
    partialStop() {
      const done = record;
      record = null;
      return { ...done, received: done.lag.length };
    },
  }),
);
const { port1, port2 } = new MessageChannel();
port1.onmessage = async ({ data: { id, cmd, args } }) => {
  try {
    port1.postMessage({ id, result: await commands.get(cmd)(args ?? {}) });
  } catch (error) {
    port1.postMessage({ id, error: String(error?.stack ?? error) });
  }
};
// To the top page, where no library listens: one that guards its window would close a port it did not ask for.
top.postMessage({ benchView: about.key }, "*", [port2]);
