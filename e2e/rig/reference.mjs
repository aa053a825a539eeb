// Some examples once more, as ext-apps' own helpers declare them: what our bytes on the wire are compared with.
//   node reference.mjs weather
//   node reference.mjs gallery http://127.0.0.1:8000
import { readFileSync } from "node:fs";
import { registerAppResource, registerAppTool, RESOURCE_MIME_TYPE } from "@modelcontextprotocol/ext-apps/server";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [which, origin] = process.argv.slice(2);

// Tools in the order of their names, as rmcp lists them.
const DECLARED = {
  weather: {
    view: { name: "card", uri: "ui://weather/card", title: "Weather card", ui: { prefersBorder: true } },
    tools: [
      {
        name: "get_forecast",
        title: "Forecast",
        description: "The weather of the next days, which this example makes up.",
        inputSchema: z.object({
          place: z.string().describe('A town, such as "Lisbon"'),
          days: z.int().describe("How many days, 1 to 7").optional(),
        }),
        outputSchema: z.object({ place: z.string(), seen: z.string(), days: z.array(z.any()) }),
        shows: { place: "Lisbon", seen: "noon", days: [] },
      },
    ],
  },
  dashboard: {
    view: { name: "service", uri: "ui://dashboard/service", title: "Service dashboard" },
    tools: [
      {
        name: "poll",
        description: "What was measured since the last poll.",
        inputSchema: z.object({ after: z.int().describe("`next` of the last answer") }),
        outputSchema: z.object({ measures: z.array(z.any()), next: z.int() }),
        visibility: ["app"],
        shows: { measures: [], next: 1 },
      },
      {
        name: "show_dashboard",
        title: "Service dashboard",
        description: "Show how the service is doing.",
        inputSchema: z.object({}),
        outputSchema: z.object({ service: z.string(), measures: z.array(z.any()), next: z.int() }),
        shows: { service: "Checkout", measures: [], next: 1 },
      },
    ],
  },
  gallery: {
    view: { name: "wall", uri: "ui://gallery/wall", title: "Gallery", ui: { csp: { connectDomains: [origin], resourceDomains: [origin] } } },
    tools: [
      {
        name: "show_gallery",
        title: "Gallery",
        description: "Show the gallery.",
        inputSchema: z.object({}),
        outputSchema: z.object({ origin: z.string(), pictures: z.array(z.any()) }),
        shows: { origin: "", pictures: [] },
      },
    ],
  },
};

function make() {
  const { view, tools } = DECLARED[which];
  const server = new McpServer({ name: which, version: "1.0.0" });
  for (const { name, visibility, shows, ...config } of tools) {
    const ui = { resourceUri: view.uri, ...(visibility && { visibility }) };
    registerAppTool(server, name, { ...config, annotations: { readOnlyHint: true }, _meta: { ui } }, () => ({
      content: [{ type: "text", text: "shown" }],
      structuredContent: shows,
    }));
  }
  // Hosts read it from the list or from the document, so whoever uses these helpers writes it into both.
  const meta = view.ui && { _meta: { ui: view.ui } };
  const text = readFileSync(new URL(`../../examples/views/${which}.html`, import.meta.url), "utf8");
  registerAppResource(server, view.name, view.uri, { title: view.title, ...meta }, () => ({
    contents: [{ uri: view.uri, mimeType: RESOURCE_MIME_TYPE, text, ...meta }],
  }));
  return server;
}

await serveStdio(make);
