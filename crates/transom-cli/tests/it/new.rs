//! `transom new`: what it writes builds, passes its own tests, and `transom check` has nothing to say.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use crate::transom::Place;

const TEMPLATES: [&str; 5] = ["html", "askama", "react", "vue", "svelte"];

/// This checkout.
fn checkout() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

#[test]
fn what_is_there_stays_as_it_is() {
    let place = Place::new().with("used/a", "mine").with("file", "mine");
    #[rustfmt::skip]
    let table: [(&[&str], &str); 6] = [
        (&["new", "used"],                             "exists and is not empty"),
        (&["new", "file"],                             "exists and is not a folder"),
        (&["new", "../out"],                           "is no name for a server"),
        (&["new", "Board"],                            "as in incident-board"),
        (&["new", "a", "--path", "."],                 "is no checkout of Transom"),
        (&["new", "a", "--template", "solid"],         "html, askama, react, vue, svelte"),
    ];
    for (words, expected) in table {
        let (code, out, err) = place.transom(words);
        assert_eq!((code, &*out), (2, ""), "{words:?}");
        assert!(err.contains(expected), "{words:?}: {err}");
    }
    assert_eq!(fs::read_to_string(place.path().join("used/a")).unwrap(), "mine");
    assert!(!place.path().join("a").exists());
    // An empty one is as good as none.
    fs::create_dir(place.path().join("empty")).unwrap();
    assert_eq!(place.transom(&["new", "empty"]).0, 0);
    assert!(place.path().join("empty/src/lib.rs").is_file());
}

#[test]
fn the_library_is_found_where_it_is() {
    // Outside a checkout and without --path it comes from where crates come from, and that is said.
    let place = Place::new();
    let (_, out, _) = place.transom(&["new", "a"]);
    assert!(out.contains("--path DIR takes it from a checkout"), "{out}");
    let manifest =
        |name: &str| fs::read_to_string(place.path().join(name).join("Cargo.toml")).unwrap();
    assert!(manifest("a").contains("transom-server = \"0.1.0\" #"), "{}", manifest("a"));
    assert!(!manifest("a").contains("[workspace]"));
    // In one, from there: by a path that moves along, and without becoming a part of it.
    let checkout =
        Place::new().with("Cargo.toml", "[workspace]").with("crates/transom-server/Cargo.toml", "");
    fs::create_dir(checkout.path().join("tries")).unwrap();
    let mut command = checkout.command(&["new", "b"]);
    assert!(command.current_dir(checkout.path().join("tries")).status().unwrap().success());
    let manifest = fs::read_to_string(checkout.path().join("tries/b/Cargo.toml")).unwrap();
    assert!(
        manifest.contains("transom-server = { path = \"../../crates/transom-server\" }"),
        "{manifest}"
    );
    assert!(manifest.contains("[workspace]"), "{manifest}");
}

/// Runs a program to its end, and panics with what it said when that was no success.
fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{command:?}\n{}", said.concat());
    said.concat()
}

#[test]
fn every_template_builds_passes_its_tests_and_the_check() {
    let checkout = checkout();
    let place = Place::new();
    // The same crates at the same places of a workspace with the same manifest, features and profile: cargo takes what it
    // has built of them, and builds the projects alone.
    for folder in ["crates", "examples", "web"] {
        symlink(checkout.join(folder), place.path().join(folder)).unwrap();
    }
    for template in TEMPLATES {
        let name = format!("new-{template}");
        let (code, out, err) =
            place.transom(&["new", &name, "--template", template, "--path", "."]);
        assert_eq!(code, 0, "{out}{err}");
        // Of a project by itself. Cargo takes no profile of a member, and says so.
        let manifest = place.path().join(&name).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let (own, profile) = text.split_once("\n# What others wrote").unwrap();
        assert!(profile.contains("[profile.dev.build-override]"), "{text}");
        fs::write(&manifest, own).unwrap();
    }
    for framework in ["react", "vue", "svelte"] {
        bundle(&place.path().join(format!("new-{framework}/ui")), &checkout);
    }
    let place = with_clock(place, &fs::read_to_string(checkout.join("README.md")).unwrap());
    let manifest = fs::read_to_string(checkout.join("Cargo.toml")).unwrap();
    let members = manifest.replacen("members = [", "members = [\"new-*\", ", 1);
    let place = place.with("Cargo.toml", &members);
    fs::copy(checkout.join("Cargo.lock"), place.path().join("Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_BIN_EXE_transom")).ancestors().nth(2).unwrap();
    let cargo = |words: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(words).args(["--offline", "--quiet"]).current_dir(place.path());
        // What this test was told of its own package is for no build script: one that asks for it would run again.
        let own = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        for (name, _) in env::vars().filter(|(name, _)| own.iter().any(|own| name.starts_with(own)))
        {
            cargo.env_remove(name);
        }
        done(cargo.env("CARGO_TARGET_DIR", target).env_remove("RUSTFLAGS"))
    };
    // Of the whole workspace, for its features; but only the projects have a test of this name.
    let said = cargo(&["test", "--workspace", "--test", "view"]);
    assert_eq!(said.matches("1 passed").count(), TEMPLATES.len(), "{said}");
    assert!(!said.contains("warning"), "{said}");
    // And with the features that they ask for themselves: whoever starts from them has no others.
    cargo(&["check", "--tests", "--package", "new-*"]);
    for template in TEMPLATES {
        let server = target.join("debug").join(format!("new-{template}"));
        let server = server.to_str().unwrap();
        let words = ["check", "--level", "note", "--call", "add", "--", server];
        let (code, out, err) = place.transom(&words);
        assert_eq!(code, 0, "{template}: {out}{err}");
        assert!(out.contains("4 tools, 1 view, 2 calls made") && out.contains("clean"), "{out}");
        assert!(!out.contains("not checked"), "{out}");
    }
    let mut fmt = Command::new(env!("CARGO"));
    fmt.arg("fmt");
    for template in TEMPLATES {
        fmt.args(["--package".to_owned(), format!("new-{template}")]);
    }
    done(fmt.arg("--check").current_dir(place.path()));
}

/// The README's clock, from what the README shows and nothing else.
fn with_clock(place: Place, readme: &str) -> Place {
    let block = |start: &str| {
        let at = readme.find(start).unwrap_or_else(|| panic!("the README has no {start}"));
        let code = readme[at..].split_once('\n').unwrap().1;
        code.split_once("\n```").unwrap().0.to_owned() + "\n"
    };
    let manifest = block("```toml\n[package]");
    let manifest =
        manifest.replace("\"clock\"", "\"new-clock\"").replace("\"crates/", "\"../crates/");
    place
        .with("new-clock/Cargo.toml", &manifest)
        .with("new-clock/src/main.rs", &block("```rust\nuse std::time"))
        .with("new-clock/views/clock.html", &block("```html\n<!doctype"))
}

/// Builds the view with what our own package has installed: the same packages, and locked.
fn bundle(ui: &Path, checkout: &Path) {
    let packages = checkout.join("web/node_modules");
    if !packages.join("esbuild").is_dir() {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-fund", "--no-audit"])
            .current_dir(checkout.join("web"));
        done(&mut npm);
    }
    symlink(packages, ui.join("node_modules")).unwrap();
    let said = done(Command::new("node").arg("build.mjs").current_dir(ui));
    assert!(said.contains("dist/tasks.html: "), "{said}");
}
