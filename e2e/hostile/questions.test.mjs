// What was meant for a view answers no question: not its clicks, not its keys, wherever it moves, whatever it covers. And a view
// has the keyboard by a pointer or key of the person, never by its own script.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { openScene } from "./scene.mjs";

const scene = await openScene({ after });
const { bench, openHostile, neighbourWorks, reached, audited, until } = scene;
const { page } = bench;

const leaked = [];
await bench.context.exposeBinding("leak", (_, key) => void leaked.push(key));

/** From here on the page's frames are drawn when the test says so: a question stands still for as long as that, on any machine. */
async function stopFrames(t) {
  await page.evaluate(() => {
    const browsers = requestAnimationFrame;
    let waiting = [];
    let now = performance.now();
    globalThis.requestAnimationFrame = (hear) => waiting.push(hear);
    globalThis.drawFor = (time) => {
      for (const end = now + time; now < end; ) {
        now += 20;
        waiting.splice(0).forEach((hear) => hear(now));
      }
    };
    globalThis.startFrames = () => {
      globalThis.requestAnimationFrame = browsers;
      waiting.splice(0).forEach((hear) => browsers(hear));
    };
  });
  t.after(() => page.evaluate(() => startFrames()));
}
const drawFor = (time) => page.evaluate((time) => globalThis.drawFor(time), time);
const isArmed = (card) => card.ask.evaluate((dialog) => "armed" in dialog.dataset);
const heightOf = (card) => card.box.locator("transom-view").evaluate((view) => view.shadowRoot.querySelector("iframe").offsetHeight);
const modeOf = (card) => card.box.locator("transom-view").evaluate((view) => view.mode);
const centre = async (locator) => {
  const { x, y, width, height } = await locator.boundingBox();
  return [x + width / 2, y + height / 2];
};

/** What is asked every time, whatever was said before. */
const wants = (view) => view.evaluate(() => void (globalThis.answer = ask("ui/open-link", { url: "https://example.com/" })));
/** A field of the page's own, with the keyboard in it. */
async function typeInPage(t, words) {
  await page.evaluate(() => document.querySelector("main").prepend(Object.assign(document.createElement("input"), { id: "own" })));
  t.after(() => page.evaluate(() => document.getElementById("own").remove()));
  await page.locator("#own").click();
  await page.keyboard.type(words);
  return page.locator("#own");
}

test("a double click that was meant for the view answers no question", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => post({ method: "ui/notifications/size-changed", params: { height: 900 } }));
  await until(async () => (await heightOf(card)) === 900, "the view is tall");
  await stopFrames(t);
  // The first click makes the view ask, and shrink; the second one and whatever follows come where the button is by now.
  await view.evaluate(() => (document.onclick = () => void (globalThis.answer = call("change"))));
  await card.guest.locator("p").click();
  await card.ask.waitFor();
  await page.evaluate(() => void (globalThis.resized = new Promise((done) => addEventListener("transom-resize", done, { once: true }))));
  await view.evaluate(() => post({ method: "ui/notifications/size-changed", params: { height: 20 } }));
  await page.evaluate(() => resized.then(() => {}));
  const allow = await centre(card.ask.locator("button.allow"));
  for (let clicks = 0; clicks < 5; clicks++) {
    await page.mouse.dblclick(...allow);
    await drawFor(400);
    assert.equal(await card.ask.count(), 1, "nobody has answered");
  }
  assert.equal(await card.ask.locator(".wait").innerText(), "That was too early. Please answer again.");
  // Pressed too early and let go when it would count.
  await page.mouse.down();
  await drawFor(1000);
  assert.equal(await isArmed(card), true);
  await page.mouse.up();
  assert.equal(await card.ask.count(), 1);
  assert.equal(await heightOf(card), 900, "its size is held");
  assert.deepEqual(await reached(view), []);
  await drawFor(1000);
  await card.answer("deny");
  assert.match((await view.evaluate(() => answer)).message, /./);
  assert.deepEqual(await reached(view), []);
  await until(async () => (await heightOf(card)) === 20, "the size it wanted meanwhile is taken");
  await neighbourWorks();
});

test("what was pressed too early stays so until it is let go, whatever else is pressed", async (t) => {
  const { view, card } = await openHostile(t);
  await stopFrames(t);
  await wants(view);
  await card.ask.waitFor();
  await page.mouse.move(...(await centre(card.ask.locator("button.allow"))));
  await page.mouse.down();
  await page.keyboard.press("Shift");
  await drawFor(1000);
  assert.equal(await isArmed(card), true);
  await page.mouse.up();
  assert.equal(await card.ask.count(), 1, "a key of somebody else's came up in between");
  // A key that is held down since before, and a click beside it.
  await page.keyboard.down("a");
  await page.keyboard.press("Shift");
  await drawFor(1000);
  await page.keyboard.up("a");
  assert.equal(await card.ask.count(), 1);
  await drawFor(1000);
  await card.answer("deny");
  assert.match((await view.evaluate(() => answer)).message, /./);
  await neighbourWorks();
});

