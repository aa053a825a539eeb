// Servers that other people publish, on one port: GraphQL over WebSocket, Socket.IO, and pages for htmx.
import { once } from "node:events";
import http from "node:http";
import { GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from "graphql";
import { useServer } from "graphql-ws/use/ws";
import { Server as SocketServer } from "socket.io";
import { WebSocketServer } from "ws";

/** Starts them. Whoever asks is answered the same, in a tab and in a view. */
export async function startBackends() {
  const server = http.createServer(answer);
  const graphs = new WebSocketServer({ noServer: true });
  useServer({ schema: schema() }, graphs);
  const sockets = new SocketServer({ serveClient: false });
  sockets.attach(server);
  sockets.on("connection", (socket) => {
    socket.on("add", (a, b, done) => done(a + b));
    socket.on("bytes", (bytes) => socket.emit("bytes", Buffer.from(bytes).reverse()));
    socket.on("goodbye", () => socket.disconnect());
  });
  // Socket.IO has a listener of its own, which leaves other paths alone.
  server.on("upgrade", (request, socket, head) => {
    if (request.url === "/ws/graphql") graphs.handleUpgrade(request, socket, head, (made) => graphs.emit("connection", made, request));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      await sockets.close();
      for (const client of graphs.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

function schema() {
  const query = new GraphQLObjectType({ name: "Query", fields: { hello: { type: GraphQLString, resolve: () => "world" } } });
  const subscription = new GraphQLObjectType({
    name: "Subscription",
    fields: {
      count: {
        type: GraphQLInt,
        args: { to: { type: GraphQLInt } },
        async *subscribe(_, { to }) {
          for (let at = 1; at <= to; at++) yield { count: at };
        },
      },
    },
  });
  return new GraphQLSchema({ query, subscription });
}

async function answer(request, response) {
  const { pathname } = new URL(request.url, "http://localhost");
  if (pathname.startsWith("/socket.io/")) return;
  let body = "";
  for await (const piece of request.setEncoding("utf8")) body += piece;
  const escaped = (text) => text.replaceAll(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const pages = {
    "/": "<!doctype html><title>A tab</title><body></body>",
    "/api/row": `<li>row of ${request.headers["hx-request"]}</li>`,
    "/api/form": `<p id="told">${escaped(`${request.method} ${request.headers["content-type"]} ${body}`)}</p>`,
  };
  const found = Object.hasOwn(pages, pathname);
  response.writeHead(found ? 200 : 404, { "content-type": "text/html; charset=utf-8" }).end(found ? pages[pathname] : "");
}
