// <transom-view> on anybody's page: who has the keyboard, and views that are held while the page asks something.
import assert from "node:assert/strict";
import { putSandbox } from "../rig/sandbox.mjs";
import { openTheatre, putView } from "../rig/stage.mjs";
import { after, test } from "../rig/test.mjs";
import { openTrio } from "../rig/trio.mjs";

const theatre = await openTheatre({ after });

/** A view with a field, on a page with a field. */
async function open(t) {
  const trio = await openTrio(t, theatre, { element: true });
  await trio.host.evaluate(() => document.body.prepend(Object.assign(document.createElement("input"), { id: "own" })));
  await trio.view.evaluate(() => (document.body.innerHTML = "<input id='field'>"));
  return { ...trio, own: trio.host.locator("#own"), field: trio.view.locator("#field") };
}
/** The browser has drawn: it looks at what was drawn last to see whom a click is for. */
const drawn = (host) =>
  host.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
/** Moves the pointer over the view's field. */
async function moveOver(host) {
  const [x, y] = await host.evaluate(() => {
    const { x, y } = theHost.frame().getBoundingClientRect();
    return [x + 40, y + 20];
  });
  await host.mouse.move(x, y);
  await drawn(host);
}
/** A click where the pointer is. */
const clickHere = (host) => host.mouse.down().then(() => host.mouse.up());
/** Far from every view. */
const OWN_BUTTON = [700, 10];
const hasKeyboard = (frame) => frame.waitForFunction(() => document.hasFocus());
const lacksKeyboard = (frame) => frame.waitForFunction(() => !document.hasFocus());

/** Whatever the person did in this frame is long ago. What a test runs in a frame counts as an act of the person's there. */
const quiet = (frame) =>
  frame.evaluate(
    () =>
      new Promise((done) => {
        const timer = setInterval(() => navigator.userActivation.isActive || done(clearInterval(timer)), 20);
      }),
  );
/** The view hears the pointer. */
const hears = (host) => host.waitForFunction(() => theHost.frame().style.pointerEvents === "");

test("a view has the keyboard by a click, right after somebody has typed into the page as well", async (t) => {
  const { host, view, own, field } = await open(t);
  await field.click();
  await host.keyboard.type("one");
  assert.equal(await field.inputValue(), "one");
  await own.click();
  await quiet(view);
  await host.keyboard.type("two");
  assert.equal(await own.inputValue(), "two");
  await moveOver(host);
  await hears(host);
  await clickHere(host);
  await hasKeyboard(view);
  await host.keyboard.press("End");
  await host.keyboard.type(" three");
  assert.equal(await field.inputValue(), "one three");
  assert.equal(await own.inputValue(), "two");
});

test("a pointer that moves over a view which was used just now, while somebody types into the page, gives its script nothing", async (t) => {
  const { host, view, own, field } = await open(t);
  await own.click();
  // What runs here is an act of the person's in the view: its sandbox says so for five seconds.
  await view.evaluate(() => void setTimeout(() => document.getElementById("field").focus(), 400));
  await host.evaluate(() => void (globalThis.lost = new Promise((done) => addEventListener("blur", () => done(), { once: true }))));
  await host.keyboard.type("one");
  await moveOver(host);
  await host.evaluate(() => lost);
  await host.waitForFunction(() => document.activeElement.id === "own");
  await host.keyboard.type("two");
  assert.equal(await own.inputValue(), "onetwo");
  // A click of the person's is heard by the page first, and then by the view.
  await clickHere(host);
  await hears(host);
  await drawn(host);
  await clickHere(host);
  await hasKeyboard(view);
  await host.keyboard.type("three");
  assert.equal(await field.inputValue(), "three");
});

test("a click that comes without a move, right after somebody has typed into the page, is heard the second time", async (t) => {
  const { host, view, own, field } = await open(t);
  await moveOver(host);
  await own.focus();
  await host.keyboard.type("one");
  await clickHere(host);
  await hears(host);
  await drawn(host);
  await clickHere(host);
  await hasKeyboard(view);
  await host.keyboard.type("two");
  assert.equal(await field.inputValue(), "two");
  assert.equal(await own.inputValue(), "one");
});

test("a view that is busy with a click for a while keeps the keyboard that the click gave it", async (t) => {
  const { host, view, field } = await open(t);
  await quiet(view);
  // In our host sandbox and view share a thread: what keeps the view busy has the sandbox answer late.
  await view.parentFrame().parentFrame().evaluate(() => {
    const real = navigator.userActivation;
    Object.defineProperty(navigator, "userActivation", {
      get() {
        const end = performance.now() + 600;
        while (performance.now() < end);
        document.body.dataset.told = "yes";
        return real;
      },
    });
  });
  await host.evaluate(() => {
    globalThis.taken = 0;
    theHost.frame().addEventListener("blur", () => taken++);
  });
  await field.click();
  await view.parentFrame().parentFrame().waitForFunction(() => document.body.dataset.told);
  await drawn(host);
  await host.keyboard.type("one");
  await hasKeyboard(view);
  assert.equal(await field.inputValue(), "one");
  assert.equal(await host.evaluate(() => taken), 0);
});

