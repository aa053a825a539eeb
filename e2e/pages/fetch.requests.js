// Makes requests from descriptions, and writes down all that can be seen of their responses: the same in a tab and in a view.

globalThis.observe = async function observe(description) {
  const { url, init = {}, body, abort, integrity } = description;
  const given = { ...init };
  if (body) given.body = make(body);
  if (integrity) given.integrity = integrity;
  if (abort) given.signal = signalOf(abort);
  try {
    const response = await fetch(url, given);
    const copy = response.clone();
    const bytes = new Uint8Array(await response.arrayBuffer());
    return {
      status: response.status,
      statusText: response.statusText,
      ok: response.ok,
      type: response.type,
      redirected: response.redirected,
      path: response.url && new URL(response.url).href.slice(new URL(response.url).origin.length),
      real: response instanceof Response && copy.url === response.url && copy.type === response.type,
      headers: [...response.headers].filter(([name]) => !BETWEEN.includes(name)),
      // Chromium has an empty stream for these, where the standard has none.
      ...(![204, 205, 304].includes(response.status) && init.method !== "HEAD" && { empty: response.body === null, used: response.bodyUsed }),
      told: told(bytes),
      text: told(bytes) || bytes.length > 5_000 ? undefined : await copy.text(),
      digest: await digest(bytes),
    };
  } catch (error) {
    return { error: error?.name ?? error, words: typeof error === "string" ? error : undefined };
  }
};

/** What only the wire between a browser and a server has. */
const BETWEEN = ["content-length", "date", "connection", "keep-alive", "transfer-encoding"];

export function make({ kind, text, pairs, type }) {
  const bytes = new TextEncoder().encode(text);
  if (kind === "query") return new URLSearchParams(pairs);
  if (kind === "blob") return new Blob([bytes], { type });
  if (kind === "buffer") return bytes.buffer;
  if (kind === "view") return new Uint8Array([0, ...bytes, 255]).subarray(1, bytes.length + 1);
  if (kind === "form") {
    const form = new FormData();
    for (const [name, value, file] of pairs) {
      if (file === undefined) form.append(name, value);
      else form.append(name, new File([value], file, { type }));
    }
    return form;
  }
  return text;
}

function signalOf({ when, reason }) {
  if (when === "timeout") return AbortSignal.timeout(50);
  const controller = new AbortController();
  if (when === "before") controller.abort(reason);
  else setTimeout(() => controller.abort(reason), 50);
  return controller.signal;
}

/** What the backend saw, where it says so. The boundary of a form is its maker's. */
function told(bytes) {
  try {
    const { method, uri, headers, body } = JSON.parse(new TextDecoder().decode(bytes));
    if (!uri) return undefined;
    const raw = atob(body);
    const boundary = /^--(-{4}\w+)/.exec(raw)?.[1];
    const plain = (value) => (boundary ? value.replaceAll(boundary, "B") : value);
    const pairs = headers.map(([name, value]) => [name, plain(value)]).sort();
    return { method, uri, headers: pairs, body: boundary ? plain(raw) : body };
  } catch {
    return undefined;
  }
}

async function digest(bytes) {
  // A boundary is part of what was repeated, and not of what came back.
  if (told(bytes)) return undefined;
  return [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].join(" ");
}
