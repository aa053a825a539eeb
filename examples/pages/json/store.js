// One file for each session: who connects under another name, or from another page, has another one.

/** What cannot be kept or found, in words for a person. */
export class StoreError extends Error {}

export function save(session, { name, text }) {
  const record = JSON.stringify({ version: VERSION, name, text, until: Date.now() + KEPT });
  const storage = place();
  try {
    storage.setItem(session.storageKey("file"), record);
  } catch {
    const size = (text.length / 2 ** 20).toFixed(1);
    throw new StoreError(
      `${name} has ${size} MB, and this browser keeps about 5 MB for a page; choose a smaller file (a page for larger ones would use IndexedDB)`,
    );
  }
}

export function load(session) {
  const text = place().getItem(session.storageKey("file"));
  if (text === null) throw new StoreError("there is no file for this connection; run the setup");
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    // Said below: what cannot be read is what has the wrong shape.
  }
  const { version, name, text: file, until } = record ?? {};
  if (version !== VERSION || typeof name !== "string" || !isJson(file))
    throw new StoreError("what was kept for this connection cannot be read; run the setup again");
  if (!(until > Date.now())) throw new StoreError("the file was kept for thirty days; run the setup again");
  return { name, text: file };
}

/** No message tells a page to forget a session, so the setup has a button for all of them. */
export function clearAll() {
  const storage = place();
  for (const key of Object.keys(storage)) if (key.startsWith("mcp ")) storage.removeItem(key);
}

/** The storage of a page in another site's frame may be missing; then nothing of this works. */
function place() {
  try {
    return window.localStorage;
  } catch {
    throw new StoreError("this browser keeps nothing for pages in frames of other sites; open the server as a popup");
  }
}

function isJson(text) {
  try {
    JSON.parse(text);
    return typeof text === "string";
  } catch {
    return false;
  }
}

const VERSION = 1;
const KEPT = 30 * 24 * 3_600_000;
