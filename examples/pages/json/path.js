// JSONPath (RFC 9535, without functions): read by a parser of our own, walked by a loop. Nothing in it can run a script.

/** A path that cannot be read: what was expected, and where. */
export class PathError extends Error {}

/** All values that a path selects. */
export function evaluate(path, root) {
  const reader = new Reader(path);
  const segments = reader.query("$");
  reader.end();
  return select(segments, root, root);
}

function select(segments, start, root) {
  let nodes = [start];
  for (const { deep, selectors } of segments) {
    const from = deep ? nodes.flatMap(descendants) : nodes;
    nodes = from.flatMap((node) => selectors.flatMap((pick) => pick(node, root)));
    if (nodes.length > MOST) throw new PathError(`more than ${MOST} values match`);
  }
  return nodes;
}

/** The value and all that is in it, without recursion: the file may be as deep as it likes. */
function descendants(node) {
  const found = [];
  const stack = [node];
  while (stack.length) {
    const value = stack.pop();
    found.push(value);
    stack.push(...children(value).reverse());
  }
  return found;
}

const isObject = (value) => typeof value === "object" && value !== null;
const children = (value) => (isObject(value) ? Object.values(value) : []);

const byName = (name) => (node) =>
  isObject(node) && !Array.isArray(node) && Object.hasOwn(node, name) ? [node[name]] : [];

const byIndex = (index) => (node) => {
  const at = Array.isArray(node) && (index < 0 ? node.length + index : index);
  return at !== false && at in node ? [node[at]] : [];
};

const bySlice = (from, to, step) => (node) => {
  if (!Array.isArray(node) || step === 0) return [];
  const within = (at, least, most) => Math.min(Math.max(at < 0 ? node.length + at : at, least), most);
  const found = [];
  if (step > 0) {
    const [first, end] = [within(from ?? 0, 0, node.length), within(to ?? node.length, 0, node.length)];
    for (let at = first; at < end; at += step) found.push(node[at]);
  } else {
    const last = node.length - 1;
    const [first, end] = [within(from ?? last, -1, last), to === undefined ? -1 : within(to, -1, last)];
    for (let at = first; at > end; at += step) found.push(node[at]);
  }
  return found;
};

const byTest = (test) => (node, root) => children(node).filter((value) => test(value, root));

/** Nothing: what a path in a comparison gives that selects no value. */
const NOTHING = Symbol("nothing");

const COMPARE = {
  "==": same,
  "!=": (a, b) => !same(a, b),
  "<": less,
  ">": (a, b) => less(b, a),
  "<=": (a, b) => less(a, b) || same(a, b),
  ">=": (a, b) => less(b, a) || same(a, b),
};

function same(a, b) {
  if (!isObject(a) || !isObject(b)) return a === b;
  const [mine, theirs] = [Object.keys(a), Object.keys(b)];
  return (
    Array.isArray(a) === Array.isArray(b) &&
    mine.length === theirs.length &&
    mine.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
  );
}

function less(a, b) {
  return typeof a === typeof b && (typeof a === "number" || typeof a === "string") && a < b;
}

/** Reads a path from left to right. */
class Reader {
  #text;
  #at = 0;
  #depth = 0;

  constructor(text) {
    this.#text = text;
  }

