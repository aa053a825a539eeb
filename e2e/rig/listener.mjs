// A door on loopback that nobody should knock at: it counts connections, not requests, so that even an attempt shows.
import { once } from "node:events";
import net from "node:net";

/** Opens one; `knocks` is what came in, by its first words. */
export async function openListener() {
  const knocks = [];
  const server = net.createServer((socket) => {
    const knock = { words: "" };
    knocks.push(knock);
    socket.on("error", () => {});
    socket.once("data", (data) => {
      knock.words = data.toString("latin1").split("\r\n")[0];
      socket.end("HTTP/1.1 204 No Content\r\naccess-control-allow-origin: *\r\nconnection: close\r\n\r\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    knocks,
    close: () => server.close(),
  };
}
