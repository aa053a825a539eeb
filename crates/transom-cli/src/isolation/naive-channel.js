// How the stranger speaks where there is no host: to whoever served it.
const heard = [];
const tell = (words) =>
  void original("/isolation/report", { method: "POST", body: JSON.stringify({ view: plan.view, ...words }), keepalive: true });
const original = fetch.bind(globalThis);
const ask = () => Promise.resolve({ error: "nobody there" });
const begin = (start) => void start(plan);
