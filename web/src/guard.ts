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
 * Builds the policy of a document from what it declared (docs/reference/mcp-apps.md §3.7). Each source is parsed and
 * written anew; one that does not parse is left out.
 */
export function policyOf(csp: unknown): string {
  const declared = isObject(csp) ? csp : {};
  const [connect, resource, frame, base] = [
    "connectDomains",
    "resourceDomains",
    "frameDomains",
    "baseUriDomains",
  ].map((key) => sourcesOf(declared[key])) as [string, string, string, string];
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

/** Each source after a space, as far as a host reads them: the first 64. */
function sourcesOf(list: unknown): string {
  const first = Array.isArray(list) ? list.slice(0, 64) : [];
  return [...new Set(first.map(sourceOf))].join("");
}

/** A source as a browser writes it, or nothing: what `csp.rs` refuses is refused here (`fixtures/csp`). */
function sourceOf(entry: unknown): string {
  const parts = typeof entry === "string" && SOURCE.exec(entry);
  if (!parts) return "";
  const [, scheme, star = "", host, port = ""] = parts as unknown as string[];
  // A bare host means https (docs/reference/mcp-apps.md §4.2); a single word may be a keyword whose quotes were lost.
  if (!scheme && !/\.|^localhost$/.test(star + host)) return "";
  // "*.com" is half the world, and no address has names below it.
  if (star && !/\.[^.]*[a-z][^.]*$/.test(host!)) return "";
  try {
    // Reads 127.1 and 0x7f.1 as addresses, and writes every host in one way only.
    if (new URL(`http://${host}${port}`).hostname !== host) return "";
  } catch {
    return "";
  }
  return ` ${scheme ?? "https"}://${star}${host}${port}`;
}

const SOURCE =
  /^(?:(https?|wss?):\/\/)?(\*\.)?(?=.{1,253}(?::|$))((?:[a-z\d-]{1,63}\.)*[a-z\d-]{1,63})(:[1-9]\d{0,4})?$/;
