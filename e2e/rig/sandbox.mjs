// Serves Transom's sandbox page as the host process does: script inlined, settings as data attributes, policy in headers.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, inline, page } from "./bundle.mjs";

const SCRIPT = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  "../../web/src/sandbox.ts",
);

/** What a guest document may do when it declared nothing (docs/reference/mcp-apps.md §3.7, form A), as a header. */
export const DEFAULT_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "media-src 'self' data:; object-src 'none'; connect-src 'none'; frame-src 'none'; base-uri 'self'; form-action 'none'";

/** Puts a sandbox page on an origin of its own. With `guest` it shows that address; without, it waits for HTML. */
export async function putSandbox(site, options = {}) {
  const {
    origin = site.fresh(),
    host = site.host,
    guest,
    policy,
    path = "/sandbox",
    script: file = SCRIPT,
    ...settings
  } = options;
  const script = await bundle(file);
  const data = Object.entries({ host, guest, ...settings })
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        ` data-${name}="${String(value).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"`,
    )
    .join("");
  const frames = guest ? new URL(guest).origin : "'none'";
  const guestPolicy = `default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-src ${frames}`;
  const rawPolicy = DEFAULT_POLICY.replace(
    "connect-src 'none'",
    "connect-src 'self'",
  );
  const header = `${policy ?? (guest ? guestPolicy : rawPolicy)}; frame-ancestors ${host}`;
  return site.put(
    origin,
    path,
    page({ body: `<script${data}>${inline(script)}</script>` }),
    {
      "content-security-policy": header,
    },
  );
}
