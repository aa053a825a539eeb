//! What the compiler says to an author, and where.
//!
//! The compiler is given the macros that this test was built with, and nothing else: errors of the attributes come before
//! anything they would expand to is looked at, so these files need neither rmcp nor transom-server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::{
    env::{self, consts},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

#[test]
fn a_wrong_literal_is_an_error_at_its_place() {
    let folder = Path::new("tests/messages");
    let mut sources = named(folder, "", ".rs");
    sources.sort();
    assert!(!sources.is_empty());
    for source in sources {
        let said = compile(&source);
        let kept = source.with_extension("stderr");
        // `MESSAGES=write` keeps what is said now, for a person to read in the diff.
        if env::var("MESSAGES").as_deref() == Ok("write") {
            fs::write(&kept, &said).unwrap();
        }
        let expected = fs::read_to_string(&kept).unwrap_or_default();
        assert_eq!(said, expected, "{} is not what was said:\n{said}", kept.display());
    }
}

/// The errors of one file, which does not compile; without the line that counts them.
fn compile(source: &Path) -> String {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--emit", "metadata", "--color", "never"]);
    rustc.args(["--diagnostic-width", "140", "--out-dir", env!("CARGO_TARGET_TMPDIR")]);
    rustc.arg("--extern").arg(format!("transom_macros={}", macros().display())).arg(source);
    // What a `file` or a `dir` of these sources is relative to.
    rustc.env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    let output = rustc.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{} compiles:\n{said}", source.display());
    let (errors, _count) = said.split_once("\nerror: aborting due to").unwrap_or((&said, ""));
    errors.to_owned()
}

/// The macros as cargo built them for this test. There may be others beside them, of other selections of features: the
/// newest is as new as the sources, whichever it is.
fn macros() -> PathBuf {
    let built = env::current_exe().unwrap();
    let prefix = format!("{}transom_macros-", consts::DLL_PREFIX);
    named(built.parent().unwrap(), &prefix, consts::DLL_SUFFIX)
        .into_iter()
        .max_by_key(|file| fs::metadata(file).unwrap().modified().unwrap())
        .expect("cargo builds the macros before their tests")
}

fn named(folder: &Path, prefix: &str, suffix: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let fits = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.starts_with(prefix) && name.ends_with(suffix)
    };
    files.filter(fits).collect()
}
