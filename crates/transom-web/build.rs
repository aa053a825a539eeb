//! Builds `web/` and `workbench/` with the locked npm packages, in `OUT_DIR` and nowhere else.

#[path = "build/packages.rs"]
#[expect(unreachable_pub, reason = "it is a module of the library too")]
mod packages;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../..");
    let out = PathBuf::from(variable("OUT_DIR"));
    for part in ["web/src", "web/scripts", "web/package.json", "web/package-lock.json", "workbench"]
    {
        // As cargo reads it: from this package's folder. The same checkout by another path then counts as built.
        println!("cargo::rerun-if-changed=../../{part}");
    }
    let packaged = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("dist");
    let built = if packaged.is_dir() { packaged } else { build(&root, &out) };
    for script in SCRIPTS {
        let from = built.join(script);
        fs::copy(&from, out.join(script))
            .unwrap_or_else(|error| panic!("the npm build left no {}: {error}", from.display()));
    }
}

/// Copies the sources and runs the build in the copy, so that the source tree stays as it was.
fn build(root: &Path, out: &Path) -> PathBuf {
    let work = out.join("npm");
    for part in ["web/src", "web/scripts", "workbench"] {
        let to = work.join(part);
        // A file that was removed from the sources must not live on in the copy.
        let _ = fs::remove_dir_all(&to);
        copy(&root.join(part), &to);
    }
    let web = work.join("web");
    for file in ["package.json", "package-lock.json"] {
        fs::copy(root.join("web").join(file), web.join(file)).expect("web/ is a package");
    }
    packages::install(&web).unwrap_or_else(|error| panic!("{error}"));
    let mut node = Command::new("node");
    node.args(["scripts/build.mjs", "--no-types", "--workbench"]);
    if let Err(error) = packages::run(&mut node, &web) {
        let installed = web.join("node_modules");
        panic!(
            "{error}\nWhere this blames a package and not web/ or workbench/, delete {} and build again",
            installed.display()
        );
    }
    web.join("dist")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("OUT_DIR can be written");
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries {
        let entry = entry.expect("a folder can be listed");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            if entry.file_name() != "node_modules" {
                copy(&entry.path(), &target);
            }
        } else {
            fs::copy(entry.path(), target).expect("OUT_DIR can be written");
        }
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

const SCRIPTS: [&str; 6] = [
    "transom.global.js",
    "host.global.js",
    "sandbox.js",
    "workbench.js",
    "workbench.css",
    "expose.js",
];
