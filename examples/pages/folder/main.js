// An MCP server that is a popup: it reads a folder of this machine that a person chose, and nothing else, and writes nowhere.
// A popup, because browsers let no frame of another site ask for a folder.
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, element, failure, open } from "../shared/page.js";
import { FolderError, list, read } from "./files.js";
import { load, save } from "./store.js";

const READ = { mode: "read" };

async function setup(session) {
  const [choose, cancel] = [element("choose"), element("cancel")];
  if (!("showDirectoryPicker" in window))
    return { status: "error", code: "CONFIG_ERROR", message: "this browser cannot let a page read a folder" };
  choose.hidden = cancel.hidden = false;
  return new Promise((done) => {
    cancel.onclick = () => done({ status: "error", code: "USER_CANCELLED", message: "the person chose no folder" });
    choose.onclick = async () => {
      try {
        const folder = await window.showDirectoryPicker(READ);
        await save(session.storageKey("folder"), folder);
        const title = `Folder: ${folder.name || "unnamed"}`;
        done({ status: "success", title, visibility: { requirement: "required" } });
      } catch (error) {
        // Nobody chose; the buttons are still there.
        element("trouble").textContent = error.message;
      }
    };
  });
}

/** The folder of a session, if it may be read now. The browser asks the person again after a while, and only upon a click. */
async function folderOf(session) {
  const folder = await load(session.storageKey("folder"));
  if (!folder) throw new FolderError("no folder was chosen for this connection; run the setup");
  if ((await folder.queryPermission?.(READ)) === "prompt") {
    element("allow").hidden = false;
    throw new FolderError("the person must click “Allow reading it again” in the server's window first");
  }
  return folder;
}

async function serve(inner) {
  const server = new McpServer({ name: "folder", version: "1.0.0" });
  const tool = (name, title, description, path, work) =>
    server.registerTool(
      name,
      { title, description, inputSchema: z.object({ path }), annotations: { readOnlyHint: true } },
      async ({ path }) => {
        try {
          return await work(await folderOf(inner.session), path);
        } catch (error) {
          if (error instanceof FolderError) return failure(error.message);
          throw error;
        }
      },
    );
  const path = z.string().max(1_000);
  const inside = path.default("").describe("a folder inside, as in notes/2026; empty for the whole");
  tool("list_files", "List files", "What is in the folder that the person chose.", inside, async (folder, path) => {
    const entries = await list(folder, path);
    return answer(entries.map(({ name, kind }) => (kind === "directory" ? `${name}/` : name)).join("\n"), { entries });
  });
  tool("read_file", "Read a file", "The text of one file, up to a megabyte.", path, async (folder, path) =>
    answer(await read(folder, path)),
  );
  element("allow").onclick = async ({ target }) => {
    const folder = await load(inner.session.storageKey("folder"));
    if ((await folder?.requestPermission(READ)) === "granted") target.hidden = true;
  };
  await server.connect(inner);
  const folder = await load(inner.session.storageKey("folder"));
  if (folder) return;
  const message = "choose a folder";
  await inner.requireSetup({ reason: "CONFIG_CHANGED", message, canContinue: false });
}

await open({ requiresVisibleSetup: true, setup, connect: serve });