/** A second view, below the first. */
async function openOther({ host, frameAt }) {
  const { site } = theatre;
  const guest = await putView(site, { scripts: [], body: "<input id='field'>" });
  const src = await putSandbox(site, { origin: site.fresh(), guest });
  await host.evaluate((src) => void (globalThis.other = openElement({ id: "v2", src })), src);
  return frameAt(guest);
}

test("one view's script does not take the keyboard from another that somebody types in; when it goes on, it is ended", async (t) => {
  const trio = await open(t);
  const { host, view, field } = trio;
  const other = await openOther(trio);
  await field.click();
  const deaf = () => host.evaluate(() => other.frame()?.style.pointerEvents ?? "gone");
  await host.waitForFunction(() => other.frame().style.pointerEvents === "none");
  const ended = host.evaluate(() => ear.next("said-close"));
  // It begins when whatever was done in it, and the click, are long ago.
  await other.evaluate(() => {
    const field = document.getElementById("field");
    const timer = setInterval(() => {
      if (navigator.userActivation.isActive) return;
      clearInterval(timer);
      setInterval(() => field.focus(), 200);
    }, 20);
  });
  let going = true;
  void ended.finally(() => (going = false));
  while (going) {
    await host.keyboard.press("x");
    await drawn(host);
    assert.notEqual(await deaf(), "", "a key that goes astray does not make it the person's choice");
  }
  assert.deepEqual(await ended, { reason: "focus" });
  assert.equal(await host.evaluate(() => other.frame()), null);
  // The keyboard is on the page, where the view is: the next Tab goes into it.
  await host.waitForFunction(() => theHost.element.shadowRoot.activeElement?.localName === "div");
  await host.keyboard.press("Tab");
  await hasKeyboard(view);
});

test("Tab goes from one view through the page into the next, back again, and ends none", async (t) => {
  const trio = await open(t);
  const { host, view, own } = trio;
  const other = await openOther(trio);
  await quiet(other);
  await own.focus();
  const at = (element, place) =>
    host.waitForFunction(
      ([element, place]) => globalThis[element].element.shadowRoot.activeElement?.localName === place && document.activeElement === globalThis[element].element,
      [element, place],
    );
  for (let round = 0; round < 6; round++) {
    for (const [element, place] of [["theHost", "div"], ["theHost", "iframe"], ["other", "div"], ["other", "iframe"]]) {
      await host.keyboard.press("Tab");
      await at(element, place);
    }
    await hasKeyboard(other);
    for (const [element, place] of [["other", "div"], ["theHost", "iframe"], ["theHost", "div"]]) {
      await host.keyboard.press("Shift+Tab");
      await at(element, place);
    }
    await host.keyboard.press("Shift+Tab");
    await host.waitForFunction(() => document.activeElement.id === "own");
  }
  assert.deepEqual(await host.evaluate(() => ear.left("said-close")), []);
});

test("what a view's script takes while the person does something on the page goes back: its own sandbox says that it was not in the view", async (t) => {
  const { host, view } = await open(t);
  await view.evaluate(() => {
    addEventListener("message", ({ data }) => data.method === "x/take" && document.getElementById("field").focus());
  });
  await quiet(view);
  // What runs here is an act of the person's on the page, of which no event tells: like the touch of a finger.
  await host.evaluate(() => {
    const button = Object.assign(document.createElement("button"), { id: "press" });
    document.body.append(button);
    button.focus();
    globalThis.lost = new Promise((done) => addEventListener("blur", () => done(), { once: true }));
    theHost.frame().contentWindow.postMessage({ jsonrpc: "2.0", method: "x/take" }, "*");
  });
  await host.evaluate(() => lost);
  await host.waitForFunction(() => document.activeElement.id === "press");
  await lacksKeyboard(view);
});

test("what a view takes whose sandbox does not tell who took it goes back too, and is not held against it", async (t) => {
  const { host, view } = await open(t);
  // As if the sandbox were too busy, for as long as the test runs: it throws before it has an answer.
  await view.parentFrame().parentFrame().evaluate(() => {
    Object.defineProperty(navigator, "userActivation", {
      get() {
        throw new Error("no answer");
      },
    });
  });
  await view.evaluate(() => {
    addEventListener("message", ({ data }) => data.method === "x/take" && document.getElementById("field").focus());
  });
  await host.evaluate(() => void document.body.append(Object.assign(document.createElement("button"), { id: "press" })));
  // As often as ends a view whose sandbox says that it was the script.
  for (let round = 0; round < 4; round++) {
    if (round) {
      await host.waitForFunction(() => theHost.frame().style.pointerEvents === "none");
      await host.mouse.move(...OWN_BUTTON);
      await moveOver(host);
    }
    await hears(host);
    await host.evaluate(() => {
      document.getElementById("press").focus();
      globalThis.lost = new Promise((done) => addEventListener("blur", () => done(), { once: true }));
      theHost.frame().contentWindow.postMessage({ jsonrpc: "2.0", method: "x/take" }, "*");
    });
    await host.evaluate(() => lost);
    await host.waitForFunction(() => document.activeElement.id === "press");
    await lacksKeyboard(view);
  }
  assert.deepEqual(await host.evaluate(() => ear.left("said-close")), []);
});

