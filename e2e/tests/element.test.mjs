// <transom-view> for the person in front of it: display modes, keyboard, focus, labels, size.
import assert from "node:assert/strict";
import { openTheatre } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import { addStranger, openTrio, watch } from "../rig/trio.mjs";

const theatre = await openTheatre({ after });
const { site } = theatre;

const ping = (host) => host.evaluate(() => theHost.send("ping"));
const left = (frame, name) => frame.evaluate((name) => ear.left(name), name);
const open = (t, more = {}) => openTrio(t, theatre, { element: true, ...more });
const setMode = (host, mode) =>
  host.evaluate(async (mode) => {
    theHost.tell({ mode: { mode } });
    return (await ear.next("transom-mode")).mode;
  }, mode);
const onTop = (host) =>
  host.evaluate(() => {
    const box = theHost.element.shadowRoot.querySelector("div");
    return (
      box.matches(":popover-open") ||
      theHost.element.shadowRoot.fullscreenElement === box
    );
  });

test("no display mode reloads the view", async (t) => {
  const trio = await open(t);
  await trio.view.evaluate(() => (globalThis.alive = "since the start"));
  let navigations = 0;
  trio.host.on("framenavigated", () => navigations++);
  for (const mode of [
    "fullscreen",
    "inline",
    "pip",
    "inline",
    "pip",
    "fullscreen",
    "pip",
    "inline",
  ]) {
    assert.equal(await setMode(trio.host, mode), mode);
    assert.equal(await onTop(trio.host), mode !== "inline", mode);
    assert.equal(await trio.view.evaluate(() => alive), "since the start");
    assert.deepEqual(await ping(trio.host), {});
  }
  assert.equal(navigations, 0);
});

test("a click in the view is activation enough for the browser's own fullscreen", async (t) => {
  const trio = await open(t);
  await trio.view.evaluate(
    () =>
      (document.body.innerHTML =
        "<button style='width:100%;height:100px'>b</button>"),
  );
  await trio.view.click("button");
  assert.equal(await setMode(trio.host, "fullscreen"), "fullscreen");
  assert.equal(
    await trio.host.evaluate(
      () => theHost.element.shadowRoot.fullscreenElement?.localName,
    ),
    "div",
  );
});

for (const mode of ["fullscreen", "pip"]) {
  test(`Escape leaves ${mode} when the focus is on the page`, async (t) => {
    const trio = await open(t);
    await setMode(trio.host, mode);
    await trio.host.evaluate(() =>
      theHost.element.shadowRoot.querySelector("button").focus(),
    );
    await trio.host.keyboard.press("Escape");
    assert.equal(
      (await trio.host.evaluate(() => ear.next("transom-mode"))).mode,
      "inline",
    );
    assert.equal(await onTop(trio.host), false);
    const said = await left(trio.host, "said-mode");
    assert.equal(said.at(-1).mode, "inline", "and the host is told");
  });

  test(`${mode} shows a close button that works`, async (t) => {
    const trio = await open(t);
    await setMode(trio.host, mode);
    await trio.host
      .locator("transom-view")
      .getByRole("button", { name: "Close" })
      .click();
    assert.equal(
      (await trio.host.evaluate(() => ear.next("transom-mode"))).mode,
      "inline",
    );
    assert.deepEqual(await ping(trio.host), {});
  });
}

test("inline shows no close button", async (t) => {
  const trio = await open(t);
  assert.equal(
    await trio.host
      .locator("transom-view")
      .getByRole("button", { name: "Close" })
      .isVisible(),
    false,
  );
});

test("a mode that the page does not offer changes nothing", async (t) => {
  const trio = await open(t);
  await trio.host.evaluate(() => (theHost.element.modes = ["inline"]));
  assert.equal(await setMode(trio.host, "fullscreen"), "inline");
  assert.equal(await onTop(trio.host), false);
});

test("Tab enters the view and leaves it again", async (t) => {
  const trio = await open(t);
  await trio.host.evaluate(() => {
    const make = (id) =>
      Object.assign(document.createElement("button"), { id, textContent: id });
    document.body.prepend(make("before"));
    document.body.append(make("after"));
    document.getElementById("before").focus();
  });
  await trio.view.evaluate(() => {
    document.body.innerHTML = "<input id='one'><input id='two'>";
    for (const input of document.querySelectorAll("input"))
      input.onfocus = () => ear.hear("focus", input.id);
  });
  await trio.host.keyboard.press("Tab");
  assert.equal(await trio.view.evaluate(() => ear.next("focus")), "one");
  await trio.host.keyboard.press("Tab");
  assert.equal(await trio.view.evaluate(() => ear.next("focus")), "two");
  await trio.host.keyboard.press("Tab");
  await trio.host.waitForFunction(() => document.activeElement?.id === "after");
  await trio.host.keyboard.press("Shift+Tab");
  assert.equal(await trio.view.evaluate(() => ear.next("focus")), "two");
});

