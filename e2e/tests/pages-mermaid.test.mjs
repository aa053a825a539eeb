// The diagram editor and the folder reader: pages that a person sees while they are connected.
import assert from "node:assert/strict";
import { startPlainBrowser } from "../rig/browser.mjs";
import { connected, openSample, startPages } from "../rig/pages.mjs";
import { openSite } from "../rig/site.mjs";
import { after, test } from "../rig/test.mjs";

const [plain, site] = await Promise.all([startPlainBrowser(), openSite()]);
const pages = await startPages(site.host);
after(async () => {
  await plain.close();
  await pages.stop();
  await site.close();
});
const theatre = { site, context: plain.context };
const url = pages.urlOf("mermaid");
const draw = ({ call }, code) => call("draw", { code });
const picture = (frame) => frame.evaluate(() => document.querySelector("#picture img")?.naturalWidth ?? 0);

test("MMD-1 MMD-2 a diagram is drawn; what is no diagram, or nothing, is an error in words", async (t) => {
  const sample = await connected(t, theatre, url, { visible: true });
  assert.equal(sample.setup.visibility.requirement, "required");
  const frame = await sample.inner();
  assert.equal(await sample.host.evaluate(() => getComputedStyle(document.querySelector("iframe")).visibility), "visible");
  assert.equal((await draw(sample, "graph TD; A[Start]-->B[End]")).value.isError ?? false, false);
  assert.ok((await picture(frame)) > 50);
  const bad = (await draw(sample, "graph TD; A[[[")).value;
  assert.equal(bad.isError, true);
  assert.match(bad.content[0].text, /error|expecting/i);
  const empty = (await draw(sample, "  \n")).value;
  assert.deepEqual([empty.isError, /empty/.test(empty.content[0].text)], [true, true]);
});

test("MMD-3 a diagram that is asked for before the library is there waits for it", async (t) => {
  const sample = await openSample(t, theatre, url, { visible: true });
  await sample.setUp();
  // The library is held back until the page has been asked to draw.
  let release;
  const held = new Promise((done) => (release = done));
  await sample.host.route(/renderer-/, (route) => held.then(() => route.continue()));
  assert.deepEqual(await sample.connect(), { value: "open" });
  const drawn = draw(sample, "graph TD; A-->B");
  const names = (await sample.on("tools")("server")).map(({ name }) => name);
  assert.deepEqual(names, ["draw", "get_diagram"]);
  release();
  assert.equal((await drawn).value.isError ?? false, false);
});

test("MMD-4 markup, links and clicks in a diagram do nothing: it is an image", async (t) => {
  const sample = await connected(t, theatre, url, { visible: true });
  const frame = await sample.inner();
  for (const code of [
    'graph TD; A["<img src=x onerror=globalThis.hit=1>"]-->B["<script>globalThis.hit=1</script>"]',
    'graph TD; A-->B; click A "javascript:globalThis.hit=1"; click B call hit()',
    "%%{init: {'securityLevel':'loose','htmlLabels':true}}%%\ngraph TD; A[\"<b onclick='hit=1'>x</b>\"]-->B",
  ]) {
    const { value } = await draw(sample, code);
    if (value.isError) continue;
    assert.deepEqual(
      await frame.evaluate(() => [...document.querySelectorAll("#picture *")].map(({ localName }) => localName)),
      ["img"],
    );
  }
  await frame.locator("#picture img").click();
  assert.equal(await frame.evaluate(() => globalThis.hit), undefined);
  assert.equal(frame.url(), url);
});

test("MMD-5 what a person changes can be read, and the client is told", async (t) => {
  const sample = await connected(t, theatre, url, { visible: true });
  const frame = await sample.inner();
  await draw(sample, "graph TD; A-->B");
  await frame.locator("#code").fill("graph TD; A-->C");
  await frame.locator("#code").blur();
  assert.equal(await sample.host.evaluate(() => ear.next("server updated")), "diagram://current");
  const { value } = await sample.call("get_diagram");
  assert.equal(value.structuredContent.code, "graph TD; A-->C");
  const { contents } = await sample.on("read")("server", "diagram://current");
  assert.equal(contents[0].text, "graph TD; A-->C");
});

test("MMD-6 nothing is asked of any other place", async (t) => {
  const asked = [];
  const sample = await openSample(t, theatre, url, { visible: true });
  sample.host.on("request", (request) => asked.push(request.url()));
  await sample.setUp();
  await sample.connect();
  for (const code of ["graph TD; A-->B", "sequenceDiagram\nA->>B: hello", "pie\n\"a\": 1\n\"b\": 2"])
    assert.equal((await draw(sample, code)).value.isError ?? false, false, code);
  const others = asked.filter((address) => !address.startsWith("data:") && !address.startsWith(url));
  assert.deepEqual(others, []);
});

test("WIN-1 a popup reads the folder that a person chose, and nothing above it", async (t) => {
  const folder = pages.urlOf("folder");
  // A browser without a window shows no picker; the page's own private folder is a handle of the same kind.
  await plain.context.addInitScript(() => {
    window.showDirectoryPicker = async () => {
      const root = await navigator.storage.getDirectory();
      const notes = await (await root.getDirectoryHandle("notes", { create: true })).getFileHandle("a.txt", { create: true });
      const writer = await notes.createWritable();
      await writer.write("hello from a file");
      await writer.close();
      return root;
    };
  });
  const sample = await openSample(t, theatre, folder, { popup: true });
  // A popup follows a click.
  await sample.host.evaluate(() => {
    const button = document.body.appendChild(document.createElement("button"));
    button.textContent = "go";
    button.onclick = () => (globalThis.going = globalThis.next());
  });
  const go = async (next) => {
    await sample.host.evaluate((next) => (globalThis.next = () => globalThis[next]("server")), next);
    await sample.host.locator("button", { hasText: "go" }).click();
  };
  const [setup] = await Promise.all([plain.context.waitForEvent("page"), go("setUp")]);
  await setup.waitForURL(`${folder}#setup`);
  await setup.locator("#choose").click();
  const { value } = await sample.host.evaluate(() => going);
  assert.match(value.title, /^Folder: /);
  await go("connect");
  assert.deepEqual(await sample.host.evaluate(() => going), { value: "open" });
  const listed = (await sample.call("list_files", {})).value;
  assert.equal(listed.content[0].text, "notes/");
  assert.equal((await sample.call("read_file", { path: "notes/a.txt" })).value.content[0].text, "hello from a file");
  for (const path of ["../notes/a.txt", "notes/none.txt", "notes"]) {
    const { value } = await sample.call("read_file", { path });
    assert.equal(value.isError, true, path);
  }
  await sample.on("shut")("server");
});
