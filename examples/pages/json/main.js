// An MCP server that is a page: a person gives it a file once, and it searches it from then on, unseen.
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, element, failure, open } from "../shared/page.js";
import { evaluate, PathError } from "./path.js";
import { clearAll, load, save, StoreError } from "./store.js";
import example from "./example.json";

/** With ?example in its address nobody is asked: for demonstrations, and for clients without a window. */
const unseen = new URLSearchParams(location.search).has("example");

async function setup(session) {
  if (unseen) return keep(session, "example.json", JSON.stringify(example));
  element("form").hidden = false;
  return new Promise((done) => {
    const attempt = (outcome) => {
      if (outcome.status === "success" || outcome.code !== "CONFIG_ERROR") done(outcome);
      // What can be mended is said here, and the setup goes on.
      else element("trouble").textContent = outcome.message;
    };
    element("file").onchange = async ({ target }) => {
      const [file] = target.files;
      if (file) attempt(keep(session, file.name, await file.text()));
    };
    element("example").onclick = () => attempt(keep(session, "example.json", JSON.stringify(example)));
    element("clear").onclick = () => {
      clearAll();
      element("trouble").textContent = "cleared";
    };
    element("cancel").onclick = () =>
      done({ status: "error", code: "USER_CANCELLED", message: "the person chose no file" });
  });
}

/** Keeps a file for one session; the outcome of the setup. */
function keep(session, name, text) {
  try {
    JSON.parse(text);
  } catch (error) {
    return trouble(`${name} is not JSON: ${error.message}`);
  }
  try {
    save(session, { name, text });
  } catch (error) {
    if (error instanceof StoreError) return trouble(error.message);
    throw error;
  }
  return {
    status: "success",
    title: `JSON analyzer: ${name}`,
    visibility: { requirement: "hidden" },
    ephemeralMessage: `${name} can be searched now.`,
  };
}

const trouble = (message) => ({ status: "error", code: "CONFIG_ERROR", message });

async function serve(inner) {
  const server = new McpServer({ name: "json", version: "1.0.0" });
  const tool = {
    title: "Search the file",
    description: "Finds values of the person's JSON file by a JSONPath, such as $.store.book[?@.price < 10].title",
    inputSchema: z.object({ path: z.string().max(1_000).describe("a JSONPath, beginning with $") }),
    annotations: { readOnlyHint: true },
  };
  server.registerTool("evaluate_jsonpath", tool, async ({ path }) => {
    try {
      const { name, value } = read(inner.session);
      const found = evaluate(path, value);
      if (!found.length) return answer(`nothing in ${name} matches ${path}`, { matches: [], count: 0 });
      return answer(JSON.stringify(found, null, 2), { matches: found, count: found.length });
    } catch (error) {
      if (error instanceof PathError) return failure(`bad path: ${error.message}`);
      if (error instanceof StoreError) return failure(error.message);
      throw error;
    }
  });
  await server.connect(inner);
  try {
    read(inner.session);
  } catch (error) {
    const required = { reason: "CONFIG_CHANGED", message: error.message, canContinue: false };
    await inner.requireSetup(required);
  }
}

function read(session) {
  const { name, text } = load(session);
  return { name, value: JSON.parse(text) };
}

await open({ requiresVisibleSetup: !unseen, setup, connect: serve });
