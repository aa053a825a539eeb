// Serves the pages of one test run on real, separate origins; every response has the headers the test chose.
//
//   http://localhost:p0             the host page
//   http://<random>.localhost:p1    sandboxes and guests: each its own site, so each its own process
//   http://127.0.0.1:p2             another site, for strangers
//   http://localhost:p3             the host's site but not its origin, for neighbours
import { randomBytes } from "node:crypto";
import http from "node:http";

/** Opens the four ports. `put` says what an address answers; what nobody put is a 404. */
export async function openSite() {
  const pages = new Map();
  const requests = [];

  const answer = async (request, response) => {
    const origin = `http://${request.headers.host}`;
    const { pathname, search } = new URL(request.url, origin);
    requests.push({ origin, pathname, search, method: request.method });
    const page = pages.get(origin + pathname);
    if (page === undefined) return response.writeHead(404).end();
    const { status, headers, body } =
      typeof page === "function" ? await page(request) : page;
    response.writeHead(status ?? 200, {
      "cache-control": "no-store",
      ...headers,
    });
    response.end(body);
  };

  const doors = await Promise.all([0, 1, 2, 3].map(() => openDoor(answer)));
  const [hostPort, sandboxPort, strangerPort, neighbourPort] = doors.map(
    (door) => door.port,
  );

  return {
    host: `http://localhost:${hostPort}`,
    stranger: `http://127.0.0.1:${strangerPort}`,
    neighbour: `http://localhost:${neighbourPort}`,
    /** An origin that nobody has used before. */
    fresh: () =>
      `http://${randomBytes(8).toString("hex")}.localhost:${sandboxPort}`,
    /** Everything that was asked of us, in order. */
    requests,
    /** Makes `origin` + `path` answer with a body, and returns the address. */
    put(origin, path, body, headers = {}) {
      const type = path.endsWith(".js") ? "text/javascript" : "text/html";
      const typed = { "content-type": `${type}; charset=utf-8`, ...headers };
      pages.set(origin + path, { headers: typed, body });
      return origin + path;
    },
    /** Takes the policy away from an address, so that only the page itself is left to refuse. */
    stripHeaders(address) {
      const { headers, ...rest } = pages.get(address);
      pages.set(address, {
        ...rest,
        headers: { "content-type": headers["content-type"] },
      });
    },
    /** Makes `origin` + `path` answer as a function of the request says. */
    route(origin, path, respond) {
      pages.set(origin + path, respond);
      return origin + path;
    },
    close: () => Promise.all(doors.map((door) => door.close())),
  };
}

// "localhost" means both families to Chromium; a port open on only one of them costs a failed connection first.
async function openDoor(answer) {
  for (;;) {
    const four = http.createServer(answer);
    await new Promise((done) => four.listen(0, "127.0.0.1", done));
    const { port } = four.address();
    const six = http.createServer(answer);
    const both = await new Promise((done) => {
      six.once("error", ({ code }) => done(code !== "EADDRINUSE"));
      six.listen(port, "::1", () => done(true));
    });
    const close = () => {
      for (const server of [four, six]) {
        server.closeAllConnections();
        server.close();
      }
    };
    if (both) return { port, close };
    close();
  }
}
