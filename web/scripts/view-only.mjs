// Leaves in package.json and its lock file only what the view's script is built with. Run in a copy: a server's build script does.
import { readFileSync, writeFileSync } from "node:fs";

const [own, lock] = ["package.json", "package-lock.json"].map((name) =>
  JSON.parse(readFileSync(name, "utf8")),
);
const lean = {
  name: own.name,
  version: own.version,
  type: own.type,
  devDependencies: { esbuild: own.devDependencies.esbuild },
};
const needed = /^node_modules\/(@esbuild\/[^/]+|esbuild)$/;
lock.packages = {
  "": lean,
  ...Object.fromEntries(
    Object.entries(lock.packages).filter(([path]) => needed.test(path)),
  ),
};
write("package.json", lean);
write("package-lock.json", lock);

function write(name, value) {
  writeFileSync(name, `${JSON.stringify(value, null, 2)}\n`);
}
