// An MCP server that is a page: a diagram that a model draws and a person edits, both at the same time.
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, automatic, element, failure, open } from "../shared/page.js";

// Loaded beside the handshake; whoever draws before it is there waits for it.
const renderer = import("./renderer.js");
const code = element("code");
let drawn = 0;

/** Draws, or throws what is wrong with the code. */
async function draw(text) {
  const mine = ++drawn;
  const { render } = await renderer;
  const picture = await render(text);
  // Somebody drew something newer meanwhile.
  if (mine === drawn) element("picture").replaceChildren(picture);
}

async function show(text) {
  element("trouble").textContent = "";
  try {
    await draw(text);
  } catch (error) {
    element("trouble").textContent = error.message;
    throw error;
  }
}

async function serve(inner) {
  const server = new McpServer({ name: "mermaid", version: "1.0.0" }, { capabilities: { resources: { subscribe: true } } });
  server.registerTool(
    "draw",
    {
      title: "Draw a diagram",
      description: "Shows a Mermaid diagram to the person, who may change it.",
      inputSchema: z.object({ code: z.string().max(50_000).describe("Mermaid, as in: graph TD; A-->B") }),
    },
    async ({ code: text }) => {
      if (!text.trim()) return failure("there is nothing to draw: code is empty");
      try {
        await show(text);
      } catch (error) {
        return failure(error.message);
      }
      code.value = text;
      return answer("the person sees the diagram");
    },
  );
  server.registerTool(
    "get_diagram",
    {
      title: "Read the diagram",
      description: "The Mermaid code as it stands, with what the person changed.",
      annotations: { readOnlyHint: true },
    },
    async () => answer(code.value, { code: code.value }),
  );
  server.registerResource("diagram", DIAGRAM, { title: "The diagram", mimeType: "text/vnd.mermaid" }, async () => ({
    contents: [{ uri: DIAGRAM, mimeType: "text/vnd.mermaid", text: code.value }],
  }));
  // One page, one reader: every change is told.
  server.server.setRequestHandler("resources/subscribe", async () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", async () => ({}));
  code.addEventListener("change", () => void server.server.sendResourceUpdated({ uri: DIAGRAM }));
  await server.connect(inner);
}

// What is wrong while somebody types is said below the field, and the last good picture stays.
code.addEventListener("input", () => void show(code.value).catch(() => {}));

const DIAGRAM = "diagram://current";

await open({
  setup: automatic({ title: "Mermaid editor", visibility: { requirement: "required" } }),
  connect: serve,
});
