// Two loopback ports: the host's and the sandbox's, each on both address families so that "localhost" never falls back.
import { createReadStream, existsSync, readFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const HOME = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  "..",
);
const TYPES = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
]);

/** Serves dist/ on the host's port; proxies and guests, under their policies, on the sandbox's. */
export async function serveBench() {
  const host = await listen((request, response) => {
    const { pathname } = new URL(request.url, "http://x");
    serveFile(response, path.basename(pathname));
  });
  const sandbox = await listen((request, response) => {
    const { pathname } = new URL(request.url, "http://x");
    const file = path.basename(pathname);
    if (file.startsWith("guest.")) return serveFile(response, file);
    const script = path.join(HOME, "dist", file.replace(/\.html$/, ".js"));
    if (!file.startsWith("proxy.") || !existsSync(script))
      return response.writeHead(404).end();
    const { searchParams } = new URL(request.url, "http://x");
    servePage(
      response,
      settingsOf(file, searchParams),
      readFileSync(script, "utf8"),
    );
  });
  return {
    hostPort: host.port,
    sandboxPort: sandbox.port,
    close() {
      host.close();
      sandbox.close();
    },
  };
}

// Our pages take their settings from their script elements; the rate is lifted because a benchmark is a flood. As our host
// serves it, a guest of ours stands behind a porch.
function settingsOf(file, asked) {
  const [guest, host] = [asked.get("guest"), asked.get("host")];
  if (!guest || file === "proxy.porch.html") return { host, rate: 1e9, guest };
  if (file !== "proxy.transom.html") return { host, guest };
  const porch = new URL("/proxy.porch.html", guest);
  porch.searchParams.set("guest", guest);
  return { host, rate: 1e9, porch };
}

// The same document for every adapter, so that the handshake compares scripts and not pages.
function servePage(response, settings, script) {
  const data = Object.entries(settings)
    .filter(([, value]) => value)
    .map(([name, value]) => ` data-${name}="${escape(String(value))}"`);
  const framed = settings.porch ?? settings.guest;
  const frames = framed ? new URL(framed).origin : "'none'";
  response.writeHead(200, {
    "content-type": TYPES.get(".html"),
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-src ${frames}`,
  });
  response.end(
    `<!doctype html><html><head><meta charset="utf-8"></head><body><script${data.join("")}>${script.replaceAll(/<\/(script)/gi, "<\\/$1")}</script></body></html>`,
  );
}

const escape = (value) =>
  value.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

function serveFile(response, name) {
  const file = path.join(HOME, "dist", name);
  if (!existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, {
    "content-type": TYPES.get(path.extname(file)),
    "cache-control": "no-cache",
  });
  createReadStream(file).pipe(response);
}

async function listen(handler) {
  const four = http.createServer(handler);
  await new Promise((done) => four.listen(0, "127.0.0.1", done));
  const { port } = four.address();
  const six = http.createServer(handler);
  await new Promise((done) =>
    six.once("error", done).listen(port, "::1", done),
  );
  return {
    port,
    close() {
      for (const server of [four, six]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
