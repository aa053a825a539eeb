// What our servers say, byte by byte beside what ext-apps' own helpers say for the same declaration. A difference is either in
// the list below, with its reason, or a fault; a reason that explains nothing any more is one too.
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "../rig/test.mjs";
import { example } from "../rig/examples.mjs";
import { differences, openWire } from "../rig/wire.mjs";

const REFERENCE = fileURLToPath(new URL("../rig/reference.mjs", import.meta.url));

const DELIBERATE = [
  [/^hello \/capabilities\/extensions: \{"io\.modelcontextprotocol\/ui"/, "the helpers leave it to the author, who forgets it, and hosts that look for it show nothing"],
  [/^hello \/capabilities\/(tools|resources)\/listChanged: undefined ≠ true$/, "our lists do not change, and nobody need listen"],
  [/^hello \/supportedVersions\//, "rmcp names every revision it speaks, the SDK the modern ones"],
  [/\/_meta: undefined ≠ \{"io\.modelcontextprotocol\/serverInfo"/, "rmcp names the server once, in server/discover, the SDK in every answer"],
  [/^tools\/list \/cacheScope: "public" ≠ "private"$/, "a list that is the same for every client may be shared; one with tools for views alone is private here too"],
  [/\/(input|output)Schema\//, "schemars and zod write integers, optional values, nested types and closed objects in their own ways; names are compared apart"],
  [/^resources\/read \/contents\/0\/text: /, "the script by which a view speaks to its host is already in it; the rest is compared apart"],
];
const used = new Set();
after(() => {
  const unused = DELIBERATE.filter((row) => !used.has(row)).map(([pattern]) => String(pattern));
  assert.deepEqual(unused, [], "reasons for differences that are none");
});

function compare(what, ours, theirs) {
  assert.equal(typeof ours.result, typeof theirs.result, `${what}: ${JSON.stringify(ours.error ?? theirs.error)}`);
  const unexplained = differences(ours.result, theirs.result).filter((difference) => {
    const row = DELIBERATE.find(([pattern]) => pattern.test(`${what} ${difference}`));
    if (row) used.add(row);
    return !row;
  });
  assert.deepEqual(unexplained, [], what);
}

const CALLS = {
  weather: { name: "get_forecast", arguments: { place: "Lisbon" } },
  dashboard: { name: "poll", arguments: { after: 0 } },
  gallery: { name: "show_gallery", arguments: {} },
};
for (const which of Object.keys(CALLS))
  for (const version of ["2025-11-25", "2026-07-28"])
    test(`${which} in ${version}: what is listed, read and called is what ext-apps' helpers make of it`, async (t) => {
      const ours = await openWire(example(which), { version });
      t.after(ours.close);
      const listed = await ours.ask("resources/list");
      const [{ uri, _meta }] = listed.result.resources;
      // Its port is a new one each time.
      const origin = _meta?.ui?.csp?.connectDomains[0] ?? "";
      const theirs = await openWire({ command: process.execPath, args: [REFERENCE, which, origin] }, { version });
      t.after(theirs.close);
      compare("hello", ours.hello, theirs.hello);
      compare("resources/list", listed, await theirs.ask("resources/list"));
      compare("resources/templates/list", await ours.ask("resources/templates/list"), await theirs.ask("resources/templates/list"));

      const tools = [await ours.ask("tools/list"), await theirs.ask("tools/list")];
      compare("tools/list", ...tools);
      const names = tools.map(({ result }) => result.tools.map((tool) => [tool.name, members(tool.inputSchema), members(tool.outputSchema)]));
      assert.deepEqual(names[0], names[1]);

      const read = [await ours.ask("resources/read", { uri }), await theirs.ask("resources/read", { uri })];
      compare("resources/read", ...read);
      const [html, bare] = read.map(({ result }) => result.contents[0].text);
      assert.equal(html.replace(/(?<=<head>)<script>[^]*?<\/script>/, ""), bare);

      const called = [await ours.ask("tools/call", CALLS[which]), await theirs.ask("tools/call", CALLS[which])];
      compare("tools/call", ...called.map(({ result: { content, structuredContent, ...rest } }) => ({
        result: { ...rest, content: content.map(({ type }) => type), structuredContent: Object.keys(structuredContent) },
      })));
    });

const members = ({ type, properties = {}, required = [] }) => ({ type, properties: Object.keys(properties).sort(), required: required.toSorted() });

// SEP-2164 moved the code; the older clients that we speak the older revision with still look for the older one.
for (const [version, code] of [["2025-11-25", -32002], ["2026-07-28", -32602]])
  test(`${version}: an address that nobody has is an error with that address`, async (t) => {
    const ours = await openWire(example("weather"), { version });
    t.after(ours.close);
    const { error } = await ours.ask("resources/read", { uri: "ui://nobody" });
    assert.equal(error.code, code);
    assert.deepEqual(error.data, { uri: "ui://nobody" });
    assert.match(error.message, /ui:\/\/weather\/card/, "and it says what there is");
  });

for (const version of ["2025-11-25", "2026-07-28"])
  test(`S-15 in ${version}: a client without views gets words, and no tool that only a view may call`, async (t) => {
    const ours = await openWire(example("dashboard"), { version, ui: false });
    t.after(ours.close);
    const { tools, cacheScope } = (await ours.ask("tools/list")).result;
    assert.deepEqual(tools.map(({ name }) => name), ["show_dashboard"]);
    if (cacheScope !== undefined) assert.equal(cacheScope, "private");
    const refused = await ours.ask("tools/call", { name: "poll", arguments: { after: 0 } });
    assert.ok(refused.error || refused.result.isError, JSON.stringify(refused));
    const text = await openWire(example("weather"), { version, ui: false });
    t.after(text.close);
    const { content } = (await text.ask("tools/call", CALLS.weather)).result;
    assert.match(content[0].text, /^Lisbon[^]*\| Tomorrow \|/, "a table in place of the card");
  });
