// Measures Transom against raw postMessage and ext-apps in Chromium, in one run, interleaved, and prints ratios.
//   node run.mjs                                  everything, about ten minutes on two cores
//   node run.mjs --phases=rtt,pipeline            some measurements
//   node run.mjs --topos=other-site --adapters=raw-object,transom-plain --scale=0.3
//   --wait=SECONDS    wait up to that long before each measurement for an idle machine (60)
//   --tries=N         repeat a measurement up to N times while others use more than a quarter of a core (2)
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildAdapters } from "./lib/build.mjs";
import { cpuSeconds, launch } from "./lib/chrome.mjs";
import { usedHeap } from "./lib/heap.mjs";
import { meter, waitIdle } from "./lib/quiet.mjs";
import { HOME, serveBench } from "./lib/serve.mjs";
import { median, quantile, round, table } from "./lib/stats.mjs";

const REFERENCE = "raw-object";
const ADAPTERS = [
  REFERENCE,
  "raw-port-text",
  "transom-plain",
  "transom-fast",
  "ext-apps",
  "ext-apps+quiet",
];
const TOPOS = ["direct", "same-site", "other-site", "own-origin"];
/** HTML handed to the sandbox instead of an address: only the handshake differs. */
const HTML = "other-site-html";
const SIZES = [
  { name: "100 B", size: 100, chunks: 10, chunk: 20 },
  { name: "10 KB", size: 10_240, chunks: 10, chunk: 10 },
  { name: "1 MB", size: 1_048_576, chunks: 3, chunk: 1 },
  { name: "1 MB of rows", size: 1_048_576, shape: "rows", chunks: 2, chunk: 1 },
];

/** A browser that has not answered by then will not. */
const LIMIT = 240_000;

const options = new Map(
  process.argv
    .slice(2)
    .map((argument) => argument.replace(/^--/, "").split("=")),
);
const listed = (name, fallback) => options.get(name)?.split(",") ?? fallback;
const adapters = listed("adapters", ADAPTERS);
const topos = listed("topos", TOPOS);
const scale = Number(options.get("scale") ?? 1);
const times = (n) => Math.max(3, Math.round(n * scale));

const results = {};
const bars = [];
const raw = (measured) => measured[REFERENCE];

// On a quiet machine the medians are compared. Where others kept it busy, the best tenth: preemption hits the slow more
// often than the fast, so that medians taken then say more about the neighbours than about the libraries.
const QUIET = 0.25;
const ratios = (measured, { others } = { others: 0 }) => {
  const of = others > QUIET ? (values) => quantile(values, 0.1) : median;
  return Object.fromEntries(
    adapters.map((name) => [name, of(measured[name]) / of(raw(measured))]),
  );
};

