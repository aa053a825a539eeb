// Whether the packed types tell the truth: what they declare is there at run time, under that name.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Window } from "happy-dom";
import { API, SymbolFlags } from "typescript/unstable/sync";
import { MANGLED } from "./mangled.mjs";

/** Fails unless every export of the package unpacked in `home` is as it is declared. `scratch` has it in its node_modules. */
export async function checkExports(home, scratch) {
  const { exports } = JSON.parse(
    readFileSync(join(home, "package.json"), "utf8"),
  );
  const entries = Object.entries(exports).filter(([, file]) => file.types);
  browser();
  const wrong = [];
  let count = 0;
  for (const { entry, types } of declared(home, scratch, entries)) {
    const at = `transom${entry.slice(1)}`;
    const file = pathToFileURL(join(home, exports[entry].default));
    const there = await import(file.href);
    const values = types.filter(({ isValue }) => isValue).map((t) => t.name);
    for (const name of new Set([...values, ...Object.keys(there)])) {
      if (!(name in there)) wrong.push(`${at}: ${name} is declared only`);
      if (!values.includes(name)) wrong.push(`${at}: ${name} is not declared`);
    }
    for (const type of types) wrong.push(...untruths(at, type, there));
    count += types.length;
  }
  if (wrong.length) throw new Error(wrong.join("\n"));
  return count;
}

/** What is wrong with the members of one exported type. */
function untruths(at, { name, members, isClass }, there) {
  const renamed = members.filter((member) =>
    Object.hasOwn(MANGLED, member.name),
  );
  const wrong = renamed.map(
    (member) => `${at}: ${name}.${member.name} is renamed by the build`,
  );
  if (!isClass || !(name in there)) return wrong;
  const made = INSTANCES[name]?.(there[name]);
  if (!made)
    return [...wrong, `${at}: nothing here makes a ${name} to look at`];
  const lacking = members.filter((m) => !m.optional && !(m.name in made));
  return [
    ...wrong,
    ...lacking.map(
      (member) => `${at}: ${name}.${member.name} is declared only`,
    ),
  ];
}

/** What the compiler finds declared at each entry: names, whether they are values, and the members of our own types. */
function declared(home, scratch, entries) {
  const api = new API({ cwd: scratch });
  const open = (name, files) => {
    const config = join(scratch, `${name}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions: OPTIONS, files }));
    return api.updateSnapshot({ openProject: config }).getProject(config);
  };
  try {
    const files = entries.map(([, { types }]) => join(home, types));
    const { checker, program } = open("exports", files);
    const found = entries.map(([entry], i) => {
      const module = program.getSourceFile(files[i]);
      const symbol = checker.getSymbolAtLocation(module);
      const exported = symbol ? checker.getExportsOfModule(symbol) : [];
      return { entry, types: exported.map((one) => type(checker, one)) };
    });
    const all = found.flatMap(({ entry, types }) =>
      types.map((type) => ({ entry, type })),
    );
    // Only the compiler knows what may be used as a value: `export type *` takes along names that may not.
    const lines = all.map(
      ({ entry, type: { name } }, i) =>
        `import { ${name} as n${i} } from "transom${entry.slice(1)}"; export const v${i} = n${i};`,
    );
    const uses = join(scratch, "uses.ts");
    writeFileSync(uses, lines.join("\n"));
    const starts = lines.map((_, i) => lines.slice(0, i).join("\n").length);
    const mistakes = open("uses", [uses]).program.getSemanticDiagnostics(uses);
    all.forEach(({ type }, i) => {
      type.isValue = !mistakes.some(
        ({ pos }) => pos >= starts[i] && pos < (starts[i + 1] ?? Infinity),
      );
    });
    return found;
  } finally {
    api.close();
  }
}

function type(checker, symbol) {
  const target =
    symbol.flags & SymbolFlags.Alias
      ? checker.getAliasedSymbol(symbol)
      : symbol;
  return {
    name: symbol.name,
    isClass: Boolean(target.flags & SymbolFlags.Class),
    members: members(checker, target),
  };
}

/** The members of a type that the package declares itself, private ones excepted: a browser's are not ours to promise. */
function members(checker, symbol) {
  if (!(symbol.flags & SymbolFlags.Type)) return [];
  return checker
    .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
    .filter(
      ({ name, declarations }) =>
        !name.includes("#") &&
        declarations.some(({ path }) =>
          path.includes("/node_modules/transom/"),
        ),
    )
    .map(({ name, flags }) => ({
      name,
      optional: Boolean(flags & SymbolFlags.Optional),
    }));
}

/** As much of a browser as the modules want when they are loaded. */
function browser() {
  const window = new Window({ url: "https://page.test/" });
  for (const name of Object.getOwnPropertyNames(window))
    if (!(name in globalThis)) globalThis[name] = window[name];
  // What looks after something for as long as its page lives does not keep this process.
  const { setInterval } = globalThis;
  globalThis.setInterval = (...how) => setInterval(...how).unref();
  // The sandbox and the porch are told what to do by their own element.
  Object.defineProperty(document, "currentScript", {
    value: document.createElement("script"),
  });
}

const OPTIONS = {
  target: "es2022",
  module: "nodenext",
  lib: ["es2022", "dom", "dom.iterable"],
  types: [],
};

/** One of each class that is exported. */
const INSTANCES = {
  App: (App) => new App({ name: "a", version: "1" }),
  EventDispatcher: (Dispatcher) => new Dispatcher(),
  McpApp: (McpApp) => new McpApp(),
  TransomError: (TransomError) => new TransomError("Closed"),
  PostMessageTransport: (Transport) => new Transport(globalThis.window),
  InPageChannel: (Channel) => new Channel(() => () => {}),
  // One that is made connects.
  WebSocketChannel: (Channel) => Channel.prototype,
  TransomView: () => document.createElement("transom-view"),
  FrameError: (FrameError) => new FrameError("CLOSED", "closed"),
  IframeControl: (Control) => new Control(),
  PopupControl: (Control) => new Control(),
  OuterFrameTransport: (Outer) =>
    new Outer({ url: "https://s.test/", control: { opaque: false } }),
  InnerFrameTransport: (Inner) =>
    new Inner({ allowedOrigins: ["https://c.test"] }),
};