test("in a display mode the close button is within reach of the keyboard, and no trap", async (t) => {
  const trio = await open(t);
  await trio.view.evaluate(() => {
    document.body.innerHTML = "<input id='one'>";
    document.getElementById("one").focus();
  });
  await setMode(trio.host, "pip");
  await trio.host.keyboard.press("Tab");
  await trio.host.waitForFunction(
    () => theHost.element.shadowRoot.activeElement?.localName === "button",
  );
  await trio.host.keyboard.press("Shift+Tab");
  await trio.view.waitForFunction(() => document.hasFocus());
  await trio.host.keyboard.press("Tab");
  await trio.host.waitForFunction(
    () => theHost.element.shadowRoot.activeElement?.localName === "button",
  );
  await trio.host.keyboard.press("Enter");
  assert.equal(
    (await trio.host.evaluate(() => ear.next("transom-mode"))).mode,
    "inline",
  );
});

test("keys on a view's close button are the person's: the view takes nothing and goes on", async (t) => {
  const trio = await open(t);
  await setMode(trio.host, "pip");
  await trio.host.evaluate(() =>
    theHost.element.shadowRoot.querySelector("button").focus(),
  );
  for (let n = 0; n < 6; n++) await trio.host.keyboard.press("ArrowDown");
  assert.equal(
    await trio.host.evaluate(
      () => theHost.element.shadowRoot.activeElement.localName,
    ),
    "button",
  );
  assert.deepEqual(await left(trio.host, "said-close"), []);
  assert.deepEqual(await ping(trio.host), {});
});

test("the frame is labelled: by the host, else by the element, else plainly", async (t) => {
  const titled = await open(t, { host: { title: "Weather of Ulm" } });
  await titled.host.getByTitle("Weather of Ulm").waitFor({ state: "attached" });
  const plain = await open(t);
  assert.ok(await plain.host.evaluate(() => theHost.frame().title));
});

test("ATK-22 a title of markup, bidi marks or a megabyte is text and nothing else", async (t) => {
  for (const title of [
    '"><img src=x onerror="window.evil=1">',
    "\u202eknab ruoY",
    "x".repeat(1_000_000),
  ]) {
    const trio = await open(t, { host: { title } });
    assert.equal(await trio.host.evaluate(() => theHost.frame().title), title);
    assert.equal(await trio.host.evaluate(() => window.evil), undefined);
    assert.equal(
      await trio.host.evaluate(
        () => theHost.element.shadowRoot.querySelectorAll("img").length,
      ),
      0,
    );
  }
});

test("ATK-23 ten thousand size reports reach the host in order and resize nothing by themselves", async (t) => {
  const trio = await open(t, { host: { port: true } });
  const before = await trio.host.evaluate(() => theHost.frame().clientHeight);
  await trio.host.evaluate(() =>
    theHost.handle("ui/notifications/size-changed", ({ height }) =>
      ear.hear("size", height),
    ),
  );
  await trio.view.evaluate(() => {
    for (let i = 0; i < 10_000; i++)
      void app.sendSizeChanged({ width: i, height: i });
  });
  assert.deepEqual(await ping(trio.host), {});
  assert.equal((await left(trio.host, "size")).length, 10_000);
  assert.equal(
    await trio.host.evaluate(() => theHost.frame().clientHeight),
    before,
    "hands, no opinions",
  );
});

test("a size from the host is the frame's size, and is reported", async (t) => {
  const trio = await open(t);
  await trio.host.evaluate(() => theHost.tell({ resize: { height: 333 } }));
  assert.equal(
    await trio.host.evaluate(() => theHost.frame().clientHeight),
    333,
  );
  assert.deepEqual(await left(trio.host, "transom-resize"), [{ height: 333 }]);
});

test("the page's width is told to the host when it changes", async (t) => {
  const trio = await open(t);
  await trio.host.evaluate(() => ear.next("said-resize"));
  await trio.host.setViewportSize({ width: 500, height: 400 });
  const { width } = await trio.host.evaluate(() => ear.next("said-resize"));
  assert.ok(width < 500 && width > 400, `${width}`);
});

test("a border is drawn when it is asked for, and only then", async (t) => {
  const width = ({ host }) =>
    host.evaluate(
      () =>
        getComputedStyle(theHost.element.shadowRoot.querySelector("div"))
          .borderTopWidth,
    );
  assert.equal(await width(await open(t)), "0px");
  assert.equal(await width(await open(t, { host: { border: true } })), "1px");
});

test("the element needs no exception in a strict page policy", async (t) => {
  const violations = [];
  const trio = await open(t, {
    hostHeaders: {
      "content-security-policy":
        "default-src 'none'; script-src 'unsafe-inline'; frame-src http://*.localhost:*",
    },
  });
  trio.host.on(
    "console",
    (message) =>
      /Content Security Policy/.test(message.text()) &&
      violations.push(message.text()),
  );
  for (const mode of ["pip", "fullscreen", "inline"])
    await setMode(trio.host, mode);
  await trio.host.evaluate(() => theHost.tell({ resize: { height: 200 } }));
  assert.equal(
    await trio.host.evaluate(() => theHost.frame().clientHeight),
    200,
  );
  assert.deepEqual(violations, []);
});

