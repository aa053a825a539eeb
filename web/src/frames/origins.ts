/** Addresses and origins that a person or a program gave us, read once. */
import { FrameError } from "./error.js";

/**
 * Reads the address of a page server: https, or http on this machine, without credentials.
 *
 * The fragment is taken off, because the setup uses it; `fragment` says so, for a notice to whoever typed it.
 */
export function readServerUrl(text: string): {
  url: string;
  origin: string;
  fragment: string;
} {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new FrameError(
      "BAD_URL",
      "not a whole address, like https://server.example/",
    );
  }
  const local =
    /^(localhost|(.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(
      url.hostname,
    );
  if (url.protocol !== "https:" && !(url.protocol === "http:" && local))
    throw new FrameError(
      "BAD_URL",
      `${url.protocol} is not https:, nor http: on this machine`,
    );
  if (url.username || url.password)
    throw new FrameError(
      "BAD_URL",
      "an address with a name or a password in it",
    );
  const fragment = url.hash;
  url.hash = "";
  return { url: url.href, origin: url.origin, fragment };
}

/**
 * Reads an allow-list into a test of one origin. The list is copied: who changes theirs later changes nothing here.
 *
 * The string `null` is every opaque page's origin, and so no page's own; it never passes, nor does an empty one.
 */
export function readAllowList(
  list: readonly string[],
  anyone: boolean,
): (origin: string) => boolean {
  if (list.includes("*")) {
    if (!anyone)
      throw new FrameError(
        "BAD_ORIGIN",
        'allowedOrigins holds "*"; whoever means it says dangerouslyAllowAnyOrigin too',
      );
    return (origin) => origin !== "null" && origin !== "";
  }
  const allowed = new Set(list.map(originOf));
  if (!allowed.size)
    throw new FrameError(
      "BAD_ORIGIN",
      "allowedOrigins is empty, so no page could connect",
    );
  return (origin) => allowed.has(origin);
}

function originOf(entry: string): string {
  let origin = "null";
  try {
    ({ origin } = new URL(entry));
  } catch {
    // Said below, with the entry.
  }
  if (origin === "null")
    throw new FrameError(
      "BAD_ORIGIN",
      `allowedOrigins holds ${JSON.stringify(entry)}, which is no origin`,
    );
  return origin;
}