// What the person does on the page and is no writing.
const ACTS = {
  "a click on the page": ({ host }) => host.mouse.click(...OWN_BUTTON),
  "a key on the page that writes nothing": ({ host }) => host.keyboard.press("ArrowDown"),
};
for (const [words, act] of Object.entries(ACTS))
  test(`what a view's script takes right after ${words} goes back, and the view has it by the next click`, async (t) => {
    const trio = await open(t);
    const { host, view, field } = trio;
    await host.evaluate(([left, top]) => {
      const button = Object.assign(document.createElement("button"), { id: "press", textContent: "press" });
      button.style.cssText = `position:fixed;left:${left - 5}px;top:${top - 5}px`;
      document.body.append(button);
      button.focus();
      globalThis.lost = new Promise((done) => addEventListener("blur", () => done(), { once: true }));
    }, OWN_BUTTON);
    await drawn(host);
    await act(trio);
    await view.evaluate(WAYS["an element"]);
    await host.evaluate(() => lost);
    await lacksKeyboard(view);
    await host.waitForFunction(() => document.activeElement.id === "press");
    await moveOver(host);
    await clickHere(host);
    await hasKeyboard(view);
    await host.keyboard.type("by the person");
    assert.equal(await field.inputValue(), "by the person");
  });

// Every call that moves the keyboard and that another origin may make. The page's frames are not to be had by number: they are in a shadow.
const WAYS = {
  "an element": () => document.getElementById("field").focus(),
  "its window": () => focus(),
  "the window around it": () => parent.focus(),
};
for (const [words, way] of Object.entries(WAYS))
  test(`what a view's script takes by focusing ${words} goes back at once; when it goes on, the view is ended`, async (t) => {
    const { host, view, own } = await open(t);
    await own.click();
    await host.keyboard.type("a");
    await host.evaluate(() => void (globalThis.lost = new Promise((done) => addEventListener("blur", () => done(), { once: true }))));
    await view.evaluate(way);
    await host.evaluate(() => lost);
    await host.waitForFunction(() => document.activeElement.id === "own");
    await host.keyboard.type("b");
    assert.equal(await own.inputValue(), "ab");
    await view.evaluate((way) => void setInterval(new Function(`(${way})()`), 0), String(way));
    assert.deepEqual(await host.evaluate(() => ear.next("said-close")), { reason: "focus" });
    assert.equal(await host.locator("transom-view iframe").count(), 0);
    await host.waitForFunction(() => document.activeElement.id === "own");
    await host.keyboard.type("c");
    assert.match(await own.inputValue(), /^ab.*c$/);
  });

test("a page may give a view the keyboard", async (t) => {
  const { host, view, own } = await open(t);
  await own.click();
  await host.evaluate(() => theHost.element.focus());
  await host.waitForFunction(() => document.activeElement === theHost.element);
  await host.keyboard.type("not for the page");
  assert.equal(await own.inputValue(), "");
});

for (const mode of ["pip", "fullscreen"])
  test(`held while the page asks something, a view in ${mode} is inline, of one size, and without pointer or keyboard`, async (t) => {
    const { host, view, field } = await open(t);
    const tell = (told) => host.evaluate((told) => theHost.tell(told), told);
    const look = () => host.evaluate(() => ({ mode: theHost.element.mode, height: theHost.frame().offsetHeight }));
    await tell({ resize: { height: 300 } });
    await host.evaluate(async (mode) => {
      theHost.tell({ mode: { mode } });
      await ear.next("transom-mode");
    }, mode);
    await field.click();
    await host.evaluate(async () => {
      globalThis.release = theHost.element.constructor.hold();
      await ear.next("transom-mode");
    });
    await lacksKeyboard(view);
    assert.deepEqual(await look(), { mode: "inline", height: 300 });
    await tell({ resize: { height: 40 } });
    await tell({ mode: { mode } });
    await host.evaluate(() => ear.next("transom-mode"));
    assert.deepEqual(await look(), { mode: "inline", height: 300 });
    const hit = await host.evaluate(() => {
      const { x, y } = theHost.frame().getBoundingClientRect();
      return theHost.element.shadowRoot.elementFromPoint(x + 40, y + 20).localName;
    });
    assert.equal(hit, "div", "the pointer does not get to the frame");
    await host.evaluate(() => release());
    assert.deepEqual(await look(), { mode: "inline", height: 40 });
    await drawn(host);
    await field.click();
    await hasKeyboard(view);
  });
