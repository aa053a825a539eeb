// The top page: opens one host frame per adapter and runs the measurements, interleaved.
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const { sandboxPort } = Object.fromEntries(new URL(location.href).searchParams);
const documents = new Map();

// "name+quiet" is the same adapter with console.debug made a no-op in both frames.
async function openHost(name) {
  const adapter = name.replace("+quiet", "");
  const frame = document.createElement("iframe");
  frame.style = "width:600px;height:300px";
  frame.src = `/hostframe.${adapter}.html?quiet=${name.endsWith("+quiet") ? 1 : 0}`;
  const loaded = new Promise((done) => (frame.onload = done));
  document.body.appendChild(frame);
  await loaded;
  if (!documents.has(adapter))
    documents.set(adapter, await (await fetch(`/view.${adapter}.html`)).text());
  const runtime = frame.contentWindow.hostRuntime;
  if (!runtime) throw new Error(`host runtime missing for ${adapter}`);
  return {
    addView: (options) =>
      runtime.addView({
        adapterName: adapter,
        viewHtml: documents.get(adapter),
        sandboxPort,
        ...options,
      }),
    close: () => frame.remove(),
  };
}

// The control port of each view comes here, and goes to whoever mounted it.
const expected = new Map();
addEventListener("message", ({ data, ports }) => {
  expected.get(data?.benchView)?.(ports[0]);
  expected.delete(data?.benchView);
});
window.expectView = () => {
  const key = ++views;
  return { key, port: new Promise((resolve) => expected.set(key, resolve)) };
};
let views = 0;

const rotate = (xs, by) => xs.map((_, i) => xs[(i + by) % xs.length]);

async function openAll(adapters, topo) {
  const hosts = [];
  const views = {};
  for (const name of adapters) {
    const host = await openHost(name);
    hosts.push(host);
    views[name] = await host.addView({ topo });
    await views[name].cmd("rtt", { size: 100, chunks: 1, chunk: 300 });
  }
  return { views, close: () => hosts.forEach((host) => host.close()) };
}

window.bench = {
  // A fresh frame each time.
  async handshake({ adapters, topo, n }) {
    const hosts = {};
    const out = {};
    for (const name of adapters) {
      hosts[name] = await openHost(name);
      out[name] = [];
    }
    for (let i = 0; i < n; i++)
      for (const name of rotate(adapters, i)) {
        const view = await hosts[name].addView({ topo, withControl: false });
        if (i > 0) out[name].push(view.handshakeMs);
        await sleep(5);
        await view.unmount();
        await sleep(20);
      }
    for (const name of adapters) hosts[name].close();
    return out;
  },
  async rtt({ adapters, topo, cases, rounds }) {
    const { views, close } = await openAll(adapters, topo);
    const out = Object.fromEntries(
      adapters.map((name) => [name, cases.map(() => [])]),
    );
    for (let round = 0; round < rounds; round++)
      for (let c = 0; c < cases.length; c++)
        for (const name of rotate(adapters, round)) {
          out[name][c].push(...(await views[name].cmd("rtt", cases[c])));
          await sleep(0);
        }
    close();
    return out;
  },
  async pipeline({ adapters, topo, n, size, reps }) {
    const { views, close } = await openAll(adapters, topo);
    const out = Object.fromEntries(adapters.map((name) => [name, []]));
    for (let rep = 0; rep < reps; rep++)
      for (const name of rotate(adapters, rep)) {
        const totalMs = await views[name].cmd("pipeline", { n, size });
        if (rep > 0) out[name].push(totalMs);
        await sleep(100);
      }
    close();
    return out;
  },
  async partials({ adapters, topo, ...load }) {
    const out = {};
    for (const name of adapters) {
      const host = await openHost(name);
      const view = await host.addView({ topo });
      await view.cmd("rtt", { size: 100, chunks: 1, chunk: 100 });
      await sleep(100);
      out[name] = await view.partials(load);
      host.close();
      await sleep(100);
    }
    return out;
  },
  // Round trips on one view while its siblings in the same host window sit idle.
  async siblings({ adapters, topo, counts, reps, ...load }) {
    const out = Object.fromEntries(adapters.map((name) => [name, {}]));
    for (const count of counts) {
      const hosts = {};
      for (const name of adapters) {
        const host = await openHost(name);
        const view = await host.addView({ topo });
        for (let i = 1; i < count; i++)
          await host.addView({ topo, withControl: false });
        await view.cmd("rtt", { size: load.size, chunks: 1, chunk: 300 });
        hosts[name] = { host, view };
        out[name][count] = [];
      }
      for (let rep = 0; rep < reps; rep++)
        for (const name of rotate(adapters, rep))
          out[name][count].push(...(await hosts[name].view.cmd("rtt", load)));
      for (const name of adapters) hosts[name].host.close();
      await sleep(200);
    }
    return out;
  },
  // Opens views and leaves them, for the heap.
  async openIdle({ adapter, topo, n }) {
    window.idle ??= await openHost(adapter);
    for (let i = 0; i < n; i++)
      await window.idle.addView({ topo, withControl: false });
  },
  // One warm view, for the profiler.
  async prepareOne({ adapter, topo }) {
    window.one = await (await openHost(adapter)).addView({ topo });
    await window.one.cmd("rtt", { size: 100, chunks: 1, chunk: 500 });
  },
  runOne: (cmd, args) => window.one.cmd(cmd, args),
};
window.benchReady = true;
