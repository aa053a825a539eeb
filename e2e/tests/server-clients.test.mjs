// Our servers as the official clients see them: both SDKs, every revision they speak, over pipes and over HTTP.
import assert from "node:assert/strict";
import { after, test } from "../rig/test.mjs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { EXAMPLES, example, startExample } from "../rig/examples.mjs";

const MIME = "text/html;profile=mcp-app";
const INFO = { name: "e2e", version: "1" };
const capabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [MIME] } } };

const modern = (mode) => ({
  client: () => new Client(INFO, { capabilities, versionNegotiation: { mode } }),
  stdio: (target) => new StdioClientTransport(target),
  http: (url) => new StreamableHTTPClientTransport(new URL(url)),
});
const CLIENTS = {
  "client 2.4, 2026-07-28": modern({ pin: "2026-07-28" }),
  "client 2.4, whatever fits": modern("auto"),
  "client 2.4, 2025-11-25": modern("legacy"),
  "sdk 1.32": {
    client: () => new Client1(INFO, { capabilities }),
    stdio: (target) => new Stdio1(target),
    http: (url) => new Http1(new URL(url)),
  },
};

// What each example is asked, and what must come back: words for the model, data for the view.
const RECIPE = { title: "Toast", ingredients: [{ amount: "1", name: "bread" }], steps: ["Toast bread for 4 minutes."] };
const ASKED = {
  weather: { view: "ui://weather/card", name: "get_forecast", arguments: { place: "Lisbon", days: 2 }, text: /^Lisbon: /, data: ({ days }) => days.length === 2 },
  dashboard: { view: "ui://dashboard/service", name: "show_dashboard", text: /Checkout is open/, data: ({ measures }) => measures.length === 3, own: "poll" },
  booking: { view: "ui://booking/form", name: "book_table", arguments: { name: "Ada" }, text: /form is open for Ada/, data: ({ evenings }) => evenings.length === 3, own: "book" },
  gallery: { view: "ui://gallery/wall", name: "show_gallery", text: /^4 pictures/, data: ({ pictures }) => pictures.length === 4 },
  recipe: { view: "ui://recipe/sheet", name: "write_recipe", arguments: RECIPE, text: /^Toast: about 4 minutes\.$/, data: ({ minutes, missing }) => minutes === 4 && missing.length === 0 },
  canvas: { view: "ui://canvas/squares", name: "new_canvas", arguments: { width: 99 }, text: /24 by 6/, data: ({ width }) => width === 24 },
  document: { view: "ui://document/reader", name: "open_logbook", text: /logbook is open/, data: ({ bytes }) => bytes > 1e6, own: "read_chunk" },
};

// Both SDKs check schemas with a validator that complains about every format it does not know.
const warned = [];
for (const way of ["warn", "error"]) console[way] = (...words) => warned.push(words.join(" "));

const running = await Promise.all(EXAMPLES.map(async (name) => [name, await startExample(name)]));
after(() => Promise.all(running.map(([, server]) => server.stop())));
const urls = Object.fromEntries(running.map(([name, { url }]) => [name, url]));

for (const [who, make] of Object.entries(CLIENTS))
  for (const way of ["stdio", "http"])
    test(`${who} over ${way}: lists, reads and calls every example`, async () => {
      for (const name of EXAMPLES) {
        const client = make.client();
        await client.connect(way === "stdio" ? make.stdio({ ...example(name), stderr: "ignore" }) : make.http(urls[name]));
        try {
          await examine(client, ASKED[name]);
        } finally {
          await client.close();
        }
      }
    });

async function examine(client, { view, name, arguments: given = {}, text, data, own }) {
  const offered = client.getServerCapabilities().extensions["io.modelcontextprotocol/ui"];
  assert.deepEqual(offered, { mimeTypes: [MIME] });

  const { tools } = await client.listTools();
  const expected = [name, own].filter(Boolean).sort();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), expected);
  for (const tool of tools) {
    assert.equal(tool._meta.ui.resourceUri, view);
    assert.equal(tool._meta["ui/resourceUri"], view);
    assert.deepEqual(tool._meta.ui.visibility, tool.name === own ? ["app"] : undefined);
  }

  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri, mimeType }) => [uri, mimeType]), [[view, MIME]]);
  const { contents } = await client.readResource({ uri: view });
  assert.equal(contents.length, 1);
  assert.equal(contents[0].mimeType, MIME);
  assert.match(contents[0].text, /^<!doctype html>/);
  assert.deepEqual(contents[0]._meta, resources[0]._meta, "the same in the list and in the document");

  // Both SDKs check the data against the tool's outputSchema and throw when it does not fit.
  const result = await client.callTool({ name, arguments: given });
  assert.ok(!result.isError, JSON.stringify(result));
  assert.match(result.content[0].text, text);
  assert.ok(data(result.structuredContent), JSON.stringify(result.structuredContent).slice(0, 300));

  await assert.rejects(client.readResource({ uri: "ui://nobody" }), /no view at/);
}

// An operator knows better than a client what it shows: `TRANSOM_UI` overrules it.
for (const [said, offers, expected] of [
  [undefined, true, ["poll", "show_dashboard"]],
  [undefined, false, ["show_dashboard"]],
  ["off", true, ["show_dashboard"]],
  ["on", false, ["poll", "show_dashboard"]],
  ["maybe", false, ["show_dashboard"]],
])
  test(`TRANSOM_UI=${said ?? ""}, and a client that ${offers ? "shows" : "does not show"} views`, async () => {
    for (const mode of [{ pin: "2026-07-28" }, "legacy"]) {
      const client = new Client(INFO, { capabilities: offers ? capabilities : {}, versionNegotiation: { mode } });
      const env = said === undefined ? {} : { TRANSOM_UI: said };
      await client.connect(new StdioClientTransport({ ...example("dashboard"), env, stderr: "ignore" }));
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name).sort(), expected);
      const poll = client.callTool({ name: "poll", arguments: { after: 0 } });
      if (expected.includes("poll")) assert.ok((await poll).structuredContent);
      else await assert.rejects(poll, /is for views/);
      await client.close();
    }
  });

test("no client has anything to say about our schemas", () => assert.deepEqual(warned, []));
