/** What a relay may check without understanding: how big a message is, and whether a source is one. */
import { isObject } from "./wire.js";

/**
 * Estimates a cloned value's size in bytes without writing it out; stops counting beyond the limit.
 *
 * Every node costs something, so that a cycle or a sea of empty objects reaches the limit too.
 */
export function sizeOf(value: unknown, limit: number): number {
  const left = [value];
  let size = 0;
  while (left.length && size <= limit) {
    const node = left.pop();
    size += 8;
    if (typeof node === "string") size += node.length;
    else if (Array.isArray(node)) {
      // By its length first: an array of four billion holes has no elements. Then by index: `in` would
      // make a string of every one.
      if ((size += node.length * 8) <= limit)
        for (const each of node) left.push(each);
    } else if (isObject(node)) {
      if (Object.getPrototypeOf(node) === Object.prototype)
        for (const key in node) {
          size += key.length;
          left.push(node[key]);
        }
      // Buffers and their views, blobs and maps.
      else size += ((node.byteLength ?? node.size ?? 0) as number) * 8;
    }
  }
  return size;
}

/**
 * Builds the policy of a document from what it declared (reference §3.7). Each source is parsed and
 * written anew; one that does not parse is left out, and so is one of this machine or its networks that
 * the operator has not granted: no declaration reaches those by itself.
 */
export function policyOf(csp: unknown, granted: string[] = []): string {
  const declared = isObject(csp) ? csp : {};
  const [connect, resource, frame, base] = [
    "connectDomains",
    "resourceDomains",
    "frameDomains",
    "baseUriDomains",
  ].map((key) => sourcesOf(declared[key], granted)) as [
    string,
    string,
    string,
    string,
  ];
  const self = "'self'" + resource;
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline' ${self}`,
    `style-src 'unsafe-inline' ${self}`,
    `connect-src ${isObject(csp) ? "'self'" + connect : "'none'"}`,
    `img-src data: ${self}`,
    ...(isObject(csp) ? [`font-src ${self}`] : []),
    `media-src data: ${self}`,
    `frame-src${frame || " 'none'"}`,
    "object-src 'none'",
    `base-uri${base || " 'self'"}`,
    "form-action 'none'",
  ].join("; ");
}

/** Each source after a space. */
function sourcesOf(list: unknown, granted: string[]): string {
  return Array.isArray(list)
    ? list.map((entry) => sourceOf(entry, granted)).join("")
    : "";
}

function sourceOf(entry: unknown, granted: string[]): string {
  const parts = typeof entry === "string" && SOURCE.exec(entry);
  if (!parts) return "";
  // A bare host means https (reference §4.2).
  const [, scheme = "https://", host = "", path = ""] = parts;
  const source = scheme + host;
  return isPrivate(host) && !granted.includes(source)
    ? ""
    : ` ${source}${path}`;
}

/** The judgement of the core's `Reach`; `fixtures/csp/private.json` holds the two together. */
function isPrivate(host: string): boolean {
  try {
    // A browser reads 0x7f.1 as an address, so it is asked what it reads.
    const { hostname } = new URL("http://" + host.replace(/^\*\.|:.*/g, ""));
    return PRIVATE.test(hostname);
  } catch {
    return true;
  }
}

const SOURCE =
  /^((?:https?|wss?):\/\/)?((?:\*\.)?(?:[\w-]+\.)*[\w-]+(?::(?:\d+|\*))?)(\/[\w.~%@+/-]*)?$/i;

const PRIVATE =
  /^[^.]+$|\.(local(host|domain)?|internal|lan|home|corp|private|intranet)$|(^|\.)home\.arpa$|^(0|10|127|22[4-9]|2[3-5]\d|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168|192\.0\.0|198\.1[89]|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$/;
