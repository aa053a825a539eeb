// What a view makes the page read. All views of a page share its one thread and its one process, so nothing of a view gets there that its
// sandbox has not measured, and a view that goes past its sandbox is ended.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { looksByPort, openScene, takePort } from "./scene.mjs";

const scene = await openScene({ after });
const { bench, openHostile, neighbourWorks, audited, refusals } = scene;

const LIMIT = 2 ** 24;
const looks = async (view) => assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked at stranger");

/** What the page is given from here on: how long the texts on its ports are, and those that it parses, and what kinds of values come to its window. */
await bench.page.evaluate(() => {
  globalThis.given = { longest: 0, all: 0, other: 0, parsed: 0, kinds: [] };
  const { parse } = JSON;
  JSON.parse = (text, ...more) => {
    given.parsed = Math.max(given.parsed, text.length);
    return parse(text, ...more);
  };
  const { addEventListener: listen } = MessagePort.prototype;
  MessagePort.prototype.addEventListener = function (type, listener, ...more) {
    const heard = (event) => {
      if (typeof event.data !== "string") given.other++;
      given.longest = Math.max(given.longest, event.data?.length ?? 0);
      given.all += event.data?.length ?? 0;
      return listener.call(this, event);
    };
    return listen.call(this, type, heard, ...more);
  };
  const kindsOf = (value) => {
    const kind = Object(value) === value ? value.constructor.name : typeof value;
    return [kind, ...(["Object", "Array"].includes(kind) ? Object.values(value).flatMap(kindsOf) : [])];
  };
  addEventListener("message", (event) => {
    // What comes from the frame of a view's sandbox; what does not is not for the page to read.
    const frames = [...document.querySelectorAll("transom-view")].map(({ shadowRoot }) => shadowRoot.querySelector("iframe"));
    if (frames.some((frame) => frame?.contentWindow === event.source)) given.kinds = [...new Set([...given.kinds, ...kindsOf(event.data)])];
  });
});
const given = () => bench.page.evaluate(() => given);
const forget = () => bench.page.evaluate(() => void Object.assign(given, { longest: 0, all: 0, other: 0, parsed: 0, kinds: [] }));

/** The view is gone, the person is told why, and so is the audit. */
async function ended(card, words) {
  await card.note.getByText(`The view was stopped: ${words}`).waitFor();
  assert.equal(await card.box.locator("iframe").count(), 0);
  await audited(card, ({ kind, outcome }) => kind === "close" && outcome.includes(words), words);
}
const PAST = "it wrote to this page itself, past its sandbox";
const NOT_TEXT = "it sent something other than text on its port";

// What a clone can hold and JSON cannot. Each looks small to whoever counts what can be listed.
const ODD = {
  "a String object": () => new String("x".repeat(1e6)),
  "a map": () => new Map([["x", "x".repeat(1e6)]]),
  "a set": () => new Set(["x".repeat(1e6)]),
  "an error": () => new Error("x".repeat(1e6)),
  "bytes": () => new Uint8Array(1e6),
  "a blob": () => new Blob(["x".repeat(1e6)]),
  "a date": () => new Date(0),
  "a pattern": () => new RegExp("x".repeat(1e6)),
  "a big integer": () => 10n ** 1000n,
  "an array with a name in it": () => Object.assign([1], { name: "x".repeat(1e6) }),
  "an array with a name for a hole": () => Object.assign([,], { name: "x".repeat(1e6) }),
  "one text named 2^40 times": () => Array.from({ length: 40 }).reduce((all) => [all, all], "x"),
  "itself": () => {
    const round = {};
    return Object.assign(round, { round });
  },
};

test("ATK-27 what is not JSON does not get to the page: it is refused, and the view goes on", async (t) => {
  const { view, card } = await openHostile(t);
  await forget();
  for (const [name, make] of Object.entries(ODD)) {
    const refused = await view.evaluate(
      ([id, make]) =>
        new Promise((done) => {
          waiting.set(id, done);
          post({ id, method: "tools/call", params: { name: "look", arguments: { odd: [(0, eval)(make)()] } } });
        }),
      [name, String(make)],
    );
    assert.equal(refused.data?.limit, "message-size", `${name}: ${JSON.stringify(refused)}`);
  }
  await looks(view);
  const { kinds } = await given();
  assert.deepEqual(kinds.filter((kind) => !["Object", "Array", "string", "number", "boolean", "object", "undefined"].includes(kind)), []);
  const effects = (await scene.rowsOf(card)).filter(({ kind }) => kind === "effect");
  assert.equal(effects.length, 1, "the look alone");
  await neighbourWorks();
});

test("ATK-27 a String object of 300 MB does not end the page", async (t) => {
  const { view } = await openHostile(t);
  const refused = await view.evaluate(
    () =>
      new Promise((done) => {
        waiting.set("huge", done);
        post({ id: "huge", method: "tools/call", params: { name: "look", arguments: { huge: new String("x".repeat(3e8)) } } });
      }),
  );
  assert.equal(refused.data?.limit, "message-size", JSON.stringify(refused));
  await looks(view);
  await neighbourWorks();
});

test("ATK-27 texts of 100 MB on the port do not get to the page, and the next one is served", async (t) => {
  const { view, card } = await openHostile(t);
  await forget();
  await takePort(view);
  await view.evaluate(() => {
    const huge = "x".repeat(1e8);
    for (let n = 0; n < 6; n++) say(huge);
  });
  await looksByPort(view);
  assert.ok((await given()).longest < 10_000, `the page was given a text of ${(await given()).longest}`);
  await refusals(card, 6);
  await neighbourWorks();
});

