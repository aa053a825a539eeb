// ATK-16, ATK-22, ATK-26 to ATK-32: what is in a message. Sizes, depths, shapes and names.
import assert from "node:assert/strict";
import { hostile } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";
import { looksByPort, openScene, takePort } from "./scene.mjs";

const scene = await openScene({ after, servers: { odd: hostile("odd") } });
const { bench, openHostile, neighbourWorks, reached, rowsOf, audited, refusals } = scene;

const NAMES = ["__proto__", "constructor", "prototype", "then", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];
const effects = async (card) => (await rowsOf(card)).filter(({ kind }) => kind === "effect").length;
const looks = async (view) => assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked at stranger");

test("ATK-32 prototype names as methods are refused like any other that nobody knows", async (t) => {
  const { view, card } = await openHostile(t);
  for (const name of NAMES) {
    const refused = await view.evaluate((name) => ask(name, JSON.parse(`{"__proto__":{"x":1},"name":"look"}`)), name);
    assert.equal(refused.code, -32601, name);
    const row = await audited(card, ({ kind, about }) => kind === "verdict" && about === name);
    assert.deepEqual([row.outcome, row.method], ["refused", undefined]);
    await view.evaluate((method) => post({ method, params: {} }), name);
  }
  await looks(view);
  await neighbourWorks();
});

test("ATK-32 prototype names as tools are the server's tools or nothing", async (t) => {
  const { view, card } = await openHostile(t);
  await reached(view);
  for (const name of NAMES) {
    const there = ["__proto__", "constructor", "then", "toString", "hasOwnProperty"].includes(name);
    const answer = await view.evaluate((name) => call(name), name);
    if (there) assert.equal(answer.content[0].text, `words of ${name} from stranger`);
    else assert.match(answer.message, /not a tool of this view's server/, name);
    const row = await audited(card, ({ kind, about }) => kind === "verdict" && about === name);
    assert.equal(row.outcome, there ? "allowed" : "refused");
  }
  assert.deepEqual(await reached(view), ["__proto__", "constructor", "then", "toString", "hasOwnProperty"]);
  await neighbourWorks();
});

test("ATK-16 prototype names as ids: each request is answered under its own, and no second one while it is open", async (t) => {
  const { view, card } = await openHostile(t);
  for (const id of NAMES) {
    const answer = await view.evaluate(
      (id) =>
        new Promise((done) => {
          waiting.set(id, done);
          for (const name of ["look", "model_only"]) post({ id, method: "tools/call", params: { name } });
        }),
      id,
    );
    assert.equal(answer.content?.[0].text, "looked at stranger", JSON.stringify(answer));
    await audited(card, (row) => row.kind === "verdict" && row.id === JSON.stringify(id) && row.outcome === "refused", id);
  }
  await looks(view);
  await neighbourWorks();
});

test("ATK-26 prototype keys in arguments reach the server as they are and pollute nobody", async (t) => {
  const { view, card } = await openHostile(t);
  const poison = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":"x"}';
  const answer = await view.evaluate((poison) => call("look", JSON.parse(poison)), poison);
  assert.equal(answer.content[0].text, "looked at stranger");
  for (const frame of [bench.page, view.parentFrame().parentFrame(), view.parentFrame(), view])
    assert.deepEqual(await frame.evaluate(() => [{}.polluted, Object.keys(Object.prototype)]), [undefined, []]);
  await audited(card, ({ kind, about, size }) => kind === "effect" && about === "look" && size === poison.length);
  await neighbourWorks();
});

test("ATK-28 shapes that are no message are counted as refused and answered by nobody", async (t) => {
  const { view, card } = await openHostile(t);
  const shapes = [
    { method: 7 },
    { method: {} },
    { method: "ping", id: null },
    { method: "ping", id: {} },
    { method: "ping", id: 1.5 },
    { id: 7777, result: null },
    { id: 7777, error: "x" },
    { id: 7777 },
    { method: "notifications/message", params: [] },
    { method: "notifications/message", params: "x" },
    {},
  ];
  const heard = await view.evaluate((shapes) => {
    const answers = [];
    addEventListener("message", ({ data }) => void (data.id >= 7777 && answers.push(data)));
    for (const shape of [null, 0, "text", [], [{ jsonrpc: "2.0", id: 7778, method: "ping" }]]) parent.postMessage(shape, "*");
    shapes.forEach(post);
    return call("look").then(() => answers);
  }, shapes);
  assert.deepEqual(heard, []);
  await looks(view);
  assert.deepEqual((await rowsOf(card)).filter(({ kind, method }) => kind === "effect" && method !== "tools/call"), []);
  await neighbourWorks();
});

// Whoever made it too large hears that it is, although it goes no further than the sandbox.
const HUGE = '"method":"tools/call","params":{"name":"look","arguments":{"huge":"';
const isRefused = async (card, answer) => {
  assert.equal(answer.data?.limit, "message-size", JSON.stringify(answer));
  await audited(card, ({ kind, id, outcome }) => kind === "verdict" && id === "100" && outcome === "refused");
};

test("ATK-27 a message of 100 MB goes nowhere, and the next one is served (window)", async (t) => {
  const { view, card } = await openHostile(t);
  const answer = await view.evaluate(
    (huge) =>
      new Promise((done) => {
        waiting.set(100, done);
        post(JSON.parse(`{"id":100,${huge}${"x".repeat(100e6)}"}}}`));
      }),
    HUGE,
  );
  await isRefused(card, answer);
  await looks(view);
  assert.equal(await effects(card), 1);
  await neighbourWorks();
});

test("ATK-27 a message of 100 MB goes nowhere, and the next one is served (port)", async (t) => {
  const { view, card } = await openHostile(t);
  await takePort(view);
  const answer = await view.evaluate(
    (huge) =>
      new Promise((done) => {
        waiting.set(100, done);
        say(`{"jsonrpc":"2.0","id":100,${huge}${"x".repeat(100e6)}"}}}`);
      }),
    HUGE,
  );
  await isRefused(card, answer);
  await looksByPort(view);
  assert.equal(await effects(card), 1);
  await neighbourWorks();
});

test("ATK-27 a message whose id is 100 MB, or as deep as it gets, is refused under no name", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => {
    let deep = [];
    for (let level = 0; level < 1_000; level++) deep = [deep];
    const params = { name: "look", arguments: { huge: "x".repeat(20e6) } };
    post({ id: "x".repeat(100e6), method: "tools/call", params });
    post({ id: deep, method: "tools/call", params });
    post({ id: Array.from({ length: 1e6 }, () => 0), method: "tools/call", params });
    const round = {};
    round.round = round;
    post({ id: round, method: "tools/call", params });
  });
  await looks(view);
  assert.equal(await bench.page.evaluate(() => document.body.dataset.socket), "open");
  // All four of them.
  await refusals(card, 4);
  await bench.log("stranger openThis view sends messages of more than").first().waitFor();
  assert.equal(await effects(card), 1);
  await neighbourWorks();
});

