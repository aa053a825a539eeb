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

const PORCH = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  "../../web/src/porch.ts",
);
let porches = 0;

/** Puts a porch on the origin of a guest, and returns its address. */
async function putPorch(site, guest, above, policy) {
  const { origin } = new URL(guest);
  const usual = `default-src 'none'; script-src 'unsafe-inline'; frame-src ${origin}`;
  const script = `<script data-guest="${guest}">${inline(await bundle(PORCH))}</script>`;
  return site.put(origin, `/porch-${++porches}`, page({ body: script }), {
    "content-security-policy": `${policy ?? usual}; frame-ancestors ${above}`,
  });
}

/**
 * Puts a sandbox page on an origin of its own. With `guest` it shows that address, behind a porch unless told otherwise; without,
 * it waits for HTML.
 */
export async function putSandbox(site, options = {}) {
  const {
    origin = site.fresh(),
    host = site.host,
    guest,
    policy,
    path = "/sandbox",
    script: file = SCRIPT,
    porched = guest !== undefined,
    above = `${origin} ${host}`,
    ...settings
  } = options;
  const script = await bundle(file);
  const shown = porched
    ? { porch: await putPorch(site, guest, above, policy) }
    : { guest };
  const data = Object.entries({ host, ...shown, ...settings })
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
