/**
 * What `MCP_MESSAGE` may carry: one JSON-RPC message that JSON can hold, of bounded size and depth. The sender is told
 * before anything leaves; the receiver checks again, because the other page is a stranger.
 */
import type { RequestId } from "../wire.js";
import { FrameError } from "./error.js";

/** One JSON-RPC message, of any era of MCP and of either side. */
export type Payload = {
  jsonrpc: "2.0";
  id?: RequestId | undefined;
  method?: string | undefined;
  params?: object | undefined;
  result?: object | undefined;
  error?: { code: number; message: string; data?: unknown } | undefined;
};

/**
 * Reads one payload and says what it weighs; throws a `FrameError` at what may not travel.
 *
 * The copy is shallow and fresh: members are named one by one, so that an own `__proto__` of the peer's object is left
 * behind. What cannot be cloned at all throws the browser's own `DataCloneError`.
 */
export function readPayload(
  data: unknown,
  limit: number,
): { payload: Payload; size: number } {
  const payload = shapeOf(data);
  return { payload, size: weigh(payload, limit) };
}

/** MCP's own reading of JSON-RPC: no batches, no other members, no `null` id, no result beside an error. */
function shapeOf(data: unknown): Payload {
  if (!isPlain(data)) throw bad("not one JSON-RPC message");
  // Only what is there: a member that is present and undefined is one too many for a strict reader.
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(data)) {
    if (data[key] === undefined) continue;
    if (!MEMBERS.includes(key)) throw bad(`the member ${key.slice(0, 40)}`);
    copy[key] = data[key];
  }
  const { jsonrpc, id, method, params, result, error } = copy;
  const named = typeof id === "string" || Number.isInteger(id);
  const fits =
    method !== undefined
      ? typeof method === "string" &&
        (named || id === undefined) &&
        (params === undefined || isPlain(params)) &&
        result === undefined &&
        error === undefined
      : params === undefined &&
        (error === undefined
          ? named && isPlain(result)
          : (named || id === undefined) &&
            result === undefined &&
            isPlain(error) &&
            Number.isInteger(error.code) &&
            typeof error.message === "string");
  if (jsonrpc !== "2.0" || !fits)
    throw bad("neither a request, a notification nor a response");
  return copy as Payload;
}

/**
 * Walks a value that claims to be JSON, without recursion: a stranger chooses how deep it is. Counts what its text has at least.
 */
function weigh(root: object, limit: number): number {
  const values: unknown[] = [root];
  const depths = [0];
  let size = 0;
  while (values.length) {
    const value = values.pop();
    const depth = depths.pop()!;
    if (typeof value === "string") size += value.length + 2;
    else if (typeof value === "object" && value !== null) {
      // A cycle ends here too.
      if (depth === DEPTH) throw refused(`deeper than ${DEPTH} levels`);
      // By its length first: an array of four billion holes has no elements.
      if (Array.isArray(value)) {
        if ((size += value.length + 1) <= limit)
          for (const each of value) {
            if (each === undefined) throw refused("a hole in an array");
            values.push(each);
            depths.push(depth + 1);
          }
      } else if (isPlain(value)) {
        size += 1;
        for (const key of Object.keys(value)) {
          const each = value[key];
          // JSON leaves such a member out, and so did whoever wrote it.
          if (each === undefined) continue;
          size += key.length + 4;
          values.push(each);
          depths.push(depth + 1);
        }
      } else
        throw refused(
          `a ${Object.prototype.toString.call(value).slice(8, -1)}`,
        );
    } else if (typeof value === "function" || typeof value === "symbol")
      // It throws: the caller gets the very error that posting it would give.
      structuredClone(value);
    else if (typeof value === "bigint" || !Number.isFinite(Number(value)))
      throw refused(`a ${typeof value} that JSON has no word for`);
    else size += String(value).length;
    if (size > limit) throw tooLarge(limit);
  }
  // One character is at most six bytes of text. Only what may be too large is written out to be sure.
  if (
    size * 6 > limit &&
    new TextEncoder().encode(JSON.stringify(root)).length > limit
  )
    throw tooLarge(limit);
  return size;
}

/** True for an object that JSON could have made. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const bad = (what: string) =>
  new FrameError("BAD_MESSAGE", `MCP_MESSAGE holds ${what}`);
const refused = (what: string) =>
  new FrameError("NOT_JSON", `MCP_MESSAGE holds ${what}; only JSON may travel`);
const tooLarge = (limit: number) =>
  new FrameError("TOO_LARGE", `MCP_MESSAGE is larger than ${limit} bytes`);

const MEMBERS = ["jsonrpc", "id", "method", "params", "result", "error"];

/** As deep as the host's own reader goes. */
const DEPTH = 128;