test("ATK-27 16 MB of small parts on the port are not parsed by the page: the gate refuses them", async (t) => {
  const { view, card } = await openHostile(t);
  await forget();
  await takePort(view);
  // Below every limit of size, and dear to whoever builds it: five million objects.
  await view.evaluate((limit) => say(`[${"{},".repeat(limit / 3 - 2)}{}]`), LIMIT);
  await looksByPort(view);
  const { longest, parsed } = await given();
  assert.ok(longest > LIMIT - 9, `the page was given a text of ${longest}`);
  assert.ok(parsed < 100_000, `the page parsed a text of ${parsed}`);
  await refusals(card, 1);
  await neighbourWorks();
});

test("ATK-33 text that is below every limit by itself is stopped when it is too much together", async (t) => {
  const { view, card } = await openHostile(t);
  await forget();
  await takePort(view);
  await view.evaluate(() => {
    const large = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${"x".repeat(15e6)}"}}`;
    for (let n = 0; n < 30; n++) say(large);
  }).catch(() => {});
  await ended(card, "it broke too many rules, or sent far too many messages");
  const { all, longest } = await given();
  assert.ok(longest < LIMIT && all < 200e6, `the page was given ${all}, up to ${longest} at once`);
  await neighbourWorks();
});

for (const [name, make] of Object.entries({
  "an object": () => ({}),
  "an object with a length that is no number": () => ({ length: NaN }),
  "undefined": () => undefined,
  "a String object": () => new String("x"),
  "bytes": () => new Uint8Array(8),
}))
  test(`ATK-33 ${name} on the port ends the view, and switches no limit off`, async (t) => {
    const { view, card } = await openHostile(t);
    await forget();
    await takePort(view);
    await looksByPort(view);
    await view.evaluate((make) => {
      say((0, eval)(make)());
      const large = "x".repeat(15e6);
      for (let n = 0; n < 10; n++) say(large);
    }, String(make)).catch(() => {});
    await ended(card, NOT_TEXT);
    const { other, longest } = await given();
    assert.deepEqual([other, longest < 10_000], [0, true], `the page was given a text of ${longest}`);
    await neighbourWorks();
  });

/** Ways to write to the page past the sandbox; each does it once. */
const STRAYS = {
  "the view": () => top.postMessage({ stray: 1 }, "*"),
  "a frame inside the view": () => {
    globalThis.child ??= document.body.appendChild(document.createElement("iframe"));
    const script = child.contentDocument.createElement("script");
    script.textContent = "top.postMessage({ stray: 1 }, '*')";
    child.contentDocument.body.append(script);
  },
  "a frame inside the view that is gone at once": () => {
    const child = document.body.appendChild(document.createElement("iframe"));
    const script = child.contentDocument.createElement("script");
    script.textContent = "top.postMessage({ stray: 1 }, '*')";
    child.contentDocument.body.append(script);
    child.remove();
  },
  "a frame without an origin inside the view": () => {
    const child = document.createElement("iframe");
    child.sandbox = "allow-scripts";
    child.srcdoc = "<script>top.postMessage({ stray: 1 }, '*')</script>";
    document.body.append(child);
  },
};

for (const [who, stray] of Object.entries(STRAYS))
  test(`ATK-33 ${who} writes to the page past the sandbox: a few times nothing happens, then the view is ended`, async (t) => {
    const { view, card } = await openHostile(t);
    const send = (many) => view.evaluate(`for (let n = 0; n < ${many}; n++) (${stray})();`);
    const ignored = () => card.box.locator("transom-view").evaluate(({ ignored }) => ignored);
    await send(3);
    await scene.until(async () => (await ignored()) === 3, "the page to have heard of three");
    await looks(view);
    await send(9).catch(() => {});
    await ended(card, PAST);
    await neighbourWorks();
  });

test("ATK-33 50 MB past the sandbox, again and again: the view is ended", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => {
    const huge = "x".repeat(5e7);
    for (let n = 0; n < 10; n++) top.postMessage(huge, "*");
  }).catch(() => {});
  await ended(card, PAST);
  await neighbourWorks();
});

test("a tool with very many arguments is drawn when somebody opens it, and then as one field", async (t) => {
  const { card } = await openHostile(t);
  // The gate lets only 64 KiB of a tool through; what it lets through must not fill the page either.
  const drawn = await card.box.locator("transom-view").evaluate(async (view) => {
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`p${n}`, {}]));
    const tools = Array.from({ length: 600 }, (_, n) => ({ name: `t${n}`, label: `t${n}`, inputSchema: { type: "object", properties } }));
    view.dispatchEvent(new CustomEvent("transom-tools", { detail: { tools } }));
    const offers = view.closest("article").querySelector(".offers");
    const count = () => [offers.querySelectorAll("details").length, offers.querySelectorAll("input, select, textarea").length];
    const closed = count();
    const details = offers.querySelector("details");
    const opened = new Promise((done) => details.addEventListener("toggle", done, { once: true }));
    details.open = true;
    await opened;
    return { closed, opened: count(), field: offers.querySelector("textarea")?.ariaLabel };
  });
  assert.deepEqual(drawn, { closed: [500, 0], opened: [500, 1], field: "The arguments as JSON" });
  await neighbourWorks();
});

scene.lastly();