const phases = {
  async handshake() {
    const rows = new Rows();
    for (const topo of options.has("topos") ? topos : [...topos, HTML]) {
      const { value, busy } = await inPage("handshake", {
        adapters,
        topo,
        n: times(100),
      });
      const ratio = ratios(value, busy);
      rows.add(topo, ratio, `raw ${round(median(raw(value)), 1)} ms`, busy);
      for (const lane of lanes())
        bar(`handshake, ${topo}, ${lane}`, ratio[lane], 1.15);
    }
    rows.print("Handshake, from frame creation to `initialized`");
  },

  async rtt() {
    for (const { name, ...load } of SIZES) {
      const rows = new Rows();
      for (const topo of topos) {
        const { value, busy } = await inPage("rtt", {
          adapters,
          topo,
          cases: [load],
          rounds: times(20),
        });
        const measured = Object.fromEntries(
          adapters.map((each) => [each, value[each][0]]),
        );
        const ratio = ratios(measured, busy);
        rows.add(topo, ratio, `raw ${round(median(raw(measured)))} ms`, busy);
        if (topo !== "other-site") continue;
        bar(
          `round trip of ${name}, ${topo}, transom-plain`,
          ratio["transom-plain"],
          // Small ones pay for the porch most.
          name === "100 B" ? 1.2 : 1.1,
        );
        if (name === "100 B")
          bar(
            `round trip of ${name}, ${topo}, transom-fast`,
            ratio["transom-fast"],
            0.6,
          );
        if (name === "1 MB of rows")
          bar(
            `round trip of ${name}, ${topo}, transom-fast`,
            ratio["transom-fast"],
            0.25,
          );
      }
      rows.print(`\`tools/call\` answered in the page, ${name} each way`);
    }
  },

  async pipeline() {
    const rows = new Rows();
    for (const topo of topos) {
      const { value, busy } = await inPage("pipeline", {
        adapters,
        topo,
        n: 5000,
        size: 100,
        reps: times(8),
      });
      const ratio = ratios(value, busy);
      rows.add(topo, ratio, `raw ${round(median(raw(value)), 0)} ms`, busy);
      if (topo === "direct")
        for (const lane of lanes())
          bar(`5,000 pipelined, direct, ${lane}`, ratio[lane], 1.3);
    }
    rows.print("5,000 pipelined calls of 100 B");
  },

  async partials() {
    for (const spinMs of [0, 2]) {
      const rows = new Rows();
      for (const topo of topos) {
        const load = {
          rate: 1000,
          seconds: times(3),
          size: 500,
          spinMs,
          drainMs: 20_000,
        };
        const { value, busy } = await inPage("partials", {
          adapters,
          topo,
          ...load,
        });
        const late = Object.fromEntries(
          adapters.map((name) => [name, quantile(value[name].lag, 0.95)]),
        );
        rows.add(topo, late, `${load.seconds} s`, busy);
        for (const name of adapters)
          if (!value[name].newestArrived || value[name].backwards > 0)
            bar(
              `partial inputs, ${topo}, ${name}: newest arrived, none went back`,
              1,
              0,
            );
        if (spinMs)
          for (const lane of lanes())
            bar(
              `partial inputs into a 2 ms handler, ${topo}, ${lane}, ms`,
              late[lane],
              50,
            );
      }
      rows.print(
        `1,000 partial inputs a second, handler takes ${spinMs} ms: lag in ms, 95th percentile`,
      );
    }
  },

  /** The postMessage transport: two windows, no sandbox between them, raw in turns with ours. */
  async windows() {
    const rows = [];
    for (const topo of ["same-site", "other-site"]) {
      const load = { topo, size: 100, rounds: times(100), chunk: 50 };
      const rtt = await inPage("windowsRtt", load, "windows.html");
      const shake = await inPage(
        "windowsHandshake",
        { topo, n: times(40) },
        "windows.html",
      );
      for (const [what, { value, busy }, limit] of [
        ["round trip of 100 B", rtt, 1.25],
        ["setup and connection after the announcements", shake, 3],
      ]) {
        const of = busy.others > QUIET ? (v) => quantile(v, 0.1) : median;
        const ratio = of(value.frames) / of(value.raw);
        rows.push([
          topo,
          what,
          round(of(value.raw)),
          round(of(value.frames)),
          round(ratio),
          round(busy.others),
        ]);
        bar(`windows, ${topo}, ${what}`, ratio, limit);
      }
    }
    const head = ["topology", "what", "raw ms", "frames ms", "ratio"];
    results.windows = rows;
    console.log(
      `\n### MCP between two windows\n\n${table([...head, "others' cores"], rows)}`,
    );
  },

  async siblings() {
    const topo = "direct";
    const counts = [1, 50];
    const load = { counts, size: 100, chunks: 10, chunk: 20, reps: times(5) };
    const { value, busy } = await inPage("siblings", {
      adapters,
      topo,
      ...load,
    });
    const cost = Object.fromEntries(
      adapters.map((name) => [
        name,
        median(value[name][50]) / median(value[name][1]),
      ]),
    );
    const rows = new Rows();
    rows.add(
      topo,
      cost,
      `raw ${round(1000 * median(raw(value)[50]), 0)} µs`,
      busy,
    );
    rows.print(
      "Round trip of 100 B beside 49 idle views in the same page, against the same view alone",
    );
    // Beyond raw: what Transom's siblings cost may not exceed what raw siblings cost by more than the noise of the run.
    for (const lane of lanes())
      bar(
        `49 idle siblings, ${lane}, against raw's`,
        cost[lane] / cost[REFERENCE],
        1.1,
      );
  },

  async heap() {
    const rows = new Rows();
    for (const topo of topos.filter((topo) => topo !== "own-origin")) {
      const bytes = {};
      for (const name of adapters)
        bytes[name] = [await heapPerView(name, topo)];
      rows.add(
        topo,
        ratios(bytes),
        `raw ${round(bytes[REFERENCE][0] / 1024, 0)} KB`,
        { others: NaN },
      );
      for (const lane of lanes())
        bar(
          `V8 heap of an idle view, ${topo}, ${lane}`,
          ratios(bytes)[lane],
          1.25,
        );
    }
    rows.print("V8 heap of an idle view, 50 views, after collection");
  },

  /** Where the time goes; only when asked for. */
  async profile() {
    await buildAdapters(adapters, { minify: false });
    for (const adapter of adapters) {
      const { value } = await withPage(async (page) => {
        await page.evaluate(
          `bench.prepareOne(${JSON.stringify({ adapter, topo: topos[0] })})`,
        );
        await page.cdp("Profiler.enable");
        await page.cdp("Profiler.setSamplingInterval", { interval: 100 });
        await page.cdp("Profiler.start");
        await page.evaluate(
          `bench.runOne("pipeline", ${JSON.stringify({ n: 20_000, size: 100 })})`,
        );
        return (await page.cdp("Profiler.stop")).profile;
      });
      printProfile(adapter, value);
    }
    await buildAdapters(adapters);
  },
};