test("a question nobody answers is denied; one that is taken waits for its answer", async (t) => {
  const trio = await open(t);
  const ask = {
    id: "q1",
    kind: "tool",
    text: "May it?",
    choices: ["allow", "deny"],
  };
  await trio.host.evaluate((ask) => theHost.tell({ ask }), ask);
  assert.deepEqual(await left(trio.host, "said-answer"), [
    { id: "q1", choice: "deny" },
  ]);
  const answered = await trio.host.evaluate(async (ask) => {
    await ear.next("said-answer");
    theHost.element.addEventListener("transom-ask", (event) => {
      event.preventDefault();
      globalThis.later = event.detail.answer;
    });
    theHost.tell({ ask: { ...ask, id: "q2" } });
    const early = ear.left("said-answer").length;
    later("allow");
    return [early, await ear.next("said-answer")];
  }, ask);
  assert.deepEqual(answered, [0, { id: "q2", choice: "allow" }]);
});

test("H-46 a page that speaks in its first script is heard, fifty times out of fifty", async (t) => {
  const trio = await open(t);
  const hello = `<script>parent.postMessage({ jsonrpc: "2.0", method: "notifications/message", params: { data: "first" } }, "*")</script>`;
  const src = site.put(site.host, "/first", hello, {
    "cache-control": "max-age=60",
  });
  const heard = await trio.host.evaluate(async (src) => {
    let heard = 0;
    for (let i = 0; i < 50; i++) {
      const host = openElement({ id: `f${i}`, src });
      await new Promise((done) => host.handle("notifications/message", done));
      heard++;
      host.element.remove();
    }
    return heard;
  }, src);
  assert.equal(heard, 50);
});

for (const kind of ["neighbour", "stranger", "host", "sandbox", "guest"])
  test(`ATK-1 a sibling frame (${kind}'s origin) posts every message to a page with <transom-view>: none is carried`, async (t) => {
    const trio = await open(t);
    const stranger = await addStranger(trio.host, site, {
      origin: site[kind] ?? trio.origins[kind],
    });
    const arrived = await watch(trio.host);
    await arrived(await stranger.evaluate(() => attack(parent)));
    assert.deepEqual(
      (await left(trio.host, "wire")).filter(({ params }) => params?.attack),
      [],
    );
    assert.deepEqual(await ping(trio.host), {});
    assert.deepEqual(await stranger.evaluate(() => received), []);
  });

test("ATK-3 a sandbox frame that shows another site is neither heard nor told anything", async (t) => {
  const trio = await open(t);
  const trap = site.put(
    site.stranger,
    "/trap-element",
    `<script>
    addEventListener("message", ({ data }) => (globalThis.got ??= []).push(data));
    for (const method of ["ui/initialize", "tools/call"])
      parent.postMessage({ jsonrpc: "2.0", id: 1, method, params: { attack: true } }, "*");
  </script>`,
  );
  const arrived = await watch(trio.host);
  await trio.host.evaluate((trap) => (theHost.frame().src = trap), trap);
  const frame = await trio.frameAt(trap);
  await arrived(2);
  await trio.host.evaluate(() =>
    theHost.post({
      method: "ui/notifications/tool-result",
      params: { content: [{ type: "text", text: "secret" }] },
    }),
  );
  assert.deepEqual(
    (await left(trio.host, "wire")).filter(({ params }) => params?.attack),
    [],
  );
  // A message that it may have comes after all that it may not.
  await trio.host.evaluate(() =>
    theHost.frame().contentWindow.postMessage("last", "*"),
  );
  await frame.waitForFunction(() => globalThis.got?.includes("last"));
  assert.deepEqual(await frame.evaluate(() => got), ["last"]);
});

test("ATK-10 a synthetic MessageEvent with the frame's own window and origin is not carried", async (t) => {
  const trio = await open(t);
  await trio.host.evaluate((origin) => {
    const data = {
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: { name: "evil", attack: true },
    };
    dispatchEvent(
      new MessageEvent("message", {
        data,
        origin,
        source: theHost.frame().contentWindow,
      }),
    );
  }, trio.origins.sandbox);
  assert.deepEqual(await ping(trio.host), {});
  assert.deepEqual(
    (await left(trio.host, "wire")).filter(({ params }) => params?.attack),
    [],
  );
});

test("ATK-16 an address that is not a page is not mounted", async (t) => {
  const trio = await open(t);
  for (const src of [
    "javascript:window.evil=1",
    "data:text/html,<script>parent.evil=1</script>",
    "blob:null/1",
    "about:blank",
    "http://",
  ]) {
    await trio.host.evaluate((src) => theHost.tell({ open: { src } }), src);
    assert.equal(await trio.host.evaluate(() => window.evil), undefined);
    assert.deepEqual(await ping(trio.host), {}, src);
  }
});

test("the frame carries the three usual tokens and only the features it was granted", async (t) => {
  const trio = await open(t, { host: { allow: "camera" } });
  assert.equal(
    await trio.host.evaluate(() => theHost.frame().getAttribute("sandbox")),
    "allow-scripts allow-same-origin allow-forms",
  );
  assert.equal(await trio.host.evaluate(() => theHost.frame().allow), "camera");
});
