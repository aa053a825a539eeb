// @vitest-environment node
/** What a view may import from ext-apps, it may import from us: the two lists of exports, and what is left out with its reason. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { API, SymbolFlags } from "typescript/unstable/sync";
import { expect, test } from "vitest";
import type { App as Peer } from "@modelcontextprotocol/ext-apps";
import type { App } from "transom";
import { LEFT_OUT } from "./moved/left-out.js";

/** Public members of ext-apps' `App` that ours has not, each with its reason: no more compile here, and no fewer. */
const MEMBERS_LEFT_OUT = {
  transport:
    "the channel is the App's own: whoever spoke on it past the App would not be answered",
  fallbackRequestHandler:
    "a request without a handler is refused by its name, so that the host knows what the view lacks",
  fallbackNotificationHandler:
    "a listener names the notification that it wants to hear",
  assertCanSetRequestHandler:
    "a handler that is set again takes the place of the one before",
} satisfies Record<Exclude<keyof Peer, keyof App>, string>;

const PEER = "node_modules/@modelcontextprotocol/ext-apps";
const { exports, version } = JSON.parse(
  readFileSync(`${PEER}/package.json`, "utf8"),
) as { version: string; exports: Record<string, { types: string }> };

/** Entries that a view imports, and ours for each: `…-with-deps` are the same types with everything bundled. */
const ENTRIES: Record<string, string> = {
  ".": "src/index.ts",
  "./app-with-deps": "src/index.ts",
  "./react": "src/react.ts",
  "./react-with-deps": "src/react.ts",
};
/** Entries for others: a page that shows views, a server, and no module at all. */
const OTHERS = ["./app-bridge", "./server", "./schema.json"];

/** What the compiler finds: the exports of each file. */
function declared(files: string[]) {
  const scratch = mkdtempSync(join(tmpdir(), "transom-exports-"));
  const config = join(scratch, "tsconfig.json");
  const paths = files.map((file) => resolve(file));
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    lib: ["es2022", "dom"],
    jsx: "react-jsx",
    skipLibCheck: true,
    types: [],
  };
  writeFileSync(config, JSON.stringify({ compilerOptions, files: paths }));
  const api = new API({ cwd: process.cwd() });
  try {
    const { checker, program } = api
      .updateSnapshot({ openProject: config })
      .getProject(config)!;
    return paths.map((path) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(path)!)!;
      const found = new Map<string, Set<string>>();
      for (const exported of checker.getExportsOfModule(module)) {
        const symbol =
          exported.flags & SymbolFlags.Alias
            ? checker.getAliasedSymbol(exported)
            : exported;
        const kinds = new Set<string>();
        if (symbol.flags & SymbolFlags.Value) kinds.add("value");
        if (symbol.flags & SymbolFlags.Type) kinds.add("type");
        found.set(exported.name, kinds);
      }
      return { found };
    });
  } finally {
    api.close();
    rmSync(scratch, { recursive: true });
  }
}

const peers = Object.keys(ENTRIES).map((entry) =>
  join(PEER, exports[entry]!.types),
);
const all = declared([...peers, ...Object.values(ENTRIES)]);
const pairs = Object.keys(ENTRIES).map((entry, i) => ({
  entry,
  theirs: all[i]!,
  ours: all[i + peers.length]!,
}));

test("the entries are those of 2.0.4", () => {
  expect(version).toBe("2.0.4");
  expect([...Object.keys(ENTRIES), ...OTHERS].sort()).toEqual(
    Object.keys(exports).sort(),
  );
});

test.each(pairs)("$entry: what is exported there is exported here", (pair) => {
  const lacking = [...pair.theirs.found].flatMap(([name, kinds]) =>
    [...kinds]
      .filter((kind) => !pair.ours.found.get(name)?.has(kind))
      .map(() => name),
  );
  expect(lacking.sort()).toEqual(Object.keys(LEFT_OUT).sort());
  expect(pair.theirs.found.size).toBeGreaterThan(100);
});

test("what is declared as a value is one", async () => {
  const theirs = await import("@modelcontextprotocol/ext-apps");
  const ours = await import("transom");
  const lacking = Object.keys(theirs).filter((name) => !(name in ours));
  expect(lacking.sort()).toEqual(Object.keys(LEFT_OUT).sort());
  for (const [name, value] of Object.entries(theirs))
    if (typeof value === "string")
      expect([name, (ours as Record<string, unknown>)[name]]).toEqual([
        name,
        value,
      ]);
});

test("the views that run with both packages use all that both have", () => {
  const used = new Set<string>();
  for (const file of ["view.ts", "types.ts", "react.tsx"]) {
    const text = readFileSync(`test/moved/${file}`, "utf8");
    for (const [, names] of text.matchAll(
      /import (?:type )?\{([^}]*)\} from "@modelcontextprotocol\/ext-apps/g,
    ))
      for (const name of names!.split(","))
        used.add(name.replace("type ", "").trim());
  }
  const both = pairs.flatMap(({ theirs }) => [...theirs.found.keys()]);
  expect([...used].filter(Boolean).sort()).toEqual(
    [...new Set(both)].filter((name) => !(name in LEFT_OUT)).sort(),
  );
});

test("each reason says something", () => {
  for (const [name, why] of Object.entries({
    ...LEFT_OUT,
    ...MEMBERS_LEFT_OUT,
  }))
    expect([name, why.split(" ").length > 5]).toEqual([name, true]);
});