  /** `$` or `@`, and what follows. */
  query(sigil) {
    this.#expect(sigil);
    const segments = [];
    for (;;) {
      this.#space();
      if (this.#take("..")) segments.push({ deep: true, selectors: this.#afterDots() });
      else if (this.#take(".")) segments.push({ selectors: [this.#named()] });
      else if (this.#take("[")) segments.push({ selectors: this.#bracket() });
      else return segments;
    }
  }

  end() {
    this.#space();
    if (this.#at < this.#text.length) this.#fail("the end, a dot or a bracket");
  }

  #afterDots() {
    return this.#take("[") ? this.#bracket() : [this.#named()];
  }

  #named() {
    if (this.#take("*")) return children;
    return byName(this.#match(/[\p{L}_\u{80}-\u{10ffff}][\p{L}\p{N}_\u{80}-\u{10ffff}]*/uy) ?? this.#fail("a name or *"));
  }

  #bracket() {
    const selectors = [];
    do {
      this.#space();
      selectors.push(this.#selector());
      this.#space();
    } while (this.#take(","));
    this.#expect("]");
    return selectors;
  }

  #selector() {
    if (this.#take("*")) return children;
    if (this.#take("?")) return byTest(this.#or());
    const name = this.#string();
    if (name !== undefined) return byName(name);
    const first = this.#integer();
    this.#space();
    if (!this.#take(":")) return byIndex(first ?? this.#fail("a name in quotes, a number, * or ?"));
    const [to, step] = [this.#part(), this.#take(":") ? this.#part() : undefined];
    return bySlice(first, to, step ?? 1);
  }

  #part() {
    this.#space();
    const part = this.#integer();
    this.#space();
    return part;
  }

  #or() {
    const tests = [this.#and()];
    while (this.#take("||")) tests.push(this.#and());
    return (node, root) => tests.some((test) => test(node, root));
  }

  #and() {
    const tests = [this.#test()];
    while (this.#take("&&")) tests.push(this.#test());
    return (node, root) => tests.every((test) => test(node, root));
  }

  #test() {
    this.#space();
    if (++this.#depth > 50) throw new PathError("the filter is too deep");
    try {
      if (this.#take("!")) {
        const test = this.#test();
        return (node, root) => !test(node, root);
      }
      if (this.#take("(")) {
        const test = this.#or();
        this.#expect(")");
        this.#space();
        return test;
      }
      return this.#comparison();
    } finally {
      this.#depth--;
    }
  }

  #comparison() {
    const left = this.#operand();
    this.#space();
    const sign = this.#match(/==|!=|<=|>=|<|>/y);
    if (!sign) {
      if (!left.path) this.#fail("a comparison");
      return (node, root) => left.path(node, root).length > 0;
    }
    this.#space();
    const right = this.#operand();
    this.#space();
    const compare = COMPARE[sign];
    return (node, root) => compare(left.value(node, root), right.value(node, root));
  }

  #operand() {
    const sigil = this.#text[this.#at];
    if (sigil === "@" || sigil === "$") {
      const segments = this.query(sigil);
      const path = (node, root) => select(segments, sigil === "@" ? node : root, root);
      // A path that selects several values is none to compare with.
      const value = (node, root) => {
        const found = path(node, root);
        return found.length === 1 ? found[0] : NOTHING;
      };
      return { path, value };
    }
    const literal = this.#literal();
    return { value: () => literal };
  }

  #literal() {
    const text = this.#string();
    if (text !== undefined) return text;
    const word = this.#match(/true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y);
    return word === undefined ? this.#fail("a path, a number, text in quotes, true, false or null") : JSON.parse(word);
  }

  #string() {
    const quoted = this.#match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/y);
    if (quoted === undefined) return undefined;
    // As JSON has it: a quote of the other kind is escaped for it, and one of its own is not.
    const inner = quoted.slice(1, -1);
    const text = quoted[0] === '"' ? inner : inner.replaceAll("\\'", "'").replaceAll(/(?<!\\)"/g, '\\"');
    try {
      return JSON.parse(`"${text}"`);
    } catch {
      return this.#fail("text whose escapes JSON knows");
    }
  }

  #integer() {
    const digits = this.#match(/-?\d{1,15}/y);
    return digits === undefined ? undefined : Number(digits);
  }

  #space() {
    this.#match(/\s+/y);
  }

  #take(word) {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #match(pattern) {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #expect(word) {
    if (!this.#take(word)) this.#fail(word);
  }

  #fail(expected) {
    const got = this.#text.slice(this.#at, this.#at + 20) || "the end";
    throw new PathError(`expected ${expected} at ${this.#at}, got ${got}`);
  }
}

/** As many values as a model would ever read. */
const MOST = 100_000;