test("a question that the browser closes comes back, and can be answered", async (t) => {
  const { view, card } = await openHostile(t);
  await stopFrames(t);
  await wants(view);
  await card.ask.waitFor();
  await drawFor(1000);
  assert.equal(await isArmed(card), true);
  // A frame is drawn before the page hears that the dialog is closed.
  await card.ask.evaluate(async (dialog) => {
    const closed = new Promise((done) => dialog.addEventListener("close", done, { once: true }));
    dialog.close();
    drawFor(20);
    await closed;
  });
  await card.ask.waitFor();
  assert.equal(await isArmed(card), false, "it was out of sight");
  await drawFor(1000);
  assert.equal(await isArmed(card), true);
  await card.answer("deny");
  assert.match((await view.evaluate(() => answer)).message, /./);
  await neighbourWorks();
});

test("a key that was meant for the view answers no question", async (t) => {
  const { view, card } = await openHostile(t);
  await stopFrames(t);
  await wants(view);
  await card.ask.waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.className), "ask", "the keyboard is on no button");
  for (const key of ["Enter", "Space", "Escape", "a"]) await page.keyboard.press(key);
  for (const choice of ["allow", "deny"]) {
    await card.ask.locator(`button.${choice}`).focus();
    for (const key of ["Enter", "Space", "Escape"]) await page.keyboard.press(key);
  }
  assert.equal(await card.ask.count(), 1, "too early");
  // Held down since before: the key repeats when the buttons are armed.
  for (const key of ["Enter", "Space"]) {
    await page.keyboard.down(key);
    await drawFor(1000);
    assert.equal(await isArmed(card), true);
    await page.keyboard.down(key);
    assert.equal(await isArmed(card), false, "a key that is held down is no answer");
    await drawFor(1000);
    await page.keyboard.up(key);
  }
  assert.equal(await card.ask.count(), 1, "held down");
  // Somebody types words, in the middle of which the buttons are armed.
  await drawFor(1000);
  await page.keyboard.press("a");
  await page.keyboard.press("Enter");
  assert.equal(await card.ask.count(), 1, "in the middle of typing");
  await drawFor(1000);
  await page.keyboard.press("Escape");
  await card.ask.waitFor({ state: "detached" });
  assert.match((await view.evaluate(() => answer)).message, /./, "the Escape key says no");
  await audited(card, ({ kind, outcome }) => kind === "decision" && outcome === "deny");
  await neighbourWorks();
});

test("a question is answered by the keyboard alone: the first button that Tab comes to says no", async (t) => {
  const { view, card } = await openHostile(t);
  await view.evaluate(() => void (globalThis.answer = call("change")));
  await card.ask.locator("button.allow:not([aria-disabled=true])").waitFor();
  const focused = () => page.evaluate(() => document.activeElement.className || document.activeElement.textContent);
  const stops = [];
  while (stops.at(-1) !== "More answers") {
    await page.keyboard.press("Tab");
    stops.push(await focused());
  }
  assert.deepEqual(stops, ["quit", "deny", "allow main", "More answers"]);
  // What is folded is a choice like any other; to unfold it arms the buttons anew.
  await page.keyboard.press("Enter");
  await card.ask.locator("button.allow-view:not([aria-disabled=true])").waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "allow-view");
  await page.keyboard.press("Enter");
  assert.equal((await view.evaluate(() => answer)).content[0].text, "changed stranger");
  assert.equal((await view.evaluate(() => call("change"))).content[0].text, "changed stranger", "this view is not asked again");
});

test("after a question the keyboard is where it was", async (t) => {
  const { view, card } = await openHostile(t);
  const field = await typeInPage(t, "before ");
  await wants(view);
  await card.ask.waitFor();
  await card.answer("deny");
  await card.ask.waitFor({ state: "detached" });
  // The page gives the field its caret back in its next task; a person is never that fast.
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  await page.keyboard.type("and after");
  assert.equal(await field.inputValue(), "before and after");
});

