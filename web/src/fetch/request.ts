/** A request as the tool's arguments have it, with every byte of its body. */
import type { Json } from "../wire.js";

/**
 * Writes a request. `given` is the body as it was handed over, since a `Request` no longer tells what it was
 * made of (BOD-1); `entries` is a form's content at the time of the call.
 */
export async function toArguments(
  request: Request,
  given: unknown,
  entries: [string, FormDataEntryValue][] | undefined,
): Promise<Json> {
  const { href, origin } = new URL(request.url);
  const { method, headers, redirect, cache, credentials } = request;
  return {
    method,
    // Not of its parts: an empty query is one.
    url: href.slice(origin.length).split("#")[0],
    headers: Object.fromEntries(headers),
    ...(redirect !== "follow" && { redirect }),
    ...(cache !== "default" && { cache }),
    ...(credentials === "omit" && { credentials }),
    // Under another type than its own, a form is bytes like others.
    ...(entries &&
    headers.get("content-type")?.startsWith("multipart/form-data")
      ? { bodyType: "formData", body: await Promise.all(entries.map(toEntry)) }
      : await toBody(request, given)),
  };
}

async function toBody(request: Request, given: unknown): Promise<Json> {
  if (!request.body) return {};
  const bytes = new Uint8Array(await request.arrayBuffer());
  const text = typeof given === "string";
  if (text || given instanceof URLSearchParams)
    return {
      bodyType: text ? "text" : "urlEncoded",
      // The bytes that are sent, not the string: half a surrogate pair is replaced in them.
      body: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
    };
  return { bodyType: "base64", body: toBase64(bytes) };
}

async function toEntry([name, value]: [
  string,
  FormDataEntryValue,
]): Promise<Json> {
  if (typeof value === "string") return { name, value };
  return {
    name,
    filename: value.name,
    contentType: value.type,
    data: toBase64(new Uint8Array(await value.arrayBuffer())),
  };
}

type Base64 = { toBase64?: () => string };

/** Bytes as base64. Engines that have it do it at once; others take pieces that fit an argument list. */
export function toBase64(bytes: Uint8Array): string {
  const native = (bytes as Base64).toBase64?.();
  if (native !== undefined) return native;
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
