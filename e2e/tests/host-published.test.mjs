// The published servers, over stdio and over HTTP: each says hello, shows its data, and its own buttons work.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "../rig/test.mjs";
import { startBrowser } from "../rig/browser.mjs";
import { openBench, published, startHost, startHttpServer } from "../rig/host.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "transom-pdf-"));
const pdf = path.join(folder, "small.pdf");
writeFileSync(pdf, smallPdf("Hello from a small PDF"));

const NAMES = ["basic-vanillajs", "basic-react", "budget-allocator", "system-monitor", "debug", "pdf"];
const extra = (name) => (name === "pdf" ? [pdf] : []);
const remote = await Promise.all(NAMES.map((name) => startHttpServer(`server-${name}`, extra(name))));
const servers = {};
NAMES.forEach((name, index) => {
  servers[`${name} over stdio`] = { command: process.execPath, args: [published(`server-${name}`), "--stdio", ...extra(name)] };
  servers[`${name} over HTTP`] = { url: remote[index].url };
});
// The same again, with what its views need granted.
const granted = { stdio: "pdf with workers over stdio", HTTP: "pdf with workers over HTTP" };
servers[granted.stdio] = servers["pdf over stdio"];
servers[granted.HTTP] = servers["pdf over HTTP"];
const toml = Object.values(granted).map((name) => `[servers."${name}"]\nfrom = "mcp.json"\nscripts = ["blob:", "data:", "wasm"]\n`).join("\n");
const host = await startHost({ servers, toml });
const browser = await startBrowser();
after(async () => {
  await browser.close();
  await host.stop();
  await Promise.all(remote.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});
const bench = await openBench(browser, host);

const greeted = (server, tool) => bench.log(`${server} ${tool}ready`).first().waitFor();

for (const way of ["stdio", "HTTP"]) {
  for (const kind of ["basic-vanillajs", "basic-react"])
    test(`${kind} over ${way}: shows the time, and its four buttons work`, async () => {
      const server = `${kind} over ${way}`;
      const card = await bench.run(server, "get-time");
      const { guest } = card;
      const time = guest.locator("code, #server-time").filter({ hasText: /^\d{4}-\d\d-\d\dT/ }).first();
      await time.waitFor();
      await greeted(server, "get-time");
      const before = await time.innerText();
      await guest.getByRole("button", { name: "Get Server Time" }).click();
      await card.ask.getByText("get-time").first().waitFor();
      await card.answer("allow");
      await guest.getByText(/^\d{4}-\d\d-\d\dT/).filter({ hasNotText: before }).waitFor();

      await guest.getByRole("button", { name: "Send Message" }).click();
      await card.ask.getByText("in your name").waitFor();
      await card.answer("allow");
      await bench.log("This is message text.").first().waitFor();

      await guest.getByRole("button", { name: "Send Log" }).click();
      await bench.log(`${server} get-timeinfo`).first().waitFor();

      await guest.getByRole("button", { name: "Open Link" }).click();
      await card.ask.getByText("wants to open").waitFor();
      const opened = bench.context.waitForEvent("page");
      await card.answer("allow");
      await (await opened).close();
      await card.close();
    });

  test(`budget-allocator over ${way}: shows its data, and sliders move it`, async () => {
    const server = `budget-allocator over ${way}`;
    const card = await bench.run(server, "get-budget-data");
    const { guest } = card;
    await guest.getByText("Allocated: $100,000 / $100,000").waitFor();
    await guest.locator("input.slider").first().fill("45");
    await guest.getByText("Allocated: $120,000 / $100,000").waitFor();
    await guest.locator("#budget-selector").selectOption({ label: "$250,000" });
    await guest.getByText("/ $250,000").waitFor();
    await card.close();
  });

  test(`system-monitor over ${way}: polls once it may, and stops`, async () => {
    const server = `system-monitor over ${way}`;
    const card = await bench.run(server, "get-system-info");
    const { guest } = card;
    await card.ask.getByText("poll-system-stats").first().waitFor();
    assert.match(await guest.locator("body").innerText(), /--%/);
    await card.answer("allow-view");
    await guest.getByText(/^\d+%$/).first().waitFor();
    await guest.getByText(/GB \/ /).first().waitFor();
    const polls = bench.log(`${server} get-system-infotools/call "poll-system-stats": allowed`);
    await polls.nth(1).waitFor();
    await guest.getByRole("button", { name: "Stop" }).click();
    await guest.getByRole("button", { name: "Start" }).waitFor();
    await card.close();
  });

  test(`debug over ${way}: drives its methods`, async () => {
    const server = `debug over ${way}`;
    const card = await bench.run(server, "debug-tool");
    const { guest } = card;
    const told = (event, times = 1) => guest.locator("#event-log").getByText(`${event}:`).nth(times - 1).waitFor();
    await card.ask.getByText("debug-log").first().waitFor();
    await card.answer("allow-all-always");
    await told("ontoolresult");
    await guest.getByText("transom v").waitFor();

    await guest.locator("#send-message-text-btn").click();
    await card.ask.getByText("in your name").waitFor();
    await card.answer("allow-always");
    await told("send-message-result");
    await guest.locator("#send-message-image-btn").click();
    await told("send-message-result", 2);
    await bench.log("Hello from debug app!").first().waitFor();

    for (const level of ["debug", "info", "warning", "error"]) {
      await guest.locator(`#log-${level}-btn`).click();
      await bench.log(`${server} debug-tool${level} `).first().waitFor();
    }
    for (const kind of ["text", "structured", "image"]) await guest.locator(`#update-context-${kind}-btn`).click();
    await bench.log(`${server} debug-toolfor the model:`).nth(2).waitFor();

    await guest.locator("#call-debug-tool-btn").click();
    await told("server-tool-result");
    await guest.locator("#call-debug-refresh-btn").click();
    await told("server-tool-result", 2);

    await guest.locator("#open-link-btn").click();
    await card.ask.getByText("wants to open").waitFor();
    await card.answer("deny");
    // While a question is open, the view hears no pointer.
    await card.ask.waitFor({ state: "hidden" });

    await guest.locator("#display-fullscreen-btn").click();
    await told("display-mode-result");
    await guest.locator("#display-inline-btn").click();
    await told("display-mode-result", 2);
    await told("onhostcontextchanged", 2);

    await guest.locator("#auto-resize-toggle").uncheck();
    await guest.locator("#resize-400x300-btn").click();
    await card.box.locator("iframe").evaluate(
      (frame) =>
        new Promise((done) => {
          const watch = new ResizeObserver(() => {
            if (Math.abs(frame.clientHeight - 300) > 1) return;
            watch.disconnect();
            done();
          });
          watch.observe(frame);
        }),
    );
    await card.close();
  });

  test(`pdf over ${way}: opens, reads its chunks, and stops at a worker that it is not granted`, async () => {
    const server = `pdf over ${way}`;
    const card = await bench.run(server, "display_pdf", { url: pdf });
    await card.ask.getByText("read_pdf_bytes").first().waitFor();
    await greeted(server, "display_pdf");
    await bench.log(new RegExp(`${server}this view may talk to https://unpkg.com$`)).waitFor();
    await card.answer("allow-all-always");
    await bench.log(`${server} display_pdftools/call "read_pdf_bytes": allowed`).first().waitFor();
    // A `blob:` worker first, a `data:` module next: the policy lets neither run without a grant.
    await card.guest.locator("#error").getByText("Setting up fake worker failed").waitFor();
    await card.close();
  });

  test(`pdf over ${way}: shows its page once it has the grant`, async () => {
    const server = granted[way];
    const card = await bench.run(server, "display_pdf", { url: pdf });
    await card.ask.getByText("read_pdf_bytes").first().waitFor();
    await card.answer("allow-all-always");
    // Its text layer is made from what the worker read, and its canvas has ink on it.
    await card.guest.getByText("Hello from a small PDF").first().waitFor();
    const frame = await card.frame();
    await frame.waitForFunction(() => {
      const inked = (canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 0 && data[at] < 128) return true;
        return false;
      };
      return [...document.querySelectorAll("canvas")].some((canvas) => canvas.width > 0 && inked(canvas));
    });
    await card.close();
  });
}

test("the page itself had no mishap", () => assert.deepEqual(bench.mishaps, []));

/** The smallest document that says something: one page, one font, one line. */
function smallPdf(words) {
  const stream = `BT /F1 24 Tf 40 100 Td (${words}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const entries = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  return `${file}xref\n0 6\n0000000000 65535 f \n${entries}trailer << /Size 6 /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
}
