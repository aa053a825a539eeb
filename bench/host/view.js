// The view: says when it was ready, then how long its calls took. The same document in both hosts.
import { App } from "@modelcontextprotocol/ext-apps";

const app = new App({ name: "bench", version: "1" }, {});
let go;
const told = new Promise((done) => (go = done));
app.ontoolinput = ({ arguments: given }) => go(given);
app.onteardown = async () => ({});
await app.connect();
const ready = performance.timeOrigin + performance.now();

const { run, size = 0, count = 0 } = await told;
const data = "x".repeat(size);
const call = () => app.callServerTool({ name: "echo", arguments: { data } });
const trips = [];
// The clock moves in steps of 100 µs, so small calls are timed several at a time.
const chunk = size < 10_000 ? 10 : 1;
for (let done = 0; done < count + chunk; done += chunk) {
  const began = performance.now();
  for (let one = 0; one < chunk; one++) await call();
  trips.push((performance.now() - began) / chunk);
}
await app.callServerTool({
  name: "report",
  arguments: { run, ready, trips: trips.slice(1) },
});
