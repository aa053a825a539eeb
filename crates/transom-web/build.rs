//! Hands the browser files to the crate, in `OUT_DIR`.
//!
//! A published crate carries them in `dist/` (`scripts/package` puts them there), and nothing is run. A checkout builds
//! `web/` and `workbench/` with the locked npm packages, in `OUT_DIR` and nowhere else; without the feature `host` it builds the
//! view's script alone, and installs esbuild alone.

#[path = "build/packages.rs"]
#[expect(unreachable_pub, reason = "it is a module of the library too")]
mod packages;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let crate_folder = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let packaged = crate_folder.join("dist");
    let root = crate_folder.join("../..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let built = if packaged.is_dir() {
        println!("cargo::rerun-if-changed=dist");
        packaged
    } else if root.join("web/package-lock.json").is_file() {
        build(&root, &out)
    } else {
        panic!(
            "transom-web has neither dist/, which published packages carry, nor a checkout of Transom around it: \
             pack it with scripts/package"
        );
    };
    let more: &[&str] = if for_hosts() { &HOST } else { &[] };
    for file in VIEW.iter().chain(more) {
        let from = built.join(file);
        fs::copy(&from, out.join(file))
            .unwrap_or_else(|error| panic!("there is no {}: {error}", from.display()));
    }
    if for_hosts() {
        let chunks = out.join("workbench");
        let _ = fs::remove_dir_all(&chunks);
        copy(&built.join("workbench"), &chunks);
        fs::write(out.join("workbench.rs"), listed(&chunks)).expect("OUT_DIR can be written");
    }
}

/// The files of a folder with their names, as an expression in Rust.
fn listed(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("the folder was just made");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("a folder can be listed").file_name())
        .map(|name| name.into_string().expect("the build names its files in ASCII"))
        .collect();
    names.sort();
    let rows = names.iter().map(|name| {
        let path = folder.join(name);
        format!(
            "({name:?}, include_str!({:?})),\n",
            path.to_str().expect("cargo's folder is UTF-8")
        )
    });
    format!("&[{}]", rows.collect::<String>())
}

/// Copies the sources and runs the build in the copy, so that the source tree stays as it was.
fn build(root: &Path, out: &Path) -> PathBuf {
    let folders: &[&str] = if for_hosts() {
        &["web/src", "web/scripts", "workbench"]
    } else {
        &["web/src", "web/scripts"]
    };
    for part in folders.iter().chain(&["web/package.json", "web/package-lock.json"]) {
        // As cargo reads it: from this package's folder. The same checkout by another path then counts as built.
        println!("cargo::rerun-if-changed=../../{part}");
    }
    let work = out.join("npm");
    for part in folders {
        let to = work.join(part);
        // A file that was removed from the sources must not live on in the copy.
        let _ = fs::remove_dir_all(&to);
        copy(&root.join(part), &to);
    }
    let web = work.join("web");
    for file in ["package.json", "package-lock.json"] {
        fs::copy(root.join("web").join(file), web.join(file)).expect("web/ is a package");
    }
    if !for_hosts() {
        // Who writes a server waits for nothing but the view's script, and for what that is built with.
        let mut node = Command::new("node");
        let lean = packages::run(node.arg("scripts/view-only.mjs"), &web);
        lean.unwrap_or_else(|error| panic!("{error}"));
    }
    packages::install(&web).unwrap_or_else(|error| panic!("{error}"));
    let mut node = Command::new("node");
    node.args(["scripts/build.mjs", "--no-types"]);
    node.arg(if for_hosts() { "--workbench" } else { "--view" });
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

/// Whether the feature `host` is asked for.
fn for_hosts() -> bool {
    env::var_os("CARGO_FEATURE_HOST").is_some()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

const VIEW: [&str; 2] = ["transom.global.js", "carry.global.js"];

/// What the feature `host` adds.
const HOST: [&str; 7] = [
    "host.global.js",
    "sandbox.js",
    "porch.js",
    "workbench.js",
    "workbench.css",
    "workbench.html",
    "expose.js",
];
