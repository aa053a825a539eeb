// D14: the host's doors, from outside the browser: who may come in, and what they are told.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { after, test } from "../rig/test.mjs";
import { startHost } from "../rig/host.mjs";

const host = await startHost();
after(() => host.stop());
const { port, sandboxPort, origin, token } = host;
const NAME = `localhost:${port}`;

function send(path, { method = "GET", headers = {}, body, to = port } = {}) {
  return new Promise((done, failed) => {
    const options = { host: "127.0.0.1", port: to, path, method, headers: { host: NAME, ...headers }, agent: false };
    const request = http.request(options, async (response) => {
      response.setEncoding("utf8");
      let text = "";
      for await (const piece of response) text += piece;
      done({ status: response.statusCode, headers: response.headers, text });
    });
    request.on("error", failed);
    request.on("upgrade", (response, socket) => done({ status: response.statusCode, headers: response.headers, socket }));
    request.end(body);
  });
}

const upgrade = (headers) =>
  send("/ws", {
    headers: {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headers,
    },
  });

/** Sends one text frame, masked with zeros as a client must mask somehow, and returns the code it is closed with. */
async function closeCode(socket, text) {
  const body = Buffer.from(text);
  assert.ok(body.length < 126);
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), body]));
  const [frame] = await once(socket, "data");
  socket.destroy();
  return frame[0] === 0x88 ? frame.readUInt16BE(2) : undefined;
}

const exchange = (token, headers = {}) =>
  send("/api/key", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ token }),
  });

test("a name that is not ours is turned away on every route", async () => {
  for (const name of ["evil.test", `evil.test:${port}`, "localhost", `localhost:${sandboxPort}`, `localhost.:${port}`, `0.0.0.0:${port}`])
    for (const path of ["/", "/workbench.js", "/api/state", "/api/log", "/ws", "/nowhere"]) {
      const { status, text } = await send(path, { headers: { host: name } });
      assert.equal(status, 421, `${name} ${path}`);
      assert.equal(text, "");
    }
});

test("a foreign origin is turned away on every route", async () => {
  const strangers = ["http://evil.test", "null", `http://localhost:${sandboxPort}`, `https://localhost:${port}`, `http://x.localhost:${sandboxPort}`, `${origin}.evil.test`, `${origin}/`];
  for (const stranger of strangers)
    for (const path of ["/", "/api/state", "/api/log", "/ws"])
      assert.equal((await send(path, { headers: { origin: stranger } })).status, 403, `${stranger} ${path}`);
  assert.equal((await exchange(token, { origin: "http://evil.test" })).status, 403, "and the token is not spent by it");
});

test("a socket needs our origin", async () => {
  assert.equal((await upgrade({})).status, 403);
  assert.equal((await upgrade({ origin: "http://evil.test" })).status, 403);
  assert.equal((await upgrade({ origin: "null" })).status, 403);
});

test("a socket without the key is closed", async () => {
  const hello = (key) => JSON.stringify({ hello: { version: 1, key, page: "p", tab: "t" } });
  for (const words of [hello("0".repeat(64)), hello(""), hello(token), "hello?", "{}"]) {
    const { status, socket } = await upgrade({ origin });
    assert.equal(status, 101);
    assert.equal(await closeCode(socket, words.slice(0, 125)), 4401, words);
  }
});

test("state and log need the key", async () => {
  for (const path of ["/api/state?after=-1", "/api/log?after=0"])
    for (const authorization of [undefined, "Bearer wrong", `Bearer ${token}`, "Bearer "]) {
      const { status, text } = await send(path, { headers: authorization ? { authorization } : {} });
      assert.equal(status, 401, `${path} ${authorization}`);
      assert.equal(text, "");
    }
});

test("the token is good once, and its key opens the doors", async () => {
  assert.equal((await exchange("0".repeat(64))).status, 401);
  const first = await exchange(token, { origin });
  assert.equal(first.status, 200);
  const { key } = JSON.parse(first.text);
  assert.notEqual(key, token);
  assert.equal((await exchange(token, { origin })).status, 401);
  const { status, text } = await send("/api/state?after=-1", { headers: { authorization: `Bearer ${key}` } });
  assert.equal(status, 200);
  assert.equal(JSON.parse(text).servers[0].name, "demo");
  assert.ok(!text.includes(key) && !text.includes(token));
  for (const path of ["/", "/workbench.js"]) {
    const page = await send(path);
    assert.ok(!page.text.includes(key) && !page.text.includes(token), path);
  }
});

test("no answer invites other origins, sets a cookie or may be framed", async () => {
  const answers = [
    await send("/"),
    await send("/", { headers: { origin } }),
    await send("/api/state", { method: "OPTIONS", headers: { origin, "access-control-request-method": "GET" } }),
    await send("/nowhere"),
    await send("/", { headers: { origin: "http://evil.test" } }),
  ];
  for (const { headers } of answers) {
    assert.deepEqual(Object.keys(headers).filter((name) => name.startsWith("access-control-")), []);
    assert.equal(headers["set-cookie"], undefined);
  }
  const { headers } = answers[0];
  assert.match(headers["content-security-policy"], /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["cache-control"], "no-store");
});

test("the sandbox port knows no name that it was not given, and none of the page's files", async () => {
  const names = [`localhost:${sandboxPort}`, `127.0.0.1:${sandboxPort}`, NAME, `nobody.localhost:${sandboxPort}`, "evil.test"];
  for (const name of names)
    for (const path of ["/", "/workbench.js", "/api/state", "/ws", "/api/key"]) {
      const { status, text, headers } = await send(path, { to: sandboxPort, headers: { host: name } });
      assert.ok([404, 421].includes(status), `${name} ${path}: ${status}`);
      assert.ok(text.length < 200, text);
      assert.equal(headers["access-control-allow-origin"], undefined);
    }
});

test("what is not HTTP is answered or hung up on, and the host goes on", async () => {
  for (const words of ["\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\x00\x01", `GET / HTTP/1.1\r\nhost: ${NAME}\r\nhost: evil.test\r\n\r\n`]) {
    const socket = net.connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.end(words);
    let said = "";
    socket.setEncoding("latin1").on("data", (text) => (said += text));
    await once(socket, "close");
    assert.ok(!said.includes("workbench.js"), words);
  }
  assert.equal((await send("/")).status, 200);
});
