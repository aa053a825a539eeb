// Libraries as they are published, used as their guides say; each step is the same in a tab and in a view.
import { fetchEventSource } from "@microsoft/fetch-event-source";
import { QueryClient } from "@tanstack/query-core";
import axios from "axios";
import ky from "ky";
import ReconnectingWebSocket from "reconnecting-websocket";
import "./fetch.xhr.js";

const file = () => new File(["0123"], "f.txt", { type: "text/plain" });
const told = ({ method, uri, body, headers }) => ({
  method,
  uri,
  body: body.length > 200 ? "a form" : body,
  type: headers.find(([name]) => name === "content-type")?.[1].split(";")[0],
});

globalThis.LIBRARIES = {
  // A connection that breaks is made again, and what was said meanwhile is sent then.
  "reconnecting-websocket": () =>
    new Promise((done) => {
      const socket = new ReconnectingWebSocket("/ws/echo", ["chat"], { minReconnectionDelay: 10, maxReconnectionDelay: 50, WebSocket: globalThis.WebSocket });
      const told = [];
      socket.addEventListener("open", () => {
        told.push(["open", socket.protocol]);
        if (told.length === 1) socket.send("first");
      });
      socket.addEventListener("close", ({ code }) => {
        told.push(["close", code]);
        if (told.length === 3) socket.send("second");
      });
      socket.addEventListener("message", ({ data }) => {
        told.push(["message", data]);
        if (data === "first") socket.send("drop");
        else done((socket.close(), told));
      });
    }),
  async "axios over XMLHttpRequest"() {
    const client = axios.create({ adapter: "xhr", baseURL: "/api" });
    const { data, status, headers } = await client.post("/echo", { a: [1, "ä"] }, { params: { q: "x y" } });
    const failed = await client.get("/status/404").catch(({ name, code, response }) => [name, code, response.status, response.data]);
    const form = await client.postForm("/echo", { a: "1", f: file() });
    const slow = await client.get("/slow", { timeout: 50 }).catch(({ code }) => code);
    const controller = new AbortController();
    const stopped = client.get("/slow", { signal: controller.signal }).catch(({ code }) => code);
    setTimeout(() => controller.abort(), 50);
    const bytes = await client.get("/bytes/binary", { responseType: "arraybuffer" });
    return [told(data), status, headers["x-echo"], failed, told(form.data), slow, await stopped, bytes.data.byteLength];
  },
  async "axios over fetch"() {
    const client = axios.create({ adapter: "fetch", baseURL: new URL("/api", base()).href });
    const { data, status } = await client.put("/echo", { a: 1 });
    const failed = await client.get("/status/500").catch(({ name, code, response }) => [name, code, response.status]);
    return [told(data), status, failed];
  },
  async ky() {
    const client = ky.create({ prefixUrl: new URL("/api", base()).href, retry: 0 });
    const data = await client.post("echo", { json: { a: 1 }, searchParams: { q: "x y" } }).json();
    const failed = await client.get("status/404").catch(({ name, response }) => [name, response.status]);
    const slow = await client.get("slow", { timeout: 50 }).catch(({ name }) => name);
    return [told(data), failed, slow];
  },
  async "TanStack Query"() {
    const client = new QueryClient();
    const queryFn = ({ signal }) => fetch("/api/bytes/json", { signal }).then((response) => response.json());
    const first = await client.fetchQuery({ queryKey: ["a"], queryFn });
    const slow = client.fetchQuery({ queryKey: ["slow"], queryFn: ({ signal }) => fetch("/api/slow", { signal }), retry: false }).catch(({ name }) => name);
    setTimeout(() => client.cancelQueries({ queryKey: ["slow"] }), 50);
    return [first, client.getQueryData(["a"]), await slow];
  },
  async "fetch-event-source"() {
    const heard = [];
    const controller = new AbortController();
    await fetchEventSource("/stream/events", {
      openWhenHidden: true,
      signal: controller.signal,
      onmessage({ id, event, data }) {
        heard.push([id, event, data]);
        if (id === "6") controller.abort();
      },
    });
    return heard;
  },
};
const base = () => (document.baseURI.startsWith("http") ? document.baseURI : "https://app.invalid/");
