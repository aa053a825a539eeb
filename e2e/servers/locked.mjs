// A server behind a sign-in, with the place to sign in beside it, over HTTP and without any library.
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import http from "node:http";

const MIME = "text/html;profile=mcp-app";
const VIEW = "ui://locked/view.html";

/** Starts it. `secrets` are all codes and tokens that it gave out. */
export async function startLocked(html) {
  const [codes, tokens, secrets] = [new Map(), new Set(), []];
  const make = (kind) => {
    secrets.push(`${kind}-${randomUUID()}`);
    return secrets.at(-1);
  };
  let origin;
  const routes = routesOf(() => origin, codes, tokens, make);
  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, origin);
    const body = Buffer.concat(await request.toArray()).toString();
    const reply = (status, value, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(value === undefined ? "" : JSON.stringify(value));
    };
    if (url.pathname === "/authorize") {
      // A person reads what is asked for here, and presses the button.
      response.writeHead(200, { "content-type": "text/html" });
      return response.end(`<form action="/agree${url.search.replaceAll('"', "")}" method="post"><button>Agree</button></form>`);
    }
    if (url.pathname === "/agree") {
      const code = make("code");
      codes.set(code, url.searchParams);
      const back = new URL(url.searchParams.get("redirect_uri"));
      back.searchParams.set("code", code);
      back.searchParams.set("state", url.searchParams.get("state"));
      return reply(303, undefined, { location: back.href });
    }
    if (routes[url.pathname]) {
      const value = routes[url.pathname](body);
      return value ? reply(200, value) : reply(400, { error: "invalid_grant" });
    }
    if (url.pathname !== "/mcp") return reply(404);
    if (!tokens.has(request.headers.authorization?.replace("Bearer ", ""))) {
      const place = `${origin}/.well-known/oauth-protected-resource/mcp`;
      return reply(401, undefined, { "www-authenticate": `Bearer resource_metadata="${place}"` });
    }
    if (request.method !== "POST") return reply(405);
    const { id, method } = JSON.parse(body);
    if (id === undefined) return reply(202);
    const result = answersOf(html)[method]?.();
    reply(result ? 200 : 400, result ? { jsonrpc: "2.0", id, result } : { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${server.address().port}`;
  return { url: `${origin}/mcp`, secrets, close: () => (server.closeAllConnections(), server.close()) };
}

/** What the server answers to who has signed in. */
const answersOf = (html) => ({
  initialize: () => ({
    protocolVersion: "2025-11-25",
    serverInfo: { name: "locked", version: "1" },
    capabilities: { tools: {}, resources: {} },
  }),
  "tools/list": () => ({ tools: [{ name: "show", inputSchema: { type: "object" }, _meta: { ui: { resourceUri: VIEW } } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "unlocked" }] }),
  "resources/list": () => ({ resources: [] }),
  "resources/read": () => ({ contents: [{ uri: VIEW, mimeType: MIME, text: html }] }),
});

/** The place to sign in: who it is, who registers, and codes for tokens. */
const routesOf = (origin, codes, tokens, make) => ({
  "/.well-known/oauth-protected-resource/mcp": () => ({ resource: `${origin()}/mcp`, authorization_servers: [origin()] }),
  "/.well-known/oauth-authorization-server": () => ({
    issuer: origin(),
    authorization_endpoint: `${origin()}/authorize`,
    token_endpoint: `${origin()}/token`,
    registration_endpoint: `${origin()}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  }),
  "/register": (body) => ({ client_id: "one", redirect_uris: JSON.parse(body).redirect_uris }),
  "/token": (body) => {
    const form = new URLSearchParams(body);
    const asked = codes.get(form.get("code"));
    codes.delete(form.get("code"));
    const proof = createHash("sha256").update(form.get("code_verifier")).digest("base64url");
    if (asked?.get("code_challenge") !== proof) return undefined;
    const token = make("access");
    tokens.add(token);
    return { access_token: token, token_type: "Bearer", expires_in: 3600, refresh_token: make("refresh") };
  },
});
