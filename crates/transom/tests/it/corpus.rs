//! Every file of the fuzz corpus, as an ordinary test.
#![expect(clippy::unwrap_used, reason = "a corpus that cannot be read is a failed test")]

use crate::property;

#[test]
fn csp() {
    replay("csp", property::csp::check);
}

#[test]
fn message() {
    replay("message", property::message::check);
}

#[test]
fn partial() {
    replay("partial", property::partial::check);
}

#[test]
fn session() {
    replay("session", property::session::check);
}

#[test]
fn value() {
    replay("value", property::value::check);
}

fn replay(target: &str, check: fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no corpus for {target}");
    for file in files {
        // Shown only if the check fails, and then the last line is the file.
        println!("{}", file.display());
        check(&std::fs::read(file).unwrap());
    }
}
