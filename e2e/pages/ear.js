// What a page heard, by name, in order. `next` waits for a thing that may already have come.
const heard = new Map();
const waiting = new Map();

const of = (table, name) => table.get(name) ?? table.set(name, []).get(name);

globalThis.ear = {
  hear(name, value) {
    const listener = of(waiting, name).shift();
    if (listener) listener(value);
    else of(heard, name).push(value);
  },
  next(name) {
    const values = of(heard, name);
    if (values.length > 0) return Promise.resolve(values.shift());
    return new Promise((listen) => of(waiting, name).push(listen));
  },
  /** What nobody has taken yet. */
  left: (name) => [...of(heard, name)],
};
