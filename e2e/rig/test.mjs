// node:test with a limit on every test: what hangs has failed.
import { after, test as plain } from "node:test";

// Long enough for a busy machine: it tells what hangs from what is slow, and nothing else.
const LIMIT = 120_000;

export { after };
export const test = (name, body, timeout = LIMIT) => plain(name, { timeout }, body);
