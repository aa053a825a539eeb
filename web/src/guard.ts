/** What a relay may check without understanding: how big a message is, and whether a source is one. */
import { isObject, type Json } from "./wire.js";

/** How many bytes a text has on the wire. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * Estimates a cloned value's size in bytes without writing it out; stops counting beyond the limit.
 *
 * What is not plain JSON has no size that could be told from outside, and is larger than any limit: a `String` of
 * 300 MB looks like an empty object. Told by prototype, since a clone belongs to our own realm. Every node costs
 * something each time that it is met, so that a cycle, or one object named a million times, reaches the limit too.
 */
export function sizeOf(value: unknown, limit: number): number {
  const left = [value];
  let size = 0;
  while (left.length && size <= limit) {
    const node = left.pop();
    size += 8;
    if (typeof node === "string") size += node.length;
    if (typeof node === "bigint") size = Infinity;
    if (node && typeof node === "object") {
      const kind: unknown = Object.getPrototypeOf(node);
      if (kind === Array.prototype) {
        const list = node as unknown[];
        // By its length first: an array of four billion holes has no elements. Then by index: `in` would
        // make a string of every one.
        if ((size += list.length * 8) <= limit) {
          // A clone keeps an array's named members too. Without a hole, one more name is one of them.
          if (Object.keys(list).length > list.length) size = Infinity;
          for (const each of list) {
            if (each === undefined) size = Infinity;
            left.push(each);
          }
        }
      } else if (kind === Object.prototype)
        // A member that is undefined is as good as none.
        for (const key in node) left.push(key, (node as Json)[key]);
      else size = Infinity;
    }
  }
  return size;
}

/**
 * Builds the policy of a document from what it declared (docs/reference/mcp-apps.md §3.7). Each source is parsed and
 * written anew; one that does not parse is left out, and so is one of this machine or its networks that
 * the operator has not granted: no declaration reaches those by itself.
 */
export function policyOf(csp: unknown, granted?: string): string {
  const declared = isObject(csp) && csp;
  const [connect, resource, frame, base] = "connect resource frame baseUri"
    .split(" ")
    .map((kind) => {
      const list = declared && declared[kind + "Domains"];
      // As far as a host reads them: the first 64.
      return Array.isArray(list)
        ? [
            ...new Set(
              list.slice(0, 64).map((each) => sourceOf(each, granted)),
            ),
          ].join("")
        : "";
    });
  const self = "'self'" + resource;
  return (
    "default-src 'none'; " +
    `script-src 'unsafe-inline' ${self}; ` +
    `style-src 'unsafe-inline' ${self}; ` +
    `connect-src ${declared ? "'self'" + connect : "'none'"}; ` +
    `img-src data: ${self}; ` +
    (declared ? `font-src ${self}; ` : "") +
    `media-src data: ${self}; ` +
    `frame-src${frame || " 'none'"}; ` +
    "object-src 'none'; " +
    `base-uri${base || " 'self'"}; ` +
    "form-action 'none'"
  );
}

/** A source as a browser writes it, after a space, or nothing: what `csp.rs` refuses is refused here (`fixtures/csp`). */
function sourceOf(entry: unknown, granted?: string): string {
  const parts =
    typeof entry === "string" && entry.length < 270 && SOURCE.exec(entry);
  if (!parts) return "";
  const [, scheme = "https", star = "", host, port = ""] = parts;
  try {
    // Reads 127.1 and 0x7f.1 as addresses, and writes every host in one way only.
    if (new URL(`http://${host}${port}`).hostname !== host) return "";
  } catch {
    return "";
  }
  const source = `${scheme}://${star}${host}${port}`;
  return PRIVATE.test(host) && !granted?.split(" ").includes(source)
    ? ""
    : " " + source;
}

/**
 * Scheme, star, host and port. A bare host means https (docs/reference/mcp-apps.md §4.2); a single word may be a keyword
 * whose quotes were lost. `*.com` is half the world, and no address has names below it. A host is 253 long at most, and
 * the whole 269: a longer one would keep the expression busy.
 */
const SOURCE =
  /^(?:(https?|wss?):\/\/|(?=.*\.|localhost(?::|$)))(\*\.(?=.*\.[^.]*[a-z][^.]*$))?(?![^:]{254})((?:[a-z\d-]{1,63}\.)*[a-z\d-]{1,63})(:[1-9]\d*)?$/;

/**
 * The judgement of the core's `Reach`; `fixtures/csp/private.json` holds the two together. A host that ends in a number is
 * an address by then, written in one way only: whatever stands between its numbers is a dot.
 */
const PRIVATE =
  /^[^.]+$|(^|\.)(local(host|domain)?|internal|lan|home(\.arpa)?|corp|private|intranet)$|^(0|10|127|22[4-9]|2[3-5]\d|169.254|172.(1[6-9]|2\d|3[01])|192.(168|0.0)|198.1[89]|100.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$/;
