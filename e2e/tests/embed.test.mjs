// The example of a host inside somebody's own application: their page, our element, the same gate.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { binary } from "../rig/host.mjs";

const child = spawn(path.join(path.dirname(binary()), "examples/embed"), { stdio: ["ignore", "pipe", "inherit"] });
const [address] = await once(createInterface({ input: child.stdout }), "line");
const browser = await startBrowser();
after(async () => {
  await browser.close();
  child.kill();
});

test("a page of an application's own shows a view, and answers for its user", async () => {
  const page = await browser.newPage();
  await page.goto(address);
  const guest = page.locator("transom-view").frameLocator("iframe").frameLocator("iframe").frameLocator("iframe");
  await guest.getByText("Porto").first().waitFor();
  await guest.getByRole("button", { name: /note/i }).click();
  // The question shows what would be sent.
  const question = page.getByRole("dialog");
  await question.getByText('View of "show_weather" from "demo"').waitFor();
  await question.getByText(/"text":/).waitFor();
  await question.getByRole("button", { name: /^allow/ }).first().click();
  await guest.getByText(/saved note 1/i).waitFor();
  assert.equal(await question.isVisible(), false);
});

test("it can be reloaded and opened in two tabs, and who is not signed in gets no key", async () => {
  const context = await browser.newContext();
  const shows = (page) => page.locator("transom-view").frameLocator("iframe").frameLocator("iframe").frameLocator("iframe").getByText("Porto").first().waitFor();
  const first = await context.newPage();
  const { origin } = new URL(address);
  await first.goto(origin);
  await first.getByRole("button", { name: "Sign in" }).waitFor();
  await first.goto(address);
  await shows(first);
  assert.equal(first.url(), `${origin}/`, "the code is not in the address any more");
  await first.reload();
  await shows(first);
  const second = await context.newPage();
  await second.goto(origin);
  await shows(second);
  await first.reload();
  await shows(first);
  await context.close();
});

test("its own page has a form to sign in, and what was not said of its policy is as strict as before", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const { origin, search } = new URL(address);
  const blocked = [];
  page.on("console", (message) => /Content Security Policy/.test(message.text()) && blocked.push(message.text()));
  await page.goto(origin);
  await page.getByRole("textbox").fill(search.slice(1));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("transom-view").frameLocator("iframe").frameLocator("iframe").frameLocator("iframe").getByText("Porto").first().waitFor();
  assert.deepEqual(blocked, [], "nothing of it was blocked");
  // A form to elsewhere, a script in the page's text, a frame of another origin: none of them was said.
  const tried = await page.evaluate(async () => {
    const form = Object.assign(document.createElement("form"), { method: "post", action: "http://127.0.0.1:9/" });
    const script = Object.assign(document.createElement("script"), { textContent: "window.ran = true" });
    const frame = Object.assign(document.createElement("iframe"), { src: "http://127.0.0.1:9/" });
    const seen = [];
    addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
    document.body.append(form, script, frame);
    form.submit();
    while (seen.length < 3) await new Promise((done) => setTimeout(done, 20));
    return { seen: seen.sort(), ran: window.ran };
  });
  assert.deepEqual(tried, { seen: ["form-action", "frame-src", "script-src-elem"], ran: undefined });
  await context.close();
});

test("its own page has the checks and the policy of the host's", async () => {
  const { origin } = new URL(address);
  const response = await fetch(origin);
  assert.match(response.headers.get("content-security-policy"), /frame-ancestors 'none'/);
  assert.equal((await fetch(origin, { headers: { origin: "https://evil.test" } })).status, 403);
});