// Below every limit that counts characters, and far above the host's, which counts bytes. On the port only UTF-8 does that.
for (const [what, letter, lane] of [
  ["in UTF-8", "中", "window"],
  ["in UTF-8", "中", "port"],
  ["in JSON", "\u0001", "window"],
])
  test(`ATK-27 a message that grows ${what} does not take the page's socket with it, and is refused (${lane})`, async (t) => {
    const { view, card } = await openHostile(t);
    if (lane === "port") await takePort(view);
    const refused = await view.evaluate(
      ([letter, lane]) =>
        new Promise((done) => {
          waiting.set(100, done);
          const message = { id: 100, method: "tools/call", params: { name: "look", arguments: { huge: letter.repeat(8 << 20) } } };
          if (lane === "window") post(message);
          else say(JSON.stringify({ jsonrpc: "2.0", ...message }));
        }),
      [letter, lane],
    );
    assert.match(refused.message, /over the limit/);
    await (lane === "port" ? looksByPort(view) : looks(view));
    assert.equal(await bench.page.evaluate(() => document.body.dataset.socket), "open");
    await audited(card, ({ kind, id, outcome }) => kind === "verdict" && id === "100" && outcome === "refused");
    await bench.log("stranger openThis view sends messages of more than").first().waitFor();
    assert.equal(await effects(card), 1);
    await neighbourWorks();
  });

test("ATK-27 a message 100,000 levels deep is refused, and the next one is served", async (t) => {
  const { view, card } = await openHostile(t);
  await takePort(view);
  await view.evaluate(() => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    say(`{"jsonrpc":"2.0","id":100,"method":"tools/call","params":{"name":"look","arguments":{"deep":${deep}}}}`);
  });
  await looksByPort(view);
  await refusals(card, 1);
  assert.equal(await effects(card), 1);
  await neighbourWorks();
});

test("ATK-27 as deep as a clone can be, a message does not end the page", async (t) => {
  const { view, card } = await openHostile(t);
  const depth = await view.evaluate(() => {
    for (let depth = 100_000; ; depth = depth >> 1) {
      let deep = {};
      for (let level = 0; level < depth; level++) deep = { deep };
      try {
        post({ id: 100, method: "tools/call", params: { name: "look", arguments: deep } });
        return depth;
      } catch {
        // The browser itself cannot clone it.
      }
    }
  });
  assert.ok(depth > 100, "deeper than the gate allows");
  await looks(view);
  assert.equal(await effects(card), 1);
  await neighbourWorks();
});

test("ATK-27 an answer of 100 MB ends the call, not the host", async (t) => {
  const card = await bench.run("odd", "huge");
  t.after(() => card.box.evaluate((box) => box.remove()));
  await bench.log(/odd hugefailed after \d+ ms: the server's answer cannot be used: a message longer than \d+ bytes/).first().waitFor();
  await card.guest.locator("body[data-cancelled]").waitFor();
  await audited(card, ({ kind, about }) => kind === "open" && about === "huge");
  await neighbourWorks();
});

test("ATK-22 a tool's name is read as it is written: no markup, nothing turned round", async (t) => {
  const { view, card } = await openHostile(t);
  const dialogs = [];
  bench.page.on("dialog", (dialog) => (dialogs.push(dialog.message()), dialog.dismiss()));
  const name = "<img src=x onerror=alert(1)>\u202egnp.exe";
  const answer = view.evaluate((name) => call(name), name);
  await card.ask.waitFor();
  const shown = await card.ask.innerText();
  assert.ok(shown.includes("<img src=x onerror=alert(1)>"), shown);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(shown), `what is read is not what is written: ${JSON.stringify(shown)}`);
  assert.equal(await card.ask.locator("img").count(), 0);
  await card.answer("deny");
  assert.match((await answer).message, /./);
  assert.deepEqual(dialogs, []);
  await audited(card, ({ kind, outcome }) => kind === "decision" && outcome === "deny");
  await neighbourWorks();
});

scene.lastly();
