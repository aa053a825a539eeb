//! What a document was, and what has changed.

use std::fs;
use std::sync::Arc;

use crate::documents::{URI, read};
use serde_json::json;
use transom_host::documents::{
    Bounds, Difference, Document, FilePins, MemoryPins, PinError, Pins, Review, Store,
};

fn document(html: &str, ui: serde_json::Value) -> Document {
    read("demo", URI, json!({ "text": html, "_meta": { "ui": ui } }))
}

fn store(pins: impl Pins + 'static) -> Store {
    Store::new(Bounds::default(), Arc::new(pins))
}

fn changes(store: &Store, document: &Document) -> Vec<String> {
    match store.review(document).unwrap() {
        Review::Changed(change) => change.what.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn h_49_a_changed_document_is_announced_with_what_changed() {
    let store = store(MemoryPins::default());
    let before = document("<p>", json!({ "csp": { "connectDomains": ["https://api.test"] } }));
    assert_eq!(store.review(&before).unwrap(), Review::New);
    assert_eq!(store.review(&before).unwrap(), Review::New, "a look is not an agreement");
    store.pin(&before).unwrap();
    assert_eq!(store.review(&before).unwrap(), Review::Same);

    let ui = json!({
        "csp": { "connectDomains": ["https://evil.test"] },
        "permissions": { "camera": {} },
        "domain": "a.test",
    });
    let after = document("<script>fetch('https://evil.test')</script><a target=_top>", ui);
    assert_eq!(
        changes(&store, &after),
        [
            "its content changed, from 3 to 58 bytes",
            "connectDomains now has https://evil.test",
            "connectDomains no longer has https://api.test",
            "it asks for camera, before for no permission",
            "it asks for another stable origin",
            "it now names https://evil.test",
            "new: it navigates the page around it; the browser blocks it",
        ]
    );
    store.pin(&after).unwrap();
    assert_eq!(store.review(&after).unwrap(), Review::Same);
}

#[test]
fn a_declaration_that_changes_alone_is_a_change() {
    let store = store(MemoryPins::default());
    store.pin(&document("<p>", json!({}))).unwrap();
    let declared = document("<p>", json!({ "csp": {} }));
    assert_eq!(changes(&store, &declared), ["it now declares which domains it needs"]);
    let same_size = document("<b>", json!({}));
    assert_eq!(changes(&store, &same_size), ["its content changed; it still has 3 bytes"]);
}

#[test]
fn each_server_has_pins_of_its_own() {
    let store = store(MemoryPins::default());
    store.pin(&document("<p>", json!({}))).unwrap();
    let other = read("other", URI, json!({ "text": "<b>" }));
    assert_eq!(store.review(&other).unwrap(), Review::New);
}

#[test]
fn pins_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let ui =
        json!({ "csp": { "frameDomains": ["https://v.test"] }, "permissions": { "camera": {} } });
    let before = document("<p>", ui);
    store(FilePins::open(directory.path()).unwrap()).pin(&before).unwrap();

    let pins = FilePins::open(directory.path()).unwrap();
    assert_eq!(pins.get("demo", &before.uri).unwrap().unwrap().hash, before.hash);
    let store = store(pins);
    assert_eq!(store.review(&before).unwrap(), Review::Same);
    let Review::Changed(change) = store.review(&document("<p>x", json!({}))).unwrap() else {
        panic!("a change is seen after a restart")
    };
    assert!(change.what.contains(&Difference::Content { before: 3, after: 4 }));
    let mut files: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["pins.json", "pins.json.lock"], "nothing half-written is left");

    let pins = FilePins::open(directory.path()).unwrap();
    assert_eq!(pins.forget("demo").unwrap(), 1);
    assert_eq!(FilePins::open(directory.path()).unwrap().get("demo", &before.uri).unwrap(), None);
}

#[test]
fn two_processes_that_share_a_folder_keep_each_others_pins() {
    let directory = tempfile::tempdir().unwrap();
    // Each has the file open before the other writes, as two hosts do.
    let one = FilePins::open(directory.path()).unwrap();
    let other = FilePins::open(directory.path()).unwrap();
    let mine = document("<p>", json!({}));
    let theirs = read("other", URI, json!({ "text": "<b>" }));
    let (one, other) = (store(one), store(other));
    one.pin(&mine).unwrap();
    other.pin(&theirs).unwrap();
    for store in [&one, &other, &store(FilePins::open(directory.path()).unwrap())] {
        assert_eq!(store.review(&mine).unwrap(), Review::Same);
        assert_eq!(store.review(&theirs).unwrap(), Review::Same);
    }
    // What one has approved anew is not new to the other.
    one.pin(&document("<p>x", json!({}))).unwrap();
    assert!(matches!(other.review(&mine).unwrap(), Review::Changed(_)));
}

#[test]
fn a_damaged_file_is_an_error_and_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pins.json");
    let wrong = [
        &b""[..],
        b"{",
        b"[]",
        b"{\"version\":2,\"pins\":[]}",
        b"{\"version\":1}",
        b"{\"version\":1,\"pins\":[{\"server\":\"a\",\"uri\":\"b\",\"pin\":{\"hash\":\"x\",\"size\":1}}]}",
        b"\xff\xfe",
    ];
    for bytes in wrong {
        fs::write(&path, bytes).unwrap();
        let error = FilePins::open(directory.path()).unwrap_err();
        assert!(matches!(error, PinError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("move it away"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn what_cannot_be_written_has_not_changed() {
    let directory = tempfile::tempdir().unwrap();
    let pins = FilePins::open(&directory.path().join("gone")).unwrap();
    let store = store(pins);
    let document = document("<p>", json!({}));
    assert!(matches!(store.pin(&document), Err(PinError::File { .. })));
    assert_eq!(store.review(&document).unwrap(), Review::New);
}
