/** A tool's result as a real `Response`. */
import { isObject, type CallToolResult, type Json } from "../wire.js";
import { failure, type FetchCode } from "./failure.js";

/** Reads a result; throws what `fetch` rejects with where it is no response. */
export function toResponse(
  result: CallToolResult,
  request: { url: string; method: string },
  tool: string,
  open: (streamId: string) => ReadableStream,
): Response {
  const data = structured(result);
  if (result.isError) {
    const { code, message, reached } = Object(data?.error) as Json;
    if (typeof code === "string")
      throw failure(code as FetchCode, `${message}`, tool, reached === true);
    throw failure("protocol", firstText(result), tool);
  }
  const { status, statusText, headers, redirected } = Object(data) as Json;
  const url = new URL(`${Object(data).url ?? request.url}`, request.url).href;
  if (status === 0 && data?.type === "opaqueredirect")
    return told(Response.error(), request.url, false, "opaqueredirect");
  try {
    const response = new Response(
      // These have none, whatever came (RES-2, RES-3).
      request.method === "HEAD" || [204, 205, 304].includes(status as number)
        ? null
        : typeof data?.streamId === "string"
          ? open(data.streamId)
          : toBytes(data as Json),
      {
        // Left out, it would be 200.
        status: (status ?? 0) as number,
        // RES-4: what a status line cannot hold would throw.
        statusText: /^[\t\x20-\x7e\x80-\xff]*$/.test(`${statusText ?? ""}`)
          ? `${statusText ?? ""}`
          : "",
        headers: toHeaders(headers),
      },
    );
    return told(response, url, redirected === true, "basic");
  } catch (thrown) {
    throw failure("protocol", `${thrown}`, tool);
  }
}

/** The data of a result, or the JSON in its text, from servers that know no other way (RES-14). */
function structured(result: CallToolResult): Json | undefined {
  if (isObject(result.structuredContent)) return result.structuredContent;
  try {
    return JSON.parse(firstText(result)) as Json;
  } catch {
    return undefined;
  }
}

function firstText({ content }: CallToolResult): string {
  const [first] = content ?? [];
  return first?.type === "text" ? first.text : "";
}

/** One odd header does not cost the others (RES-5). */
function toHeaders(given: unknown): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(Object(given)))
    try {
      headers.append(name, value as string);
    } catch {
      // It is none.
    }
  return headers;
}

/** As bytes, and never as a string: to one of those `Response` adds a content type. */
function toBytes({ body, bodyType }: Json): Uint8Array<ArrayBuffer> | null {
  if (bodyType === "none" || body == null) return new Uint8Array();
  if (bodyType === "base64") return fromBase64(body as string);
  if (bodyType === "json" || typeof body !== "string")
    body = JSON.stringify(body);
  return new TextEncoder().encode(body as string);
}

type FromBase64 = {
  fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
};

/** The bytes of base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return (
    (Uint8Array as FromBase64).fromBase64?.(text) ??
    Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  );
}

/** Where a response came from, which no constructor takes; so a clone is told it too (RES-7). */
export function told(
  response: Response,
  url: string,
  redirected: boolean,
  type: string,
): Response {
  const clone = () =>
    told(Response.prototype.clone.call(response), url, redirected, type);
  const members = { url, redirected, type, clone };
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(response, name, { value, configurable: true });
  return response;
}
