//! Replays the corpus of a fuzz target, as an ordinary test; a part of each crate's tests that has one.

/// Checks every file of the target's corpus.
pub(crate) fn replay(target: &str, check: fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).expect("the target has a corpus");
    let mut files: Vec<_> =
        entries.map(|entry| entry.expect("the corpus can be listed").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no corpus for {target}");
    for file in files {
        // Shown only if the check fails, and then the last line is the file.
        println!("{}", file.display());
        check(&std::fs::read(file).expect("a file of the corpus can be read"));
    }
}
