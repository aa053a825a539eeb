// Who stands before the host without its key, and which file speaks for the person who starts it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { binary } from "../rig/host.mjs";
import { after, test } from "../rig/test.mjs";
import { openScene } from "./scene.mjs";

const { host, neighbourWorks } = await openScene({ after });

/** A socket that has upgraded and said nothing, as any program of this machine can open one. */
async function stranger() {
  const socket = connect(host.port, "127.0.0.1");
  socket.on("error", () => {});
  const head = ["GET /ws HTTP/1.1", `Host: localhost:${host.port}`, `Origin: ${host.origin}`, "Connection: Upgrade", "Upgrade: websocket"];
  const more = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""];
  socket.write([...head, ...more].join("\r\n"));
  const [answer] = await once(socket, "data");
  assert.match(String(answer), /^HTTP\/1\.1 101/);
  return socket;
}

/** The host's memory, in MiB. */
const resident = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${host.pid}/status`, "utf8"))[1]) / 1024;

test("sockets without a key take neither the host's memory nor the page's place", async () => {
  const before = resident();
  const sockets = [];
  for (let count = 0; count < 150; count++) {
    const socket = await stranger();
    // Announces 16 MiB and sends four of them, or as much as is taken.
    const announced = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4]);
    const settled = new Promise((settle) => socket.once("close", settle).write(Buffer.concat([announced, Buffer.alloc(4 << 20)]), settle));
    sockets.push(socket);
    await settled;
  }
  const grown = resident() - before;
  assert.ok(grown < 48, `150 sockets took ${Math.round(grown)} MiB`);
  await neighbourWorks();
  for (const socket of sockets) socket.destroy();
});

test("a transom.toml that lies in the folder starts nothing before a person has agreed to it", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "transom-folder-"));
  const mark = path.join(folder, "started");
  const script = `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "")`;
  writeFileSync(path.join(folder, "transom.toml"), `[servers.x]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(script)}]\n`);
  const child = spawn(binary(), ["inspect"], { cwd: folder, env: { ...process.env, HOME: folder } });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (words += text));
  // An answer that comes through a pipe is nobody's.
  child.stdin.on("error", () => {}).end("y\ny\n");
  const [code] = await once(child, "close");
  assert.equal(code, 2);
  assert.match(words, /transom\.toml \(in this folder\) has not been agreed to/);
  assert.ok(!existsSync(mark));
  rmSync(folder, { recursive: true, force: true });
  await neighbourWorks();
});
