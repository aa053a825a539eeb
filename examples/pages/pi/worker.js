// Throws points in slices, and looks for messages in between: that is how a run can be cancelled.
import { Field, randoms } from "./field.js";

const SLICE = 50_000;
let field = new Field();
let work = Promise.resolve();
const cancelled = new Set();

self.onmessage = ({ data }) => {
  if (data.cancel) cancelled.add(data.run);
  else work = work.then(() => begin(data));
};

async function begin({ run, reset, iterations = 0, seed }) {
  if (reset) field = new Field();
  const random = seed === undefined ? Math.random : randoms(seed);
  let thrown = 0;
  while (thrown < iterations && !cancelled.has(run)) {
    const count = Math.min(SLICE, iterations - thrown);
    field.throw(count, random);
    thrown += count;
    if (thrown < iterations) tell({ run, thrown });
    await turn();
  }
  cancelled.delete(run);
  tell({ run, thrown, done: true });
}

function tell(more) {
  self.postMessage({ ...field.numbers(), field: field.pixels.slice(), ...more });
}

/** Lets messages in. No timer: browsers slow those down where nobody looks. */
const { port1, port2 } = new MessageChannel();
function turn() {
  return new Promise((done) => {
    port1.onmessage = done;
    port2.postMessage(0);
  });
}
