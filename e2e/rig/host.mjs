// The real binary with real servers, and its page in a browser. One host and one page serve a whole test file.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** Where a published server of `servers/` starts. */
export const published = (name) => path.join(ROOT, "e2e/servers/node_modules/@modelcontextprotocol", name, "dist/index.js");

/** The server that means no good, in one of its moods. */
export const hostile = (mood, ...more) => ({
  command: process.execPath,
  args: [path.join(ROOT, "e2e/servers/hostile.mjs"), mood, ...more],
});

/** The server that takes its time, in one of its moods. */
export const slow = (...mood) => ({ command: process.execPath, args: [path.join(ROOT, "e2e/servers/slow.mjs"), ...mood] });

/**
 * Starts `transom run`, or `dev`, with the servers of an `mcpServers` object, or with the demo, and with what a `transom.toml` says; with `terminal`
 * in a terminal, where `press` presses Enter and returns the address that is printed then.
 */
export async function startHost({ verb = "run", servers, toml, args = [], env = {}, terminal = false } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "transom-host-"));
  const words = [...args, "--port", String(await freePort()), ...filesIn(folder, args, servers, toml)];
  // A group of its own, so that a test can tell that nobody of it is left.
  const [program, line] = terminal ? ["script", inTerminal([binary(), verb, ...words])] : [binary(), [verb, ...words]];
  const child = spawn(program, line, { detached: true, env: { ...process.env, ...env }, stdio: [terminal ? "pipe" : "ignore", "pipe", "pipe"] });
  const end = () => (terminal ? child.stdin.write("\x03") : child.kill("SIGINT"));
  const exited = once(child, "exit");
  const output = [];
  child.stderr.setEncoding("utf8").on("data", (text) => output.push(text));
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => output.push(line));
  const ended = exited.then(() => assert.fail(`transom ended: ${output.join("\n")}`));
  const [, origin, token, sandboxPort] = await Promise.race([ended, printed(lines, /(http:\/\/localhost:\d+)\/#token=(\S+).*sandbox on :(\d+)/)]);
  const data = words[words.indexOf("--data-dir") + 1];
  return {
    pid: child.pid,
    data,
    origin,
    url: `${origin}/#token=${token}`,
    token,
    port: Number(new URL(origin).port),
    sandboxPort: Number(sandboxPort),
    output,
    exited,
    interrupt: end,
    async press() {
      const address = printed(lines, /http:\/\/localhost:\d+\/#token=\w+/);
      child.stdin.write("\r");
      return (await address)[0];
    },
    /** As a power cut ends it: no time to say anything. Its servers notice that nobody listens any more. */
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    audit: () => auditRows(data),
    async stop() {
      end();
      const [code] = await exited;
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

/** The words that name the files of a host, which are written into a folder. */
function filesIn(folder, args, servers, toml) {
  const words = [];
  // What one test agreed to is not agreed to in the next.
  if (!args.some((word) => ["--data-dir", "--no-data"].includes(word))) words.push("--data-dir", path.join(folder, "data"));
  if (servers) {
    const file = path.join(folder, "mcp.json");
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    words.push("--config", file);
  }
  if (toml) {
    const file = path.join(folder, "transom.toml");
    writeFileSync(file, toml);
    words.push("--toml", file);
  }
  return words;
}

/** What a pattern finds in the first line that has it. */
function printed(lines, pattern) {
  return new Promise((found) => {
    const hear = (line) => {
      const match = pattern.exec(line);
      if (!match) return;
      lines.off("line", hear);
      found(match);
    };
    lines.on("line", hear);
  });
}

/** The arguments with which `script` runs a command in a terminal of its own, and keeps no record of it. */
const inTerminal = (words) => ["--quiet", "--flush", "--return", "--command", words.map((word) => `'${word}'`).join(" "), "/dev/null"];

/** What the audit in a folder holds, oldest first; fails unless its chain holds. */
export async function auditRows(data) {
  const { stdout } = await promisify(execFile)(binary(), ["audit", "--data-dir", data, "export"], { maxBuffer: 1 << 28 });
  const lines = stdout.trimEnd().split("\n").slice(1, -1);
  return lines.map((line) => JSON.parse(line)).map(({ seq, row, detail }) => ({ seq, ...row, ...detail }));
}

/** Starts a published server as a person does beside the host. */
export async function startHttpServer(name, args = []) {
  return startListening(name, { command: process.execPath, args: [published(name), ...args] }, await freePort());
}

/** Starts a program that serves MCP over HTTP on a port that it is told by `PORT`. */
export async function startListening(name, { command, args, cwd, env }, port) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env, PORT: String(port) }, stdio: "ignore" });
  const exited = once(child, "exit");
  await Promise.race([listening(port), exited.then(() => assert.fail(`${name} ended before it listened`))]);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

/** Opens the host's page; `prepare` is given the context before anything is loaded. */
export async function openBench(browser, host, { prepare, ...options } = {}) {
  // Tall enough for every card: right after scrolling, Chromium sends clicks to frames that have moved away.
  const context = await browser.newContext({ viewport: { width: 1280, height: 3200 }, ...options });
  await prepare?.(context);
  const page = await context.newPage();
  const bench = benchOf(page);
  await page.goto(host.url);
  return bench;
}

/** What a test does with a page of the host. */
export function benchOf(page) {
  const context = page.context();
  // Shorter than a test may take, so that what is missing is named; long enough for a busy machine.
  page.setDefaultTimeout(60_000);
  const mishaps = [];
  page.on("pageerror", (error) => mishaps.push(String(error)));
  const bench = {
    page,
    context,
    mishaps,
    server: (name) => page.locator("section.server", { has: page.getByRole("heading", { name, exact: true }) }),
    ready: (name) => page.locator("section.server.ready", { has: page.getByRole("heading", { name, exact: true }) }).waitFor(),
    /** The lines of the log that hold some words, newest first. */
    log: (words) => page.locator("#log li", { hasText: words }),
    /** Runs a tool from its form, and returns the card that it opened. */
    async run(server, tool, values = {}) {
      await bench.ready(server);
      const view = await page.evaluate(runTool, { server, tool, values });
      return card(page, view);
    },
    cards: () => page.locator("article.view"),
    card: (view) => card(page, view),
  };
  return bench;
}

/** What is offered in place of an answer that is not. */
const NEAREST = {
  allow: ["allow-view", "allow-always", "allow-until-end"],
  "allow-always": ["allow-until-end"],
  "allow-all-always": ["allow-all-until-end"],
  "deny-always": ["deny-until-end"],
};

/** One view's card on the page: its frames, what it asks, and how it is closed. */
function card(page, view) {
  const box = page.locator("article.view", { has: page.locator(`transom-view[view="${view}"]`) });
  const sandbox = box.frameLocator("iframe");
  const ask = page.locator(`dialog.ask[data-view="${view}"][open]`);
  return {
    view,
    box,
    sandbox,
    guest: sandbox.frameLocator("iframe").frameLocator("iframe"),
    /** The question of this view, while it is the one that is shown. */
    ask,
    note: box.locator(".note"),
    /**
     * Answers as a person does: a click counts once the buttons are armed, and Playwright waits for that. Where a choice is
     * not offered, it is the nearest that is: an always for a server on this machine's own address lasts until Transom ends,
     * and what a view has as long as it is there is not given once.
     */
    async answer(choice) {
      await ask.locator("button").first().waitFor();
      const nearest = [choice, ...(NEAREST[choice] ?? [])];
      const offered = await ask.locator("footer button").evaluateAll((all) => all.flatMap(({ classList }) => [...classList]));
      const button = ask.locator(`button.${nearest.find((each) => offered.includes(each))}`);
      if (!(await button.isVisible())) await ask.locator(".further summary").click();
      await button.click();
    },
    press: (target) => press(page, target),
    /**
     * Writes into a field of the view as a person does: a click gives the view the keyboard, and they look at what
     * stands there. `fill` alone takes the keyboard by script; the page takes that back, and what is typed goes elsewhere.
     */
    async write(field, text) {
      for (let tries = 0; (await field.inputValue()) !== text; tries++) {
        if (tries === 5) throw new Error(`${field} does not take ${text}`);
        await press(page, field);
        await field.fill(text);
      }
    },
    /** The guest as a frame, in which scripts can be run. */
    async frame() {
      let frame = await (await box.locator("iframe").elementHandle()).contentFrame();
      // Its sandbox, its porch, and itself.
      for (let depth = 0; depth < 2; depth++) frame = await (await frame.waitForSelector("iframe")).contentFrame();
      await frame.waitForLoadState("domcontentloaded");
      return frame;
    },
    async close() {
      await box.locator("button.close").click();
      // A view that has ended stays on the page, with its reason, until it is removed.
      await box.waitFor({ state: "detached" });
    },
  };
}

/**
 * Clicks on something in a view as a person does, whose mouse comes to it first: for a while after something was done on the
 * page, a view hears no pointer that did not move over it.
 */
async function press(page, target) {
  await target.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await target.boundingBox();
  await page.mouse.move(x + width / 2 - 2, y + height / 2);
  await page.mouse.move(x + width / 2, y + height / 2);
  await target.click();
}

// Runs in the page. The form is drawn when its box is opened, and what is written in it counts at once.
export async function runTool({ server, tool, values, press = "button.run" }) {
  const boxes = [...document.querySelectorAll("section.server")];
  const box = boxes.find((each) => each.querySelector("h2").textContent === server);
  const details = [...(box?.querySelectorAll("details.tool") ?? [])].find((each) => each.querySelector("summary").title === tool);
  if (!details) throw new Error(`${server} shows no tool ${tool}`);
  details.open = true;
  const drawn = () => new Promise((done) => setTimeout(done, 5));
  while (!details.querySelector("form")) await drawn();
  const form = details.querySelector("form");
  const write = (field, value, event) => {
    field.value = value;
    field.dispatchEvent(new Event(event, { bubbles: true }));
  };
  const fields = Object.entries(values).map(([name, value]) => [name, value, form.querySelector(`.field[data-at="/${CSS.escape(name)}"] :is(input, textarea, select):not(.kinds)`)]);
  const plain = ([, value, field]) => field && (typeof value !== "object" || field.classList.contains("json"));
  if (!fields.every(plain)) {
    // A value with values in it is written as JSON, beside what the form begins with.
    form.querySelector("[role=tab][id$=-tab-json]").click();
    while (!form.querySelector("textarea.json")) await drawn();
    const whole = form.querySelector(".editor textarea.json");
    write(whole, JSON.stringify({ ...JSON.parse(whole.value), ...values }), "input");
  } else
    for (const [, value, field] of fields) {
      const text = typeof value === "string" && !field.classList.contains("json") ? value : JSON.stringify(value);
      if (field.type === "checkbox") {
        field.checked = value;
        field.dispatchEvent(new Event("change", { bubbles: true }));
      } else if (field instanceof HTMLSelectElement)
        write(field, [...field.options].find((each) => each.text === text || each.text === value).value, "change");
      else write(field, text, "input");
    }
  // Not always the first: a frame that was loaded ahead stays where it stands.
  const views = () => [...document.querySelectorAll("#views .view transom-view")];
  const before = views();
  form.querySelector(press).click();
  const view = views().find((each) => !before.includes(each));
  if (!view) throw new Error(`${tool} was not run: ${[...form.querySelectorAll(".fault, .faults")].map((each) => each.textContent).join(" ")}`);
  return view.getAttribute("view");
}

/** Every process of a group that is still there. */
export function alive(group) {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

/** A port with a free neighbour is left to the host to find; this is only where it begins. */
export async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

// Nothing announces that a server listens; a connection that is refused is tried again.
export async function listening(port) {
  for (;;) {
    const socket = net.connect(port, "127.0.0.1");
    const open = await new Promise((done) => {
      socket.once("connect", () => done(true));
      socket.once("error", () => done(false));
    });
    socket.destroy();
    if (open) return;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** A server among the examples of the crates. */
export const example = (name) => built(`debug/examples/${name}`);

export function binary() {
  return process.env.TRANSOM ?? built("debug/transom");
}

function built(name) {
  const file = path.join(process.env.CARGO_TARGET_DIR ?? path.join(ROOT, "target"), name);
  assert.ok(existsSync(file), `${file} is not there; scripts/e2e builds it`);
  return file;
}