test("the buttons arm again after whatever moves, hides or changes the question", async (t) => {
  const { view, card } = await openHostile(t);
  await stopFrames(t);
  await wants(view);
  await card.ask.waitFor();
  const size = page.viewportSize();
  const uncover = () => page.evaluate(() => document.getElementById("cover")?.remove());
  t.after(() => page.setViewportSize(size).then(uncover));
  const happenings = {
    "another size of the window": () => page.setViewportSize({ ...size, width: size.width - 40 }),
    "something above it": () =>
      page.evaluate(() => {
        const cover = Object.assign(document.createElement("div"), { popover: "manual", id: "cover" });
        document.body.append(cover);
        cover.style.cssText = "position:fixed;inset:0;width:auto;height:auto";
        cover.showPopover();
        globalThis.drawFor(1000);
      }),
    "the page out of sight": () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange"))),
    "another window in front": () => page.evaluate(() => dispatchEvent(new Event("blur"))),
  };
  for (const [words, happen] of Object.entries(happenings)) {
    // The browser may tell of what happened last only now, and then the time begins anew.
    for (let tries = 0; tries < 20 && !(await isArmed(card)); tries++) await drawFor(1000);
    assert.equal(await isArmed(card), true, `before: ${words}`);
    await happen();
    await drawFor(20);
    assert.equal(await isArmed(card), false, words);
    await uncover();
  }
  // The next question comes where the first one was, under the second click.
  await view.evaluate(() => void (globalThis.second = ask("ui/open-link", { url: "https://example.com/second" })));
  await card.ask.getByText("1 of 2").waitFor();
  await drawFor(1000);
  await page.mouse.dblclick(...(await centre(card.ask.locator("button.deny"))));
  await card.ask.getByText("https://example.com/second").waitFor();
  assert.equal(await isArmed(card), false);
  assert.equal(await card.ask.locator(".count").innerText(), "");
  await drawFor(1000);
  await card.answer("deny");
  assert.match((await view.evaluate(() => second)).message, /./);
});

test("a question that is replaced keeps its place and arms anew: a press that began on the old one answers nothing", async (t) => {
  const { view, card } = await openHostile(t);
  await stopFrames(t);
  await wants(view);
  await card.ask.waitFor();
  await view.evaluate(() => void (globalThis.second = ask("ui/open-link", { url: "https://example.com/second" })));
  await card.ask.getByText("1 of 2").waitFor();
  // The host process says the same question again: the view has stopped waiting for it.
  const replace = (more) =>
    card.box.locator("transom-view").evaluate(
      (element, more) => {
        const answer = (choice) => void (globalThis.answered ??= []).push(choice);
        const detail = { id: document.querySelector("dialog").dataset.ask, choices: ["allow", "deny"], ...more, answer };
        element.dispatchEvent(new CustomEvent("transom-ask", { bubbles: true, cancelable: true, detail }));
      },
      more,
    );
  const answered = () => page.evaluate(() => globalThis.answered ?? []);
  for (const text of ["Something else?", "Something else again?"])
    for (const press of ["pointer", "key"]) {
      await drawFor(1000);
      assert.equal(await isArmed(card), true);
      const allow = card.ask.locator("button.allow");
      await (press === "key" ? allow.focus() : page.mouse.move(...(await centre(allow))));
      await (press === "key" ? page.keyboard.down("Space") : page.mouse.down());
      await replace({ text: `${text} ${press}`, late: true });
      await card.ask.getByText(`${text} ${press}`).waitFor();
      assert.equal(await isArmed(card), false, "armed for what it asked before");
      await (press === "key" ? page.keyboard.up("Space") : page.mouse.up());
      // And once more, where the button was.
      if (press === "pointer") await page.mouse.click(...(await centre(allow)));
      else await page.keyboard.press("Enter");
      assert.deepEqual(await answered(), [], press);
      await card.ask.getByText("1 of 2").waitFor();
      await card.ask.getByText("The view has stopped waiting.").waitFor();
    }
  await drawFor(1000);
  await card.ask.locator("button.deny").click();
  assert.deepEqual(await answered(), ["deny"], "the answer is to what was shown last");
  await card.ask.getByText("https://example.com/second").waitFor();
  await drawFor(1000);
  await card.answer("deny");
  assert.match((await view.evaluate(() => second)).message, /./);
});

test("questions are asked one at a time, each says who asks, and one that is moot goes", async (t) => {
  const first = await openHostile(t);
  const second = await openHostile(t);
  await wants(first.view);
  await first.card.ask.getByText("wants to open").waitFor();
  await wants(second.view);
  await first.card.ask.getByText("1 of 2").waitFor();
  assert.equal(await second.card.ask.count(), 0, "it waits");
  assert.equal(await page.locator("dialog[open]").count(), 1);
  await first.card.ask.getByText('View of "open" from "stranger"', { exact: true }).waitFor();
  await first.view.evaluate(() => post({ method: "notifications/cancelled", params: { requestId: next - 1 } }));
  await second.card.ask.waitFor();
  // A view that only ever asks can be got rid of from here: everything else on the page waits for the answer.
  await second.card.ask.getByRole("button", { name: "Close this view" }).click();
  await second.card.box.waitFor({ state: "detached" });
  assert.equal(await page.locator("dialog[open]").count(), 0);
  await neighbourWorks();
});

