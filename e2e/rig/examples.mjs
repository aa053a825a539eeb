// The examples as a person starts them: over stdio, or over HTTP on a port of their own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { binary } from "./host.mjs";

export const EXAMPLES = ["weather", "dashboard", "booking", "gallery", "recipe", "canvas", "document"];

/** How an example is started over stdio, as an `mcpServers` file says it. */
export function example(name) {
  const command = path.join(path.dirname(binary()), name);
  assert.ok(existsSync(command), `${command} is not there; scripts/e2e builds it`);
  return { command, args: [] };
}

/** Starts an example over HTTP. */
export async function startExample(name, args = ["--http", "0"]) {
  const child = spawn(example(name).command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [url] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(() => assert.fail(`${name} ended before it listened`)),
  ]);
  return {
    url,
    async stop() {
      child.kill();
      await exited;
    },
  };
}
