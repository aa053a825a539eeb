// Lets the conformance runner load on Node 20, whose "fs" has no globSync yet. A client scenario does not
// call it; what does, says so.
import fs from "node:fs";
import { register } from "node:module";

const shim = `export * from "node:fs"; export { default } from "node:fs"; 
  export function globSync() { throw new Error("needs Node 22"); }`;
const hooks = `export async function resolve(name, context, next) {
  if (name !== "fs") return next(name, context);
  return { url: "data:text/javascript,${encodeURIComponent(shim)}", shortCircuit: true };
}`;

if (fs.globSync === undefined) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