for (const mode of ["pip", "fullscreen"])
  test(`a view in ${mode} covers no question: it goes back inline, and stays there`, async (t) => {
    const { view, card } = await openHostile(t);
    assert.deepEqual(await view.evaluate((mode) => ask("ui/request-display-mode", { mode }), mode), { mode });
    await wants(view);
    await card.ask.waitFor();
    assert.equal(await modeOf(card), "inline");
    const onTop = () =>
      card.ask.evaluate((dialog) => {
        const { x, y, width, height } = dialog.getBoundingClientRect();
        return dialog.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      });
    assert.equal(await onTop(), true);
    await view.evaluate((mode) => ask("ui/request-display-mode", { mode }), mode);
    assert.equal(await modeOf(card), "inline", "not while a question is open");
    assert.equal(await onTop(), true);
    await card.answer("deny");
    assert.equal(await modeOf(card), "inline");
    assert.deepEqual(await view.evaluate((mode) => ask("ui/request-display-mode", { mode }), mode), { mode }, "and then as before");
    await neighbourWorks();
  });

/** What a script does that wants what somebody types; done when it has had the keyboard once. */
const takeKeyboard = (view, again) =>
  view.evaluate((again) => {
    const input = document.body.appendChild(document.createElement("input"));
    addEventListener("keydown", ({ key }) => leak(key));
    const had = new Promise((done) => addEventListener("focus", () => done(), { once: true }));
    input.focus();
    if (again) setInterval(() => input.focus(), 0);
    else return had;
  }, again);

test("a focus() loop does not get what is typed into the page: the view is ended, with words", async (t) => {
  leaked.length = 0;
  const { view, card } = await openHostile(t);
  const field = await typeInPage(t, "before ");
  await takeKeyboard(view, true);
  // Whatever is typed goes to the page or to the view, until the view is gone.
  for (let typed = 0; (await card.box.locator("iframe").count()) > 0; typed++) {
    assert.ok(typed < 1000, "the view is still there");
    // Nobody confirms a key that went to a frame which is gone.
    page.keyboard.press("x").catch(() => {});
  }
  await page.keyboard.type("afterwards");
  assert.match(await field.inputValue(), /^before x*afterwards$/);
  t.diagnostic(`${leaked.length} keys went to the view`);
  await card.note.getByText("it took the keyboard while you were using the page").waitFor();
  await audited(card, ({ kind, outcome }) => kind === "close" && /took the keyboard/.test(outcome));
  await neighbourWorks();
});

test("a focus() loop while a question is open ends the view, and its question with it", async (t) => {
  const { view, card } = await openHostile(t);
  await wants(view);
  await card.ask.waitFor();
  await takeKeyboard(view, true);
  await card.note.getByText("it took the keyboard").waitFor();
  await card.ask.waitFor({ state: "detached" });
  await neighbourWorks();
});

test("one focus() on opening is no crime: the keyboard goes back, and the view goes on", async (t) => {
  leaked.length = 0;
  const { view, card } = await openHostile(t);
  const field = await typeInPage(t, "before ");
  await takeKeyboard(view, false);
  await until(() => view.evaluate(() => !document.hasFocus()), "the view has lost the keyboard");
  await page.keyboard.type("and after");
  assert.equal(await field.inputValue(), "before and after");
  assert.deepEqual(leaked, []);
  assert.equal((await view.evaluate(() => call("look"))).content[0].text, "looked at stranger");
  // What the person does gives it the keyboard: a click, though the first one right after typing is not heard by the view, and the Tab key.
  const [x, y] = await centre(card.guest.locator("input"));
  const clicked = () => page.mouse.click(x, y).then(() => view.evaluate(() => document.hasFocus()));
  await until(clicked, "the view has the keyboard by a click");
  await page.keyboard.type("for the view");
  assert.equal(await card.guest.locator("input").inputValue(), "for the view");
  await card.box.locator("button.close").focus();
  // The first stop is the view's place on the page.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await until(() => view.evaluate(() => document.hasFocus()), "the view has the keyboard by the Tab key");
  await page.keyboard.type("!");
  assert.match(await card.guest.locator("input").inputValue(), /!/);
  await neighbourWorks();
});

scene.lastly();
