// The servers of the matrix: each with its framework, built and started as its authors would, over stdio or over HTTP.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { frameworkView, plainView } from "../matrix/build.mjs";
import { freePort, startListening } from "./host.mjs";

const HOME = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const MATRIX = path.join(HOME, "matrix");

/** The lines of ext-apps that views in the wild are built with. */
export const LINES = ["0.0.7", "0.2.0", "0.2.2", "0.4.1", "1.0.1", "1.7.5", "2.0.4"];

/**
 * Builds what is wanted, by its name and its way, and says how each is started. `stop` ends what listens and deletes what
 * was built. Small servers over HTTP are one process: starting one takes longer than all that a row does.
 */
export async function prepareMatrix(isWanted = () => true) {
  const folder = mkdtempSync(path.join(tmpdir(), "transom-matrix-"));
  const running = [];
  const servers = {};
  const small = [];
  const wanted = Object.entries(KINDS).filter(([name]) => WAYS.some((way) => isWanted(name, way)));
  await Promise.all(
    wanted.map(async ([name, prepare]) => {
      const port = await freePort();
      const { stdio, http, file } = await prepare(folder, port);
      if (stdio && isWanted(name, "stdio")) servers[`${name} over stdio`] = stdio;
      if (!isWanted(name, "HTTP")) return;
      if (file) return void small.push({ name, words: stdio.args.slice(1) });
      if (!http) return;
      const server = await startListening(name, http, port);
      running.push(server);
      servers[`${name} over HTTP`] = { url: server.url };
    }),
  );
  if (small.length > 0) {
    const started = node(path.join(MATRIX, "server.mjs"), ...small.flatMap(({ words }) => words));
    const server = await startListening("small servers", started, await freePort());
    running.push(server);
    small.forEach(({ name }, at) => (servers[`${name} over HTTP`] = { url: `${server.url}/${at}` }));
  }
  return {
    servers,
    async stop() {
      await Promise.all(running.map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** How a server is reached. */
export const WAYS = ["stdio", "HTTP"];

const node = (...args) => ({ command: process.execPath, args });

/** Our small server with a document, of which only the kind and the document differ. */
const small = (kind, make) => async (folder) => {
  const file = path.join(folder, `${kind}-${Math.random().toString(36).slice(2)}.html`);
  writeFileSync(file, await make());
  return { stdio: node(path.join(MATRIX, "server.mjs"), kind, file), file };
};

const python = (script) => async (folder) => {
  const file = path.join(folder, `${script}.html`);
  writeFileSync(file, await plainView("2.0.4"));
  const command = path.join(MATRIX, ".venv/bin/python");
  // The bundled renderer: nothing of a test comes from the network.
  const env = { PREFAB_BUNDLED_RENDERER: "1", PYTHONDONTWRITEBYTECODE: "1" };
  const started = { command, args: [path.join(MATRIX, "python", `${script}.py`), file], env };
  return { stdio: started, http: started };
};

/** A framework that builds a project: on a copy, with what `servers/` has installed. */
const project = (name, build, started) => async (folder, port) => {
  const copy = path.join(folder, name);
  cpSync(path.join(MATRIX, name), copy, { recursive: true });
  symlinkSync(path.join(HOME, "servers/node_modules"), path.join(copy, "node_modules"));
  const [script, ...words] = build;
  const env = { ...process.env, PORT: String(port) };
  await promisify(execFile)(process.execPath, [path.join(copy, "node_modules", script), ...words], { cwd: copy, env });
  return started(copy);
};

const mcpUi = () => readFileSync(path.join(MATRIX, "mcpui.html"), "utf8");

const KINDS = {
  ...Object.fromEntries(LINES.map((version) => [`ext-apps ${version}`, small("app", () => plainView(version))])),
  ...Object.fromEntries(Object.entries(frameworkView).map(([name, make]) => [name, small("app", make)])),
  "mcp-ui adapter": small("adapter", mcpUi),
  "mcp-ui plain": small("plain", mcpUi),
  "mcp-ui linked": small("app", mcpUi),
  "mcp-ui address": small("link", () => "-"),
  fastmcp: python("fastmcp_apps"),
  "python sdk": python("sdk_apps"),
  "mcp-use": project("mcp-use", ["mcp-use/dist/bin.js", "build"], (copy) => ({
    http: { ...node(path.join(copy, "node_modules/mcp-use/dist/bin.js"), "start"), cwd: copy },
  })),
  xmcp: project("xmcp", ["xmcp/dist/cli.js", "build"], (copy) => ({
    stdio: { ...node(path.join(copy, "dist/stdio.js")), cwd: copy },
    http: { ...node(path.join(copy, "dist/http.js")), cwd: copy },
  })),
};
