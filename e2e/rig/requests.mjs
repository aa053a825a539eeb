// Requests made up from a seed: the same seed is the same request, for ever.

/** A request that a page can make of a description. */
export function requestOf(seed) {
  const random = mulberry32(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const chance = (share) => random() < share;
  const words = (most) => Array.from({ length: Math.floor(random() * most) }, () => pick(LETTERS)).join("");
  const init = {};
  if (chance(0.8)) init.method = pick(METHODS);
  const hasBody = !["GET", "HEAD", undefined].includes(init.method?.toUpperCase()) && chance(0.8);
  const headers = [];
  while (chance(0.5) && headers.length < 5) headers.push([pick(["x-a", "X-B", "x-a", "accept", "range", "x-latin"]), pick(VALUES)]);
  if (hasBody && chance(0.3)) headers.push(["content-type", pick(["application/json", "text/csv", "application/x-unknown; a=b"])]);
  if (headers.length) init.headers = headers;
  if (chance(0.2)) init.cache = pick(["no-store", "reload", "no-cache"]);
  if (chance(0.2)) init.credentials = pick(["omit", "same-origin", "include"]);
  if (chance(0.2)) init.mode = pick(["cors", "same-origin"]);
  if (chance(0.1)) init.keepalive = true;
  if (chance(0.1)) init.referrerPolicy = "no-referrer";
  const description = { init, url: urlOf(pick, chance, words, random) };
  if (chance(0.3)) init.redirect = pick(["follow", "error", "manual"]);
  if (hasBody) {
    const kind = pick(["text", "query", "blob", "buffer", "view", "form"]);
    const pairs = Array.from({ length: Math.floor(random() * 4) }, () => {
      const pair = [words(8), words(20)];
      return kind === "form" && chance(0.4) ? [...pair, `f${Math.floor(random() * 9)}.bin`] : pair;
    });
    description.body = { kind, text: chance(0.1) ? "" : words(2_000), pairs, type: pick(["", "image/png", "text/plain;charset=utf-8"]) };
  }
  if (chance(0.08)) description.abort = { when: "before", ...(chance(0.5) && { reason: "enough" }) };
  else if (chance(0.04)) {
    description.url = "/api/slow";
    description.abort = { when: pick(["during", "timeout"]), ...(chance(0.5) && { reason: "enough" }) };
  }
  return description;
}

function urlOf(pick, chance, words, random) {
  // Chromium blocks an address with a line end and a "<": it may be markup that was left open. Nothing of that is fetch's.
  const query = chance(0.5) ? `?${words(30).replaceAll("<", "")}` : "";
  const kind = random();
  if (kind < 0.5) return `${pick(["/api/echo", "api/echo", "/x/../api/echo", "/api/./echo", "./api/echo"])}${query}${chance(0.1) ? "#part" : ""}`;
  if (kind < 0.65) return `/api/status/${pick(STATUSES)}${query}`;
  if (kind < 0.8) return `/api/to/${pick([301, 302, 303, 307, 308])}?${pick(["/api/echo?moved", "../echo", "/api/status/404", "/api/to/302?/api/echo"])}`;
  if (kind < 0.83) return `/api/hops/${pick([1, 19, 20, 21, 25])}`;
  return `/api/bytes/${pick(["latin1", "utf16", "bom", "nul", "json", "bad-json", "html", "form", "binary", "none"])}`;
}

/** A small generator that is the same everywhere. */
function mulberry32(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const METHODS = ["GET", "get", "HEAD", "POST", "post", "PUT", "PATCH", "DELETE", "delete", "OPTIONS"];
const LETTERS = [..."abcXYZ019 +&=%2f/?:;'\"<>[]{}|^`~!@$,.-_*()\n\r\t\\", "ä", "€", "😀", "\u0000", "\ufeff", "%20", "%C3%A4", "\ud800"];
const VALUES = ["1", "a, b", " padded ", "caf\u00e9", "", "bytes=0-9", "*/*", "text/html;q=0.9"];
const STATUSES = [200, 201, 202, 203, 204, 205, 206, 300, 304, 400, 401, 403, 404, 409, 410, 418, 422, 429, 500, 501, 502, 503, 504];
