// Reads inside one folder. A path is taken apart here; the browser itself knows no way out of a folder's handle.

/** What cannot be read, in words. */
export class FolderError extends Error {}

const MOST_ENTRIES = 1_000;
const MOST_BYTES = 1_048_576;

export async function list(folder, path) {
  const entries = [];
  for await (const { name, kind } of (await enter(folder, parts(path))).values()) {
    if (entries.length === MOST_ENTRIES) break;
    entries.push({ name, kind });
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function read(folder, path) {
  const names = parts(path);
  const name = names.pop();
  if (!name) throw new FolderError("path names no file");
  const inside = await enter(folder, names);
  const file = await found(inside.getFileHandle(name), path).then((handle) => handle.getFile());
  if (file.size > MOST_BYTES) throw new FolderError(`${path} has ${file.size} bytes, and at most ${MOST_BYTES} are read`);
  return file.text();
}

function parts(path) {
  const names = path.split("/").filter(Boolean);
  if (names.some((name) => name === "." || name === "..")) throw new FolderError("a path goes down only");
  return names;
}

async function enter(folder, names) {
  let inside = folder;
  for (const name of names) inside = await found(inside.getDirectoryHandle(name), names.join("/"));
  return inside;
}

/** Whatever the browser throws at a name that is not there, or is something else. */
async function found(handle, path) {
  try {
    return await handle;
  } catch {
    throw new FolderError(`there is no ${path} in this folder`);
  }
}
