// The examples, as a person meets them in our host: what they see, what they are asked, and what comes of it.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { EXAMPLES, example } from "../rig/examples.mjs";
import { openBench, runTool, startHost } from "../rig/host.mjs";
import { openListener } from "../rig/listener.mjs";

const host = await startHost({ servers: Object.fromEntries(EXAMPLES.map((name) => [name, example(name)])) });
const browser = await startBrowser();
const listener = await openListener();
after(async () => {
  await browser.close();
  listener.close();
  await host.stop();
});

// What a view showed on the way cannot be asked for at the end, so every change is written down in the view itself.
const prepare = (context) =>
  context.addInitScript(() => {
    const seen = (globalThis.seen = []);
    const look = () => {
      const { state } = document.body?.dataset ?? {};
      const words = document.querySelector("#title")?.textContent;
      const steps = document.querySelectorAll("#steps li").length;
      const progress = document.querySelector("progress")?.value;
      seen.push({ state, words, steps, progress });
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
const bench = await openBench(browser, host, { prepare });
const { page } = bench;
const seen = async (card) => (await card.frame()).evaluate(() => globalThis.seen);

test("weather: a card with the days, in another unit, and refreshed without a question", async () => {
  const card = await bench.run("weather", "get_forecast", { place: "Lisbon" });
  await card.guest.getByRole("heading", { name: "Lisbon" }).waitFor();
  await card.guest.locator("#days li").nth(3).waitFor();
  const degrees = () => card.guest.locator("#degrees").innerText();
  const celsius = parseInt(await degrees());
  await card.press(card.guest.getByRole("button", { name: "°F" }));
  assert.equal(parseInt(await degrees()), Math.round(celsius * 1.8 + 32));

  await card.press(card.guest.getByRole("button", { name: "Refresh" }));
  await card.guest.getByText("Up to date.").waitFor();
  await bench.log('tools/call "get_forecast": allowed').first().waitFor();
  assert.equal(await card.ask.count(), 0, "it reads, so nobody is asked");
  // And the model is told what is on the screen now.
  await bench.log("The person now sees: Lisbon").first().waitFor();
  await card.close();
});

test("weather: a theme that changes reaches the card", async () => {
  const card = await bench.run("weather", "get_forecast", { place: "Oslo", days: 2 });
  await card.guest.getByRole("heading", { name: "Oslo" }).waitFor();
  const ink = () => card.guest.locator("body").evaluate((body) => getComputedStyle(body).color);
  const light = await ink();
  await page.emulateMedia({ colorScheme: "dark" });
  await card.guest.locator('html[data-theme="dark"]').waitFor({ state: "attached" });
  assert.notEqual(await ink(), light);
  await page.emulateMedia({ colorScheme: "light" });
  await card.guest.locator('html[data-theme="light"]').waitFor({ state: "attached" });
  assert.equal(await ink(), light);
  await card.close();
});

test("dashboard: it polls by itself with a tool that only it has, until it is paused", async () => {
  await bench.ready("dashboard");
  const names = await bench.server("dashboard").locator("details.tool > summary").evaluateAll((all) => all.map((each) => each.title));
  assert.deepEqual(names, ["show_dashboard"], "nobody but the view is offered the poll");
  const card = await bench.run("dashboard", "show_dashboard");
  await card.guest.getByRole("heading", { name: "Latency, 95 %" }).waitFor();
  const live = card.guest.locator("#live");
  const polls = async () => Number(await live.getAttribute("data-polls"));
  const line = () => card.guest.locator("#tile-requests path").getAttribute("d");
  const before = await line();
  const frame = await card.frame();
  await frame.waitForFunction(() => Number(document.querySelector("#live").dataset.polls) >= 2);
  assert.notEqual(await line(), before);
  assert.equal(await card.ask.count(), 0, "it reads, so nobody is asked");
  await bench.log('tools/call "poll": allowed').nth(1).waitFor();

  await card.press(card.guest.getByRole("button", { name: "Pause" }));
  await card.guest.getByText("Paused").waitFor();
  const planned = () =>
    frame.evaluate(() => {
      const plain = setTimeout;
      let count = 0;
      globalThis.setTimeout = (...given) => (count++, plain(...given));
      plan();
      globalThis.setTimeout = plain;
      return count;
    });
  assert.equal(await planned(), 0);
  const paused = await polls();
  await card.press(card.guest.getByRole("button", { name: "Go on" }));
  assert.equal(await planned(), 1);
  await frame.waitForFunction((paused) => Number(document.querySelector("#live").dataset.polls) > paused, paused);
  await card.close();
});

test("booking: nothing is written before the person agrees, and what is wrong is said at its field", async () => {
  const card = await bench.run("booking", "book_table", { name: "Ada", guests: 3 });
  await card.guest.getByText("Nothing is booked before you say so.").waitFor();
  assert.equal(await card.guest.getByLabel("Name").inputValue(), "Ada");
  await card.guest.getByText("Nobody yet.").waitFor();
  const book = () => card.press(card.guest.getByRole("button", { name: "Book" }));

  await book();
  await card.ask.getByText('wants to call "book"').waitFor();
  await card.answer("deny");
  await card.guest.getByText(/^Not booked: /).waitFor();
  await card.guest.getByText("Nobody yet.").waitFor();

  await card.write(card.guest.getByLabel("Guests"), "13");
  await book();
  await card.ask.getByText('wants to call "book"').waitFor();
  await card.answer("allow-always");
  await card.guest.locator("#wrong-guests", { hasText: "One to twelve guests." }).waitFor();
  assert.equal(await card.guest.getByLabel("Guests").getAttribute("aria-invalid"), "true");
  assert.equal(await card.guest.locator(":focus").getAttribute("name"), "guests");

  await card.write(card.guest.getByLabel("Guests"), "4");
  await book();
  await card.guest.getByText("Booked: Ada, Thursday, 4 guests.").waitFor();
  await card.guest.locator("#bookings", { hasText: "Ada" }).waitFor();
  assert.match(await card.guest.getByLabel("Evening").innerText(), /Thursday \(10 free\)/);
  assert.equal(await card.ask.count(), 0, "always means always");
  await card.close();

  // The server keeps it: the next view finds it.
  const next = await bench.run("booking", "book_table");
  await next.guest.locator("#bookings", { hasText: "Thursday, 4" }).waitFor();
  await next.close();
});

test("gallery: the declared origin is named before anything is opened", async () => {
  await bench.ready("gallery");
  // H-28: a person who has not clicked yet can see whom the view wants to talk to, and how to grant it.
  const named = bench.server("gallery").locator(".finding", { hasText: /wants to reach http:\/\/127\.0\.0\.1:(\d+), which is on this machine.*private = \["127\.0\.0\.1:\1"\]$/ });
  await named.first().waitFor();
  assert.equal(await bench.cards().count(), 0);
});

test("gallery: the declared origin is named to the person and loads, and no other one does", async () => {
  const card = await bench.run("gallery", "show_gallery");
  // Its pictures are on this machine, and a declaration alone does not reach there.
  await card.ask.getByText("(this machine)").waitFor();
  // The frame that was loaded ahead may stand there already, and has nobody in it.
  assert.equal(await card.guest.locator("body").count(), 0, "nothing of it runs meanwhile");
  await card.answer("allow-always");
  await card.guest.getByText("Moss, oil on air").waitFor();
  const origin = await card.guest.locator("#origin").innerText();
  assert.match(origin, /^http:\/\/127\.0\.0\.1:\d+$/);
  // H-28: named to the person, on the page.
  await bench.log(`this view may talk to ${origin}`).first().waitFor();
  const frame = await card.frame();
  await frame.waitForFunction(() => {
    const pictures = [...document.images];
    return pictures.length === 4 && pictures.every(({ complete, naturalWidth }) => complete && naturalWidth > 0);
  });

  await card.press(card.guest.getByRole("button", { name: "Try a place" }));
  await card.guest.getByText("The host's policy blocked it.").waitFor();
  // Loopback too, when it is another port: the listener would hear of an attempt.
  const tried = await frame.evaluate(async (url) => {
    const violation = new Promise((done) => addEventListener("securitypolicyviolation", ({ blockedURI }) => done(blockedURI), { once: true }));
    const fetched = await fetch(url).then(() => "sent", () => "blocked");
    return { fetched, violation: await violation };
  }, listener.url);
  assert.deepEqual(tried, { fetched: "blocked", violation: listener.url });
  assert.deepEqual(listener.knocks, []);
  await card.close();
});

const RECIPE = {
  title: "Pancakes for a rainy day on which nobody wants to leave the house, and there is time to wait for each of them",
  ingredients: [{ amount: "200 g", name: "flour" }, { amount: "2", name: "eggs" }, { amount: "1 pinch", name: "salt" }],
  steps: ["Whisk flour and eggs with milk.", "Rest for 20 minutes.", "Fry in butter."],
};

test("recipe: it is seen while it is written, and the tool is called at the end", async () => {
  await bench.ready("recipe");
  const view = await page.evaluate(runTool, { server: "recipe", tool: "write_recipe", values: RECIPE, press: "button.slowly" });
  const card = bench.card(view);
  await card.guest.getByText("About 26 minutes").waitFor();
  await card.guest.getByText("Not mentioned in any step: 1 pinch salt.").waitFor();
  assert.equal(await card.guest.locator("#steps li").count(), 3);

  const story = await seen(card);
  const partly = story.filter(({ state }) => state === "writing");
  const titles = new Set(partly.map(({ words }) => words));
  assert.ok([...titles].every((title) => RECIPE.title.startsWith(title)), "what is shown only grows");
  assert.ok(titles.size > 2, `the title was seen growing: ${[...titles]}`);
  const steps = new Set(partly.map(({ steps }) => steps));
  assert.ok(steps.size > 2, "and so were the steps");
  const order = story.map(({ state }) => state).filter((state, n, all) => state && state !== all[n - 1]);
  assert.deepEqual(order, ["waiting", "writing", "written", "done"]);
  // Newest first: the call came after the writing began.
  const lines = await page.locator("#log li").allInnerTexts();
  const at = (words) => lines.findIndex((line) => line.includes(words));
  const [called, begun] = [at('tools/call "write_recipe"'), at('being written: "write_recipe"')];
  assert.ok(called >= 0 && called < begun, lines.join("\n"));
  await card.close();
});

test("recipe: a view that is closed in mid-sentence calls nothing", async () => {
  const calls = await bench.log('tools/call "write_recipe"').count();
  const view = await page.evaluate(runTool, { server: "recipe", tool: "write_recipe", values: { ...RECIPE, title: "Soup ".repeat(200) }, press: "button.slowly" });
  const card = bench.card(view);
  await card.guest.locator('[data-state="writing"]').waitFor();
  await card.close();
  await bench.log(/write_recipe ?closed/).first().waitFor();
  assert.equal(await bench.log('tools/call "write_recipe"').count(), calls);
});

// H-114
test("canvas: what the view offers is listed on its card, and painting is asked about", async () => {
  const card = await bench.run("canvas", "new_canvas", { title: "Harbour", width: 4, height: 3 });
  await card.guest.getByRole("heading", { name: "Harbour" }).waitFor();
  const square = (n) => card.guest.locator("#grid button").nth(n);
  await card.press(square(5));
  assert.equal(await square(5).getAttribute("data-colour"), "blue");

  const offers = card.box.getByRole("region", { name: "Tools of this view" });
  const offer = (title) => offers.locator("details", { hasText: title });
  const run = async (title, values = {}) => {
    const box = offer(title);
    await box.evaluate((details) => (details.open = true));
    for (const [name, value] of Object.entries(values)) {
      const field = box.locator(`.field[data-at="/${name}"]`).locator("input, select");
      if ((await field.evaluate(({ tagName }) => tagName)) === "SELECT") await field.selectOption({ label: value });
      else await field.fill(value);
    }
    await box.getByRole("button", { name: "Run" }).click();
    return box.locator(".answer");
  };
  await offers.waitFor();
  const before = await run("Look at the canvas");
  await before.getByText("4 by 3; blue at 1,1").waitFor();
  assert.equal(await card.ask.count(), 0, "looking changes nothing");

  const painted = await run("Paint a square", { x: "0", y: "2", colour: "red" });
  await card.ask.getByText('The model wants to use "paint_square"').waitFor();
  assert.equal(await square(8).getAttribute("data-colour"), null);
  await card.answer("allow");
  await painted.getByText("painted 0,2 red").waitFor();
  assert.equal(await square(8).getAttribute("data-colour"), "red");
  await card.guest.getByText("The model painted 1, 3 red.").waitFor();

  const outside = await run("Paint a square", { x: "9", y: "9", colour: "red" });
  await card.ask.getByText('The model wants to use "paint_square"').waitFor();
  await card.answer("allow");
  await outside.getByText("there is no square 9, 9").waitFor();
  assert.match(await outside.getAttribute("class"), /failed/);
  await card.close();
});

test("document: it comes in chunks, the bar moves, and it is all there", async () => {
  const card = await bench.run("document", "open_logbook");
  await card.guest.getByText("All of it is here, and it is what the server has.").waitFor();
  assert.equal(await card.guest.getByRole("progressbar", { name: "Read" }).evaluate(({ value }) => value), 1);
  const values = (await seen(card)).map(({ progress }) => progress).filter(Boolean);
  assert.ok(new Set(values).size > 10, "the bar was seen in more than ten places");
  assert.deepEqual(values, values.toSorted((a, b) => a - b), "and never went back");
  await card.guest.getByText(/^Day 1\. /).waitFor();
  await card.press(card.guest.getByRole("button", { name: "Next" }));
  await card.guest.getByText(/^Page 2 of \d+$/).waitFor();
  assert.equal(await card.ask.count(), 0);
  await card.close();
});

test("document: stopping stops", async () => {
  const card = await bench.run("document", "open_logbook");
  const frame = await card.frame();
  // As early as a person could: when there is something to stop.
  await frame.waitForFunction(() => {
    const stop = document.querySelector("#stop");
    if (stop.hidden) return false;
    stop.click();
    return true;
  });
  await card.guest.getByText("Stopped.").waitFor();
  assert.ok((await card.guest.getByRole("progressbar").evaluate(({ value }) => value)) < 1);
  await card.close();
});

test("every view says what its server says when a tool fails", async () => {
  // How each is opened, and what is there when the real answer is.
  const opened = {
    weather: ["get_forecast", { place: "Oslo" }, "#days li"],
    dashboard: ["show_dashboard", {}, "#tile-requests path"],
    booking: ["book_table", {}, "#bookings li"],
    gallery: ["show_gallery", {}, "figure"],
    recipe: ["write_recipe", RECIPE, "[data-state=done]"],
    canvas: ["new_canvas", {}, "#grid button"],
    document: ["open_logbook", {}, "text=All of it is here"],
  };
  for (const name of EXAMPLES) {
    const [tool, values, sign] = opened[name];
    const card = await bench.run(name, tool, values);
    await card.guest.locator(sign).first().waitFor({ state: "attached" });
    const frame = await card.frame();
    await frame.evaluate(() => app.ontoolresult({ isError: true, content: [{ type: "text", text: "No luck today." }] }));
    await card.guest.getByText("No luck today.").waitFor();
    await card.close();
  }
});

test("nothing went wrong in the page or in any view", () => assert.deepEqual(bench.mishaps, []));
