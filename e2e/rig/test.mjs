// node:test with a limit on every test: what hangs has failed.
import { after, test as plain } from "node:test";

const LIMIT = 30_000;

export { after };
export const test = (name, body, timeout = LIMIT) => plain(name, { timeout }, body);
