// Packs the package, installs it in a scratch project, and uses it as a stranger would: the types under
// `strict` without `skipLibCheck`, in both ways of resolving modules; the modules in Node and in a bundle.
//   node scripts/pack-test.mjs [tarball]      with a tarball, that one is installed
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { checkExports } from "./exports-test.mjs";

const PACKED =
  /^(dist\/(?!workbench)|package\.json$|README\.md$|LICENSE-(MIT|APACHE)$)/;
const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "transom-pack-"));
const run = (command, args, cwd = scratch) =>
  execFileSync(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });

try {
  const tarball = process.argv[2] ? resolve(process.argv[2]) : pack();
  const files = run("tar", ["tzf", tarball])
    .trim()
    .split("\n")
    .map((path) => path.replace("package/", ""));
  const strays = files.filter((path) => !PACKED.test(path));
  if (strays.length) throw new Error(`packed too much: ${strays}`);

  // Unpacked where npm would put it: the package has no dependencies to fetch.
  const home = join(scratch, "node_modules/transom");
  mkdirSync(home, { recursive: true });
  run("tar", ["xzf", tarball, "-C", home, "--strip-components=1"]);
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"])
    if (!licence(home, name).equals(licence(join(root, ".."), name)))
      throw new Error(`${name} is not the repository's`);
  // What it goes with is the reader's own; what that needs is found where it really lies.
  mkdirSync(join(scratch, "node_modules/@types"));
  for (const name of ["@types/react", "react", "solid-js", "svelte", "vue"])
    symlinkSync(
      join(root, "node_modules", name),
      join(scratch, "node_modules", name),
    );

  writeFileSync(join(scratch, "package.json"), '{"type":"module"}');
  writeFileSync(join(scratch, "use.ts"), USE());
  writeFileSync(join(scratch, "use-react.ts"), USE_REACT());
  for (const name of ["vue", "svelte", "solid"])
    writeFileSync(join(scratch, `use-${name}.ts`), USE_STATE(name));
  for (const [module, resolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      target: "es2022",
      lib: ["es2022", "dom", "dom.iterable"],
      types: [],
      module,
      moduleResolution: resolution,
    };
    writeFileSync(
      join(scratch, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["*.ts"] }),
    );
    run(process.execPath, [
      join(root, "node_modules/typescript/bin/tsc"),
      "-p",
      ".",
    ]);
  }

  const checked = await checkExports(home, scratch);
  const names = run(process.execPath, [
    "-e",
    'import("transom").then((m) => console.log(Object.keys(m).join()))',
  ]);
  if (!names.includes("App") || !names.includes("McpApp"))
    throw new Error(`exports: ${names}`);

  const { outputFiles, warnings } = await build({
    stdin: {
      contents:
        'import { App } from "transom"; new App({ name: "a", version: "1" }).connect();',
      resolveDir: scratch,
    },
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "error",
  });
  if (warnings.length || !outputFiles[0].text.includes("ui/initialize"))
    throw new Error("the bundle is not whole");
  if (
    /<\/script/i.test(
      readFileSync(join(home, "dist/transom.global.js"), "utf8"),
    )
  )
    throw new Error("cannot be inlined");
  console.log(
    `packed ${files.length} files, ${readdirSync(home).join(", ")}: types, modules and bundle are usable, and ${checked} exports are as declared`,
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Packs what is built, and returns where. */
function pack() {
  const words = ["--json", "--ignore-scripts", "--loglevel=error"];
  const said = run(
    "npm",
    ["pack", ...words, "--pack-destination", scratch],
    root,
  );
  return join(scratch, JSON.parse(said)[0].filename);
}

/** A copy, because npm packs no links. */
function licence(folder, name) {
  return readFileSync(join(folder, name));
}

function USE() {
  return `
import { App, McpApp, applyHostStyles, dataOf, TransomError, type CallToolResult, type McpUiHostContext } from "transom";
import { InPageChannel, TransomView, type Channel } from "transom/host";
import { PostMessageTransport } from "transom/view";
import { FrameError, IframeControl, InnerFrameTransport, OuterFrameTransport, type Setup } from "transom/frames";
import "transom/sandbox";

const app = new App({ name: "a", version: "1" }, { availableDisplayModes: ["inline"] }, { autoResize: true });
app.ontoolinput = (params) => { const args: Record<string, unknown> | undefined = params.arguments; void args; };
app.ontoolresult = (result: CallToolResult) => { for (const block of result.content) if (block.type === "text") block.text.length; };
app.addEventListener("hostcontextchanged", (context) => applyHostStyles(context));
app.onteardown = async () => ({});
app.registerTool("t", { inputSchema: { type: "object" } }, (args) => ({ content: [{ type: "text", text: JSON.stringify(args) }] }));
await app.connect(new PostMessageTransport(window.parent, window.parent), { timeout: 1000 });
const result = await app.callServerTool({ name: "x", arguments: { a: 1 } }, { signal: new AbortController().signal, onprogress: ({ progress }) => void progress });
const data: unknown = dataOf(result);
const context: McpUiHostContext | undefined = app.getHostContext();
try { await app.openLink({ url: "https://x.test" }); } catch (error) { if (error instanceof TransomError && error.code === "Timeout") throw error; }
const mcp = new McpApp();
mcp.ontoolinput = (args) => void args;
const { mode } = await mcp.requestDisplayMode("fullscreen");
const channel: Channel = new InPageChannel((view, tell) => (said) => { if ("open" in said) tell({ open: { src: "https://s.test/" } }); });
const view: TransomView = document.createElement("transom-view");
view.addEventListener("transom-ask", (event) => { event.preventDefault(); event.detail.answer("deny"); });
view.channel = channel;
const outer = new OuterFrameTransport({ url: "https://s.test/", control: new IframeControl({ title: "s" }) });
outer.onreload = (next) => void next.start();
const setup: Setup = await outer.setup({ signal: new AbortController().signal });
const inner = new InnerFrameTransport({ allowedOrigins: ["https://c.test"] });
if (inner.phase === "setup") await inner.complete({ status: "success", title: setup.title, visibility: { requirement: "hidden" } });
await inner.start().catch((error: unknown) => { if (error instanceof FrameError && error.code !== "NO_PEER") throw error; });
export { data, context, mode };
`;
}

function USE_REACT() {
  return `
import { useApp, useHostStyles, useDocumentTheme, useAutoResize } from "transom/react";
export function useView() {
  const { app, isConnected, error } = useApp({ appInfo: { name: "a", version: "1" }, capabilities: {}, onAppCreated: (app) => { app.ontoolresult = () => {}; } });
  useHostStyles(app, app?.getHostContext());
  useAutoResize(app);
  return { theme: useDocumentTheme(), isConnected, error };
}
`;
}

/** Vue, Svelte and Solid: the same words, each with that framework's own state. */
function USE_STATE(framework) {
  return `
import { useApp, useAutoResize, useDocumentTheme, useHostContext, useHostStyles } from "transom/${framework}";
export function useView() {
  const { app, isConnected, error } = useApp({ appInfo: { name: "a", version: "1" }, capabilities: {}, onAppCreated: (app) => { app.ontoolresult = () => {}; } });
  useHostStyles(app);
  useAutoResize(app);
  return { context: useHostContext(app), theme: useDocumentTheme(), isConnected, error };
}
`;
}
