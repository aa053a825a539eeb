// The pages that people read, as what a reader does with them: blocks of code, the files they say to write, the commands to run.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { binary } from "./host.mjs";

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const PLAYER = fileURLToPath(new URL("play-host.mjs", import.meta.url));
const FOLDERS = [".", "docs", "docs/commands"];
const SINGLE = ["web/README.md", "fixtures/README.md", "e2e/README.md"];

/** Every page whose commands are run, by its path in the repository. */
export const pages = () => [
  ...FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => path.join(folder, name)),
  ),
  ...SINGLE,
];

export const read = (page) => readFileSync(path.join(ROOT, page), "utf8");

/**
 * The blocks of code of a page. A comment in the line above a block is a word about it:
 * `<!-- not run: why -->` for commands that no test can run, `<!-- file: NAME -->` for what a reader saves under that name.
 */
export function blocks(page) {
  const found = [];
  let open, above;
  read(page)
    .split("\n")
    .forEach((text, index) => {
      if (open && text === "```") {
        found.push(open);
        open = undefined;
      } else if (open) open.lines.push(text);
      else if (text.startsWith("```")) {
        const [, word, about] = /^<!-- (not run|file): (.*) -->$/.exec(above ?? "") ?? [];
        open = { page, line: index + 1, language: text.slice(3).split(/[ ,]/)[0], lines: [], word, about };
      }
      above = text;
    });
  return found;
}

/** A folder in which a page's commands are run, and what they find there in place of a package registry. */
export function stage(servers) {
  const folder = mkdtempSync(path.join(tmpdir(), "transom-guide-"));
  const bin = path.join(folder, "bin");
  mkdirSync(bin);
  const built = path.dirname(binary());
  symlinkSync(path.dirname(built), path.join(folder, "target"));
  for (const [name, script] of Object.entries(standIns(bin, built))) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  return {
    /** Runs the commands of a page from the first to the last, as one session of a shell. */
    async play(page) {
      const child = spawn("bash", ["-euo", "pipefail", "-c", script(page, servers)], {
        cwd: folder,
        env: { PATH: `${bin}:${process.env.PATH}`, HOME: folder, LANG: "C.UTF-8", ...chromium() },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const said = [];
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => said.push(text));
      const [code] = await once(child, "close");
      const all = said.join("");
      assert.equal(code, 0, `${page}: a command ended with ${code}\n${all.slice(-6000)}`);
      return all;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * `transom` is the real one; a host that would run for ever is ended when it is there. `cargo` starts what scripts/e2e has built, since building it
 * again would take minutes: in a checkout `cargo run` is `transom`, and in somebody's project it is their server. `npx` would download one.
 */
const standIns = (bin, built) => ({
  transom: `exec '${process.execPath}' '${PLAYER}' '${binary()}' "$@"`,
  npx: `exec '${binary()}' demo-server`,
  cargo: `case "$*" in
    "run -q") exec '${built}/weather' ;;
    "run" | "run -- "*) shift; [ $# = 0 ] || shift; exec '${bin}/transom' "$@" ;;
    "build --package transom-examples") test -x '${built}/weather' ;;
    *) echo "no test knows: cargo $*" >&2; exit 9 ;;
  esac`,
});

const chromium = () => (process.env.CHROMIUM ? { CHROMIUM: process.env.CHROMIUM } : {});

function script(page, servers) {
  const steps = blocks(page).map(({ line, language, lines, word, about }) => {
    const text = Object.entries(servers).reduce((text, [shown, real]) => text.replaceAll(shown, real), lines.join("\n"));
    if (word === "file") return `cat > '${about}' <<'END OF FILE'\n${text}\nEND OF FILE`;
    return language === "sh" && word === undefined ? `echo '@@ ${page}:${line}'\n${text}` : "";
  });
  return steps.join("\n");
}
