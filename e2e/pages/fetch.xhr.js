// Makes an XMLHttpRequest from a description, and writes down every event and all that can be seen at the end.
import { make } from "./fetch.requests.js";

const NAMES = ["readystatechange", "loadstart", "progress", "abort", "error", "load", "timeout", "loadend"];

globalThis.observeXhr = function observeXhr({ method = "GET", url, headers = [], body, type = "", timeout, stop, mime, before = [] }) {
  const xhr = new XMLHttpRequest();
  const events = [];
  const note = (text) => events.at(-1) !== text && events.push(text);
  for (const name of NAMES) xhr.addEventListener(name, () => note(`${name} ${xhr.readyState}`));
  for (const name of NAMES.slice(1)) xhr.upload[`on${name}`] = ({ loaded, target }) => note(`upload ${name} ${loaded} ${target === xhr.upload}`);
  const attempts = before.map((step) => attempt(() => STEPS[step](xhr)));
  return new Promise((done) => {
    const end = () => {
      const seen = look(xhr, type);
      // What a response is read as may not change any more.
      const late = [attempt(() => (xhr.responseType = "text")), attempt(() => xhr.overrideMimeType("text/plain")), attempt(() => xhr.setRequestHeader("a", "b"))];
      const { readyState } = xhr;
      xhr.abort();
      Promise.resolve(seen).then((seen) => done({ events, attempts, seen, late, states: [readyState, xhr.readyState] }));
    };
    try {
      xhr.open(method, url);
      for (const [name, value] of headers) xhr.setRequestHeader(name, value);
      xhr.responseType = type;
      if (mime) xhr.overrideMimeType(mime);
      if (timeout) xhr.timeout = timeout;
      xhr.onloadend = end;
      xhr.send(body && make(body));
      attempts.push(attempt(() => xhr.send()), attempt(() => xhr.setRequestHeader("a", "b")));
      if (stop) setTimeout(() => xhr.abort(), 50);
    } catch (error) {
      done({ events, attempts, error: error.name });
    }
  });
};

async function look(xhr, type) {
  const { status, statusText, readyState, response } = xhr;
  const kind = response === null ? "null" : response.constructor?.name;
  const lines = xhr.getAllResponseHeaders().split("\r\n").filter((line) => !/^(content-length|date|connection|keep-alive|transfer-encoding):/.test(line));
  const seen = {
    status,
    statusText,
    readyState,
    kind,
    lines,
    one: [xhr.getResponseHeader("X-ECHO"), xhr.getResponseHeader("set-cookie"), xhr.getResponseHeader("none"), xhr.getResponseHeader("a b")],
    url: xhr.responseURL && new URL(xhr.responseURL).pathname + new URL(xhr.responseURL).search + new URL(xhr.responseURL).hash,
    other: attempt(() => void xhr.responseText),
    xml: attempt(() => xhr.responseXML?.documentElement.tagName),
    tag: [`${xhr}`, xhr instanceof XMLHttpRequest, xhr instanceof EventTarget, xhr.DONE, XMLHttpRequest.LOADING],
  };
  // Last, since it waits, and the request is aborted meanwhile.
  const text = type === "blob" ? response && [response.type.split(";")[0], await response.text()] : type === "arraybuffer" ? response && [...new Uint8Array(response)].slice(0, 300) : type === "document" ? response?.documentElement?.outerHTML : type === "json" ? response : told(response);
  return { ...seen, text };
}

/** Of an echo, what the backend saw of method and body. */
function told(text) {
  try {
    const { method, uri, body, headers } = JSON.parse(text);
    return uri ? [method, uri, body, headers.filter(([name]) => name.startsWith("x-") || name === "content-type").sort()] : text;
  } catch {
    return text;
  }
}

function attempt(step) {
  try {
    return step() ?? "fine";
  } catch (error) {
    return error.name;
  }
}

const STEPS = {
  "send unopened": (xhr) => xhr.send(),
  "header unopened": (xhr) => xhr.setRequestHeader("a", "b"),
  "open in sync": (xhr) => xhr.open("GET", "/api/echo", false),
  "open TRACE": (xhr) => xhr.open("TRACE", "/api/echo"),
  "open no method": (xhr) => xhr.open("G T", "/api/echo"),
  "open no address": (xhr) => xhr.open("GET", "https://"),
  "abort unopened": (xhr) => xhr.abort(),
  "odd header": (xhr) => (xhr.open("GET", "/api/echo"), xhr.setRequestHeader("a b", "c")),
  "odd value": (xhr) => (xhr.open("GET", "/api/echo"), xhr.setRequestHeader("a", "b\nc")),
  "abort opened": (xhr) => (xhr.open("GET", "/api/echo"), xhr.abort(), xhr.readyState),
  "odd type": (xhr) => ((xhr.responseType = "odd"), xhr.responseType),
  "credentials": (xhr) => ((xhr.withCredentials = true), xhr.withCredentials),
  "text of none": (xhr) => xhr.responseText === "" && xhr.response === "" && xhr.responseXML === null && xhr.getAllResponseHeaders() === "",
  "handlers": (xhr) => ((xhr.onload = "no function"), xhr.onload === null),
};
globalThis.STEPS = Object.keys(STEPS);