await buildAdapters(adapters);
for (const name of listed(
  "phases",
  Object.keys(phases).filter((name) => name !== "profile"),
))
  await phases[name]();
printBars();
mkdirSync(path.join(HOME, "results"), { recursive: true });
writeFileSync(
  path.join(HOME, "results/run.json"),
  JSON.stringify({ results, bars }, null, 1),
);

function lanes() {
  return adapters.filter((name) => name.startsWith("transom"));
}

function bar(what, value, limit) {
  if (value !== undefined)
    bars.push({ what, value, limit, met: value <= limit });
}

function printBars() {
  const rows = bars.map(({ what, value, limit, met }) => [
    what,
    round(value),
    `≤ ${limit}`,
    met ? "met" : "MISSED",
  ]);
  console.log(`\n### Bars\n\n${table(["bar", "measured", "limit", ""], rows)}`);
  console.log(
    `\n${bars.filter(({ met }) => met).length} met, ${bars.filter(({ met }) => !met).length} missed`,
  );
}

/** The rows of one printed table: topologies down, adapters across. */
function Rows() {
  const rows = [];
  this.add = (topo, values, scaleNote, { others }) => {
    rows.push([
      topo,
      ...adapters.map((name) => round(values[name])),
      scaleNote,
      round(others),
    ]);
    console.error(`  ${rows.at(-1).join("  ")}`);
  };
  this.print = (title) => {
    results[title] = rows;
    console.log(
      `\n### ${title}\n\n${table(["topology", ...adapters, "scale", "others' cores"], rows)}`,
    );
  };
}

async function inPage(measurement, load, file = "bench.html") {
  console.error(`${measurement} ${load.topo}`);
  let best;
  let failures = 0;
  for (
    let attempt = 0;
    attempt < Number(options.get("tries") ?? 2);
    attempt++
  ) {
    const once = await withPage(
      (page) => page.evaluate(`bench.${measurement}(${JSON.stringify(load)})`),
      file,
    ).catch((error) => {
      console.error(`  ${error.message}`);
      if (++failures > 2) throw error;
      attempt--;
    });
    if (!once) continue;
    if (!best || once.busy.others < best.busy.others) best = once;
    if (best.busy.others <= QUIET) break;
  }
  return best;
}

async function withPage(measure, file = "bench.html") {
  await waitIdle({ patienceMs: 1000 * Number(options.get("wait") ?? 60) });
  const site = await serveBench();
  const browser = await launch();
  let alarm;
  const late = new Promise(
    (_, reject) =>
      (alarm = setTimeout(reject, LIMIT, new Error("no result in time"))),
  );
  const measured = async () => {
    const page = await browser.open(
      `http://localhost:${site.hostPort}/${file}?sandboxPort=${site.sandboxPort}`,
    );
    while (!(await page.evaluate("!!window.benchReady")))
      await new Promise((done) => setTimeout(done, 50));
    const stop = meter();
    const before = cpuSeconds(browser.pid);
    const value = await measure(page);
    return { value, busy: stop(cpuSeconds(browser.pid) - before) };
  };
  try {
    return await Promise.race([measured(), late]);
  } finally {
    clearTimeout(alarm);
    await browser.close();
    site.close();
  }
}

async function heapPerView(adapter, topo) {
  const VIEWS = 50;
  const { value } = await withPage(async (page) => {
    const open = (n) =>
      page.evaluate(`bench.openIdle(${JSON.stringify({ adapter, topo, n })})`);
    await open(1);
    const before = await usedHeap(page);
    await open(VIEWS);
    return (await usedHeap(page)) - before;
  });
  return value / VIEWS;
}

function printProfile(adapter, { nodes, samples, timeDeltas }) {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, lineNumber } }) => [
      id,
      `${functionName || "(anonymous)"}:${lineNumber + 1}`,
    ]),
  );
  const self = new Map();
  samples.forEach((id, i) =>
    self.set(
      names.get(id),
      (self.get(names.get(id)) ?? 0) + timeDeltas[i] / 1000,
    ),
  );
  const top = [...self].sort((a, b) => b[1] - a[1]).slice(0, 20);
  console.log(`\n### Self time, 20,000 pipelined calls, ${adapter}\n`);
  console.log(
    table(
      ["function", "ms"],
      top.map(([name, ms]) => [name, round(ms, 1)]),
    ),
  );
}
