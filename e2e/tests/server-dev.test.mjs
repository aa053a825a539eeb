// Dev mode of transom-server: a view follows its files while it runs, through MCP and nothing else.
import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { example, openBench, startHost } from "../rig/host.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "transom-live-"));
/** As editors do it, so that nobody reads half a file. */
function save(name, text) {
  const file = path.join(folder, name);
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
const page = (title) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Live</title><link rel="stylesheet" href="page.css"></head>
<body><h1>${title}</h1><p id="name"></p><p id="greeting"></p><button>Count</button><output>0</output>
<script src="page.js"></script></body>
</html>`;
const css = (colour) => `h1 { color: ${colour} }`;
// A name at the top of a script can be taken once for each global object.
const script = `const app = new transom.App({ name: "live", version: "1.0.0" });
app.ontoolinput = ({ arguments: { name } }) => (document.querySelector("#name").textContent = name);
app.ontoolresult = ({ structuredContent }) =>
  (document.querySelector("#greeting").textContent = structuredContent.greeting);
document.querySelector("button").onclick = () => document.querySelector("output").value++;
app.connect();`;

save("index.html", page("First"));
save("page.css", css("rgb(1, 2, 3)"));
save("page.js", script);

const host = await startHost({
  servers: { live: { command: example("live"), args: [folder], env: { TRANSOM_DEV: "1" } } },
});
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});
const bench = await openBench(browser, host);
const card = await bench.run("live", "greet", { name: "Ada" });
const view = card.guest.frameLocator("iframe");
const shows = async (title) => {
  await view.locator("h1", { hasText: title }).waitFor();
  await view.locator("#name", { hasText: "Ada" }).waitFor();
  await view.locator("#greeting", { hasText: "Hello, Ada!" }).waitFor();
};

test("a view in dev mode runs as any other", async () => {
  await shows("First");
  assert.equal(await card.ask.count(), 0, "nobody is asked");
  const tools = bench.server("live").locator("details.tool > summary");
  assert.deepEqual(await tools.evaluateAll((all) => all.map((each) => each.title)), ["greet"]);
});

test("a change of styles is made in place", async () => {
  await view.locator("button").click();
  await view.locator("output", { hasText: "1" }).waitFor();
  save("page.css", css("rgb(4, 5, 6)"));
  await view.locator("h1").evaluate(
    (h1) =>
      new Promise((done) => {
        const look = () => (getComputedStyle(h1).color === "rgb(4, 5, 6)" ? done() : requestAnimationFrame(look));
        look();
      }),
  );
  assert.equal(await view.locator("output").textContent(), "1", "and nothing else is touched");
});

test("a changed document is loaded anew, with the last input and result", async () => {
  for (const title of ["Second", "Third"]) {
    save("index.html", page(title));
    await shows(title);
    assert.equal(await view.locator("output").textContent(), "0");
  }
  assert.equal(await bench.cards().count(), 1, "in the same view");
  assert.equal(await card.ask.count(), 0);
});

test("what the person typed and chose, and what the script saves, outlives a change of the document", async () => {
  const form = `<input name="who"><input type="checkbox" id="sure"><textarea></textarea>
<select name="size"><option>small<option>large</select><input type="password" name="secret"><div id="later"></div>
<script>
addEventListener("transom-save", ({ detail }) => (detail.steps = [...(window.steps ?? []), "saved"]));
addEventListener("transom-restore", ({ detail }) => (window.steps = detail.steps));
setTimeout(() => (later.innerHTML = '<input name="made-by-a-script">'), 200);
</script>`;
  save("index.html", page("Form") + form);
  await shows("Form");
  await view.locator("[name=who]").fill("Grace");
  await view.locator("#sure").check();
  await view.locator("textarea").fill("two\nlines");
  await view.locator("select").selectOption("large");
  await view.locator("[name=secret]").fill("hidden");
  await view.locator("[name=made-by-a-script]").fill("late");
  for (const title of ["Form again", "Form once more"]) {
    save("index.html", page(title) + form);
    await shows(title);
    await view.locator("[name=made-by-a-script]").waitFor();
    const values = view.locator("input, textarea, select");
    const typed = () =>
      values.evaluateAll((all) => all.map((field) => (field.type === "checkbox" ? field.checked : field.value)));
    await view.locator("body").evaluate(
      (body) =>
        new Promise((done) => {
          const look = () => (body.querySelector("[name=made-by-a-script]").value ? done() : requestAnimationFrame(look));
          look();
        }),
    );
    assert.deepEqual(await typed(), ["Grace", true, "two\nlines", "large", "", "late"], "but no password");
  }
  assert.deepEqual(await view.locator("body").evaluate(() => window.steps), ["saved", "saved"]);
  save("index.html", page("Third"));
  await shows("Third");
});

test("a file that is missing is told, and the view runs on until it is back", async () => {
  renameSync(path.join(folder, "page.js"), path.join(folder, "away.js"));
  await card.guest.locator("pre", { hasText: "page.js" }).waitFor();
  await shows("Third");
  save("page.js", `${script}\ndocument.querySelector("h1").textContent = "Fourth";`);
  await shows("Fourth");
  assert.equal(await card.guest.locator("pre").count(), 0);
});

test("nothing was blocked and nothing went wrong on the page", () => assert.deepEqual(bench.mishaps, []));
