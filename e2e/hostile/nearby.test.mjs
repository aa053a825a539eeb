// Programs of this machine and devices of its network trust whoever can reach them. A view reaches none by declaring it.
import assert from "node:assert/strict";
import { startBrowser } from "../rig/browser.mjs";
import { hostile, openBench, startHost } from "../rig/host.mjs";
import { openListener } from "../rig/listener.mjs";
import { after, test } from "../rig/test.mjs";

const browser = await startBrowser();
after(() => browser.close());
const listener = await openListener();
after(() => listener.close());
const { origin, port } = new URL(listener.url);
const declared = [origin, `http://localhost:${port}`, `http://x.localhost:${port}`, `http://0.0.0.0:${port}`];
const WAYS = ["fetch", "fetch without cors", "image", "script", "frame"];
const server = hostile("nearby", ...declared);

async function open(t, options) {
  const host = await startHost(options);
  const bench = await openBench(browser, host);
  t.after(async () => {
    await bench.context.close();
    await host.stop();
  });
  return { host, bench, card: await bench.run("stranger", "open") };
}

/** What arrives at the listener when the view tries all that it can; the last is from nobody's view and always arrives. */
async function arrivals(bench, card) {
  await card.guest.locator("body[data-ready]").waitFor();
  const view = await card.frame();
  listener.knocks.length = 0;
  for (const target of declared) for (const way of WAYS) await view.evaluate(([way, url]) => attack(way, url), [way, `${target}/${way}`]);
  const probe = await bench.context.newPage();
  await probe.goto(`${listener.url}probe`).catch(() => {});
  await probe.close();
  return listener.knocks.map(({ words }) => words).filter((words) => words && !words.includes("probe"));
}

test("a view that declares private addresses is asked about, and after a no it reaches none", async (t) => {
  const { host, bench, card } = await open(t, { servers: { stranger: server } });
  await card.ask.getByText("want to reach programs and devices that outsiders cannot").waitFor();
  for (const each of declared) await card.ask.getByText(`${each} (this machine): to send and fetch, to load scripts`).waitFor();
  assert.equal(await card.guest.locator("body").count(), 0, "and nothing runs meanwhile");
  await card.answer("deny");
  assert.deepEqual(await arrivals(bench, card), []);
  await bench.log("you did not agree to private addresses").first().waitFor();
  const rows = (await host.audit()).filter(({ view }) => view === card.view).map(({ kind, outcome, about }) => [kind, outcome, about]);
  for (const [kind, outcome] of [["ask", undefined], ["decision", "deny"]])
    assert.ok(rows.some(([a, b, about]) => a === kind && b === outcome && about?.includes(origin)), JSON.stringify(rows));
});

test("after a yes it reaches what was shown, and an always counts for the next view", async (t) => {
  const { bench, card } = await open(t, { servers: { stranger: server } });
  await card.ask.waitFor();
  await card.answer("allow-always");
  assert.ok((await arrivals(bench, card)).some((words) => words.startsWith("GET /fetch")));
  const next = await bench.run("stranger", "open");
  await next.guest.locator("body[data-ready]").waitFor();
  assert.equal(await next.ask.count(), 0);
});

test("what is taken back is taken from a view that has it, and a reload does not bring it back", async (t) => {
  const { bench, card } = await open(t, { servers: { stranger: server } });
  await card.ask.waitFor();
  await card.answer("allow-always");
  assert.ok((await arrivals(bench, card)).length > 0);
  await bench.page.getByRole("button", { name: /^Forget: Views of stranger may always reach/ }).click();
  await card.box.getByText("you took back something that you had given it").waitFor();
  assert.equal(await card.box.locator("iframe").count(), 0);
  await bench.page.reload();
  assert.equal(await bench.page.locator("iframe").count(), 0);
  const next = await bench.run("stranger", "open");
  await next.ask.getByText("want to reach programs and devices that outsiders cannot").waitFor();
});

test("what the operator grants is not asked about, and nothing else is given with it", async (t) => {
  const [command, args] = [server.command, [...server.args.slice(0, 2), declared[0]]].map((words) => JSON.stringify(words));
  const toml = `[servers.stranger]\ncommand = ${command}\nargs = ${args}\nprivate = ["127.0.0.1:${port}"]\n`;
  const { bench, card } = await open(t, { toml });
  const heard = await arrivals(bench, card);
  assert.equal(await card.ask.count(), 0);
  assert.ok(heard.some((words) => words.startsWith("GET /fetch")), heard.join("; "));
});

test("dev grants this machine to the server that one writes", async (t) => {
  const { bench, card } = await open(t, { verb: "dev", servers: { stranger: server } });
  assert.ok((await arrivals(bench, card)).length > 0);
  assert.equal(await card.ask.count(), 0);
});

test("a server's last words are for the person, and not for its views", async (t) => {
  const { bench, card } = await open(t, { servers: { stranger: server } });
  await card.ask.waitFor();
  await card.answer("deny");
  await card.guest.locator("body[data-ready]").waitFor();
  const view = await card.frame();
  const died = await view.evaluate(() => call("die"));
  assert.match(died.message, /the server went away/);
  assert.doesNotMatch(JSON.stringify(died), /hush|secret|exit/);
  await bench.log("hush: keys/.secret").first().waitFor();
});
