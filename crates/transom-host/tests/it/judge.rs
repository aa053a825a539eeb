//! A message of a view is judged by `host::Session`, and nowhere else: what the sources of the host may not say.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What a judgement looks like, and the files that may say it all the same.
#[rustfmt::skip]
const JUDGEMENTS: [(&str, &[&str]); 7] = [
    // Refusals are made in the core. The log takes the address out of one that was made.
    ("Denial::",             &["address.rs"]),
    ("Violation::Malformed", &[]),
    ("Violation::Unexpected", &[]),
    ("Violation::UnknownMethod", &[]),
    ("Violation::BadParams", &[]),
    // Whom a tool is for. The conversation takes the core's list of those that a model may see, and calls go to the session.
    (".for_model",           &["conversation/prompt.rs"]),
    (".for_app",             &[]),
];

#[test]
fn only_a_session_judges() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = vec![];
    let mut used = vec![];
    for file in sources(&root) {
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&file).unwrap();
        for (judgement, allowed) in JUDGEMENTS {
            match (text.contains(judgement), allowed.contains(&&*name)) {
                (true, false) => found.push(format!("{name}: {judgement}")),
                (true, true) => used.push((judgement, name.clone())),
                (false, _) => {}
            }
        }
    }
    assert_eq!(found, [""; 0], "the session judges, and tells");
    let exceptions: usize = JUDGEMENTS.iter().map(|(_, allowed)| allowed.len()).sum();
    assert_eq!(used.len(), exceptions, "an exception that is not needed any more: {used:?}");
}

#[test]
fn only_the_driver_hears_views() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let hears = |file: &&PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        text.contains("Session::hear") || text.contains("session.hear")
    };
    let all = sources(&root);
    let heard: Vec<_> = all.iter().filter(hears).collect();
    assert_eq!(heard, [&root.join("driver/life.rs")]);
}

/// Every source of the host, but for its tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.file_name().and_then(|name| name.to_str()) {
            _ if path.is_dir() => all.extend(sources(&path)),
            Some("tests.rs") | None => {}
            Some(_) => all.push(path),
        }
    }
    all.sort();
    all
}
