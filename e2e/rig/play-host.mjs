// The command `transom` as a reader of the guides uses it: node play-host.mjs BINARY WORD…
// What would run until Ctrl-C is given it once its page answers and every server has said what it has.
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { createInterface } from "node:readline";

const [binary, ...words] = process.argv.slice(2);
const own = words.slice(0, words.includes("--") ? words.indexOf("--") : words.length);
const ends = own.some((word) => ["--help", "-h", "--version", "--print-config"].includes(word));
const verb = own[0]?.startsWith("-") || own[0]?.startsWith("http") ? "run" : (own[0] ?? "run");
const hosts = ["run", "dev"].includes(verb) && !ends;

const child = spawn(binary, words, { stdio: ["inherit", hosts ? "pipe" : "inherit", "inherit"] });
const exited = once(child, "exit");
if (hosts) {
  // What hangs has failed, and leaves nothing behind.
  setTimeout(() => (child.kill("SIGKILL"), fail("no server was there within two minutes")), 120_000).unref();
  const there = await address(child.stdout).catch(fail);
  const status = await ask(there);
  if (status !== 200) fail(`${there.origin} answers ${status}`);
  child.kill("SIGINT");
}
const [code, signal] = await exited;
process.exitCode = code ?? fail(`ended by ${signal}`);

/** Waits for the page's address and for what the servers have. */
function address(stdout) {
  return new Promise((found, failed) => {
    let origin, at;
    createInterface({ input: stdout }).on("line", (line) => {
      process.stdout.write(`${line}\n`);
      origin = /(https?:\/\/[^/ ]+)\/#token=/.exec(line)?.[1] ?? origin;
      at = /^ +listening +\S+: the page at (\d+)/.exec(line)?.[1] ?? at;
      if (origin && /\d+ tools?, \d+ views?/.test(line)) found({ origin, port: at ?? new URL(origin).port });
    });
    exited.then(([code]) => failed(`the host ended with ${code} before its server was there`));
  });
}

/** Asks for the page as what stands in front of it does, which has the name for its `Host`. */
async function ask({ origin, port }) {
  const request = http.get({ host: "127.0.0.1", port, headers: { host: new URL(origin).host } });
  const [response] = await once(request, "response");
  response.resume();
  return response.statusCode;
}

function fail(words) {
  process.stderr.write(`${words}\n`);
  process.exit(1);
}
