// `transom pages` on free ports, and an outer page of the tests that it allows.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, startHost } from "./host.mjs";
import { frameAt, openStage } from "./stage.mjs";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** Starts the samples; `url` is a page's address. */
export async function startPages(...allow) {
  const args = ["--path", ROOT, "--pages-port", String(await freePort()), "--no-audit"];
  for (const origin of allow) args.push("--allow", origin);
  const host = await startHost({ verb: "pages", args });
  const addresses = new Map();
  // The pages are served a moment after the host, and each has its line.
  while (addresses.size < 7) {
    for (const line of host.output.join("\n").split("\n")) {
      const [, name, address] = /^ {2}(\w+) +(http:\/\/\w+\.localhost:\d+\/)/.exec(line) ?? [];
      if (name) addresses.set(name, address);
    }
    await new Promise((done) => setImmediate(done));
  }
  return { ...host, urlOf: (name) => addresses.get(name) };
}

/** Opens an outer page and prepares a connection to a sample, which is called `server` there. */
export async function openSample(t, { site, context }, url, options = {}) {
  const stage = await openStage(t, { site, context, scripts: ["pages.client.js"] });
  const { host } = stage;
  const on = (method) => (...args) => host.evaluate(([method, args]) => globalThis[method](...args), [method, args]);
  const session = await on("prepare")("server", url, options);
  return {
    ...stage,
    on,
    session,
    setUp: (options) => on("setUp")("server", options),
    connect: () => on("connect")("server"),
    call: (tool, args, options) => on("call")("server", tool, args, options),
    /** The page in its frame, as it is while it is connected. */
    inner: () => frameAt(host, url),
    /** The same during its setup. */
    inSetup: () => frameAt(host, `${url}#setup`),
  };
}

/** Sets a sample up and connects to it. */
export async function connected(t, theatre, url, options) {
  const sample = await openSample(t, theatre, url, options);
  const { value: setup, error } = await sample.setUp();
  if (error) throw new Error(`${error.code}: ${error.message}`);
  const { error: refused } = await sample.connect();
  if (refused) throw new Error(`${refused.code}: ${refused.message}`);
  return { ...sample, setup };
}
