// Transom as other machines see it: a small proxy that ends TLS, names of a public page and of its frames, and a browser that knows nothing else.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { after, test } from "../rig/test.mjs";
import { findChromium } from "../rig/browser.mjs";
import { benchOf, binary, freePort } from "../rig/host.mjs";

const TOKEN = "0123456789abcdef0123456789abcdef";
const PAGE = "transom.example.com";
const VIEWS = "example-views.net";

const folder = mkdtempSync(path.join(tmpdir(), "transom-proxy-"));
const port = await freePort();
const operate = await freePort();
const proxy = await startProxy(port);
const host = await startBehind(proxy.port);
const browser = await chromium.launch({
  executablePath: findChromium(),
  args: ["--no-sandbox", "--disable-gpu", "--ignore-certificate-errors", `--host-resolver-rules=MAP ${PAGE} 127.0.0.1 , MAP *.${VIEWS} 127.0.0.1 , MAP evil.test 127.0.0.1 , MAP * ~NOTFOUND , EXCLUDE 127.*`],
});
after(async () => {
  await browser.close();
  await host.stop();
  proxy.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What the guide says that a proxy does, and nothing else: it ends TLS, passes `Host` on, and WebSockets. */
async function startProxy(behind) {
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => path.join(folder, name));
  const names = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${PAGE}`];
  execFileSync("openssl", [...names, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const to = ({ headers, method, url }) => {
    const name = (headers.host ?? "").split(":")[0];
    return { host: "127.0.0.1", port: name.endsWith(VIEWS) ? behind + 1 : behind, method, path: url, headers };
  };
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const onward = http.request(to(request), (answer) => {
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  server.on("upgrade", (request, socket, head) => {
    const onward = http.request(to(request));
    onward.on("upgrade", (answer, other) => {
      const lines = answer.rawHeaders.reduce((all, part, at) => all + part + (at % 2 ? "\r\n" : ": "), "");
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`);
      other.write(head);
      other.pipe(socket).pipe(other);
      for (const end of [socket, other]) end.on("error", () => (socket.destroy(), other.destroy()));
    });
    onward.on("response", () => socket.destroy());
    onward.on("error", () => socket.destroy());
    onward.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: server.address().port, stop: () => (server.closeAllConnections(), server.close()) };
}

async function startBehind(front) {
  writeFileSync(path.join(folder, "token"), `${TOKEN}\n`);
  const words = ["run", "--no-data", "--no-toml", "--listen", `127.0.0.1:${port}`, "--token-file", path.join(folder, "token")];
  words.push("--public-origin", `https://${PAGE}:${front}`, "--sandbox-domain", `https://*.${VIEWS}:${front}`, "--operate", `127.0.0.1:${operate}`);
  const child = spawn(binary(), words, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const output = [];
  await new Promise((found, failed) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      output.push(line);
      if (/ demo .*3 tools/.test(line)) found();
    });
    exited.then(([code]) => failed(new Error(`transom ended with ${code}`)));
  });
  return {
    origin: `https://${PAGE}:${front}`,
    output,
    async stop() {
      child.kill("SIGTERM");
      return (await exited)[0];
    },
  };
}

test("behind a proxy that ends TLS the page works, and its views are on names of their own domain", async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 2000 } });
  const page = await context.newPage();
  const bench = benchOf(page);
  await page.goto(`${host.origin}/#token=${TOKEN}`);
  const card = await bench.run("demo", "show_weather", { city: "Porto" });
  await card.guest.getByText("Porto").first().waitFor();
  const frame = await card.frame();
  assert.match(frame.url(), new RegExp(`^https://[a-z2-7]{32}\\.${VIEWS.replace(".", "\\.")}:`));
  await card.press(card.guest.getByRole("button", { name: /note/i }));
  await card.answer("allow");
  await card.guest.getByText(/saved note 1/i).waitFor();
  assert.equal(await page.evaluate(() => location.hash), "", "the token is not in the address any more");
  assert.deepEqual(bench.mishaps, []);
  // In another browser with the same token, and after a reload.
  const other = await browser.newContext();
  const second = await other.newPage();
  await second.goto(`${host.origin}/#token=${TOKEN}`);
  await benchOf(second).ready("demo");
  await second.reload();
  await benchOf(second).ready("demo");
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, "proxy.png") });
  await other.close();
  await context.close();
});

test("a site whose name leads here gets nothing, and no page reads the operators' numbers", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const status = async (address) => {
    const told = page.waitForResponse(address);
    await page.goto(address).catch(() => {});
    return (await told).status();
  };
  const evil = `https://evil.test:${new URL(host.origin).port}/`;
  assert.equal(await status(evil), 421, "its own name, led here");
  assert.equal(await status(`http://evil.test:${operate}/metrics`), 421);
  await page.route(`${evil}own`, (route) => route.fulfill({ contentType: "text/html", body: "<p>its own page" }));
  await page.goto(`${evil}own`);
  // From that site, and from a view: the request is made, and refused, and unread.
  const reads = (address) => fetch(address).then((response) => response.text(), () => "nothing");
  assert.equal(await page.evaluate(reads, `http://127.0.0.1:${operate}/metrics`), "nothing");
  const bench = benchOf(page);
  await page.goto(`${host.origin}/#token=${TOKEN}`);
  assert.equal(await page.evaluate(reads, `http://127.0.0.1:${operate}/metrics`), "nothing");
  const card = await bench.run("demo", "show_weather", { city: "Porto" });
  await card.guest.getByText("Porto").first().waitFor();
  assert.equal(await (await card.frame()).evaluate(reads, `http://127.0.0.1:${operate}/metrics`), "nothing");
  // A program does, and sees the views that are open.
  const numbers = await (await fetch(`http://127.0.0.1:${operate}/metrics`)).text();
  assert.match(numbers, /\ntransom_views\{server="demo"\} [1-9]/);
  await context.close();
});

test("no token stands in what is printed, and SIGTERM ends it in order", async () => {
  assert.ok(!host.output.join("\n").includes(TOKEN) && host.output[0].includes("#token=…"), host.output.join("\n"));
  assert.equal(await host.stop(), 0);
});
