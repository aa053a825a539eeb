//! What a document was, and what has changed.

use std::fs;
use std::sync::Arc;

use crate::documents::{URI, read};
use serde_json::json;
use transom_host::documents::{
    Bounds, Difference, Document, FilePins, MemoryPins, PinError, Pins, Review, Shows, Store,
};
use transom_host::place::Place;

use crate::sandbox::place;

fn document(html: &str, ui: serde_json::Value) -> Document {
    read("demo", URI, json!({ "text": html, "_meta": { "ui": ui } }))
}

fn store(pins: impl Pins + 'static) -> Store {
    Store::new(Bounds::default(), Arc::new(pins))
}

/// What a tool of the server in a place shows.
fn shows<'a>(place: &'a Place, tool: &'a str) -> Shows<'a> {
    Shows { place: place.id(), tool, template: None }
}

/// Looks at what the tool `show` of the server in a place shows.
fn review_in(place: &Place, store: &Store, document: &Document) -> Review {
    store.review(document, shows(place, "show")).unwrap()
}

fn review(store: &Store, document: &Document) -> Review {
    review_in(&place(&document.server), store, document)
}

/// Agrees to it.
fn pin(store: &Store, document: &Document) -> Result<(), PinError> {
    let place = place(&document.server);
    let review = review_in(&place, store, document);
    store.agree(document, shows(&place, "show"), &review)
}

fn changes(store: &Store, document: &Document) -> Vec<String> {
    match review(store, document) {
        Review::Changed(change) => change.what.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn h_49_a_changed_document_is_announced_with_what_changed() {
    let store = store(MemoryPins::default());
    let before = document("<p>", json!({ "csp": { "connectDomains": ["https://api.test"] } }));
    assert_eq!(review(&store, &before), Review::New);
    assert_eq!(review(&store, &before), Review::New, "a look is not an agreement");
    pin(&store, &before).unwrap();
    assert_eq!(review(&store, &before), Review::Same);

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
    pin(&store, &after).unwrap();
    assert_eq!(review(&store, &after), Review::Same);
}

#[test]
fn a_declaration_that_changes_alone_is_a_change() {
    let store = store(MemoryPins::default());
    pin(&store, &document("<p>", json!({}))).unwrap();
    let declared = document("<p>", json!({ "csp": {} }));
    assert_eq!(changes(&store, &declared), ["it now declares which domains it needs"]);
    let same_size = document("<b>", json!({}));
    assert_eq!(changes(&store, &same_size), ["its content changed; it still has 3 bytes"]);
}

#[test]
fn another_address_for_the_same_tool_is_a_change() {
    let store = store(MemoryPins::default());
    let at = |uri: &str, html: &str| read("demo", uri, json!({ "text": html }));
    pin(&store, &at("ui://x/view", "<p>")).unwrap();
    let moved = "its address is \"ui://x/view?v=2\", before \"ui://x/view\"";
    let same = at("ui://x/view?v=2", "<p>");
    assert_eq!(changes(&store, &same), [moved]);
    let other = at("ui://x/view?v=2", "<p>other");
    assert_eq!(changes(&store, &other), [moved, "its content changed, from 3 to 8 bytes"]);
    pin(&store, &other).unwrap();
    assert_eq!(review(&store, &other), Review::Same);
    // And the way back is one too.
    assert_eq!(changes(&store, &at("ui://x/view", "<p>")).len(), 2);
}

#[test]
fn what_one_tool_shows_is_not_agreed_to_for_another() {
    let store = store(MemoryPins::default());
    let (here, page) = (place("demo"), document("<p>", json!({})));
    pin(&store, &page).unwrap();
    let edit = shows(&here, "edit");
    assert_eq!(store.review(&page, edit).unwrap(), Review::New);
    store.agree(&page, edit, &Review::New).unwrap();
    // Once both show the same, one yes to its next version is for both, and says so.
    let next = document("<p>2", json!({}));
    let Review::Changed(change) = review(&store, &next) else { panic!("it changed") };
    assert_eq!(change.others, ["edit"]);
    pin(&store, &next).unwrap();
    assert_eq!(store.review(&next, edit).unwrap(), Review::Same);
}

#[test]
fn a_document_made_for_each_request_is_agreed_to_once_by_pattern_and_policy() {
    let store = store(MemoryPins::default());
    let (here, template) = (place("demo"), Some("ui://report/{id}"));
    let shows = Shows { template, ..shows(&here, "show") };
    let at = |uri: &str, html: &str, ui| {
        read("demo", uri, json!({ "text": html, "_meta": { "ui": ui } }))
    };
    let first = at("ui://report/7", "<p>7", json!({}));
    let review = store.review(&first, shows).unwrap();
    assert!(matches!(review, Review::Unpinned(_)), "{review:?}");
    store.agree(&first, shows, &review).unwrap();
    let next = at("ui://report/8", "<p>eight", json!({}));
    assert_eq!(store.review(&next, shows).unwrap(), Review::Same);
    assert!(store.is_unpinned(shows).unwrap());
    // Another policy, another pattern, or one that is no more, are changes.
    let camera = at("ui://report/9", "<p>", json!({ "permissions": { "camera": {} } }));
    let other = Shows { template: Some("ui://{+all}"), ..shows };
    let none = Shows { template: None, ..shows };
    for (document, shows) in [(&camera, shows), (&next, other), (&next, none)] {
        let review = store.review(document, shows).unwrap();
        assert!(matches!(review, Review::Changed(_)), "{review:?}");
    }
}

#[test]
fn what_was_pinned_does_not_become_unpinned_unasked() {
    let store = store(MemoryPins::default());
    let (here, page) = (place("demo"), document("<p>", json!({})));
    pin(&store, &page).unwrap();
    let template = Shows { template: Some("ui://{+all}"), ..shows(&here, "show") };
    let Review::Changed(change) = store.review(&page, template).unwrap() else {
        panic!("a template is a change")
    };
    assert!(change.what.contains(&Difference::Unpinned), "{change:?}");
    // Whoever agrees to whatever is at the address is not asked about its content, but about its policy.
    let shows = shows(&here, "show");
    store.agree_to_changes(&page, shows).unwrap();
    let other = document("<p>other", json!({}));
    assert_eq!(store.review(&other, shows).unwrap(), Review::Same);
    assert!(store.is_unpinned(shows).unwrap());
    let camera = document("<p>", json!({ "permissions": { "camera": {} } }));
    assert_eq!(changes(&store, &camera), ["it asks for camera, before for no permission"]);
    let moved = read("demo", "ui://demo/other", json!({ "text": "<p>" }));
    assert!(matches!(store.review(&moved, shows).unwrap(), Review::Changed(_)));
}

#[test]
fn what_an_earlier_version_pinned_makes_people_be_asked_and_spares_them_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let hash = transom_host::documents::ContentHash::of(b"<p>");
    let pin = json!({ "hash": hash, "size": 3 });
    let old = json!({ "version": 1, "pins": [{ "server": "demo", "uri": URI, "pin": pin }] });
    fs::write(directory.path().join("pins.json"), old.to_string()).unwrap();
    let store = store(FilePins::open(directory.path()).unwrap());
    // The same as ever is agreed to by being opened, as what nobody has seen is.
    let same = document("<p>", json!({}));
    assert_eq!(review(&store, &same), Review::New);
    let other = document("<p>other", json!({}));
    assert_eq!(changes(&store, &other), ["its content changed, from 3 to 8 bytes"]);
    super::pins::pin(&store, &other).unwrap();
    let again = self::store(FilePins::open(directory.path()).unwrap());
    assert_eq!(review(&again, &other), Review::Same);
    assert!(matches!(review(&again, &same), Review::Changed(_)), "by place, now");
}

#[test]
fn one_place_has_nothing_of_another_of_the_same_name() {
    let store = store(MemoryPins::default());
    let page = document("<p>", json!({}));
    pin(&store, &page).unwrap();
    assert_eq!(review_in(&place("elsewhere"), &store, &page), Review::New);
    let run = store.for_this_run();
    assert_eq!(review(&run, &page), Review::New);
    pin(&run, &document("<p>other", json!({}))).unwrap();
    assert_eq!(review(&store, &page), Review::Same, "what counts for a run is not kept");
}

#[test]
fn each_server_has_pins_of_its_own() {
    let store = store(MemoryPins::default());
    pin(&store, &document("<p>", json!({}))).unwrap();
    let other = read("other", URI, json!({ "text": "<b>" }));
    assert_eq!(review(&store, &other), Review::New);
}

#[test]
fn pins_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let ui =
        json!({ "csp": { "frameDomains": ["https://v.test"] }, "permissions": { "camera": {} } });
    let before = document("<p>", ui);
    pin(&store(FilePins::open(directory.path()).unwrap()), &before).unwrap();

    let pins = FilePins::open(directory.path()).unwrap();
    assert_eq!(pins.get(place("demo").id(), "show").unwrap().unwrap().hash, before.hash);
    let store = store(pins);
    assert_eq!(review(&store, &before), Review::Same);
    let Review::Changed(change) = review(&store, &document("<p>x", json!({}))) else {
        panic!("a change is seen after a restart")
    };
    assert!(change.what.contains(&Difference::Content { before: 3, after: 4 }));
    let mut files: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["pins.json", "pins.json.lock"], "nothing half-written is left");

    let pins = FilePins::open(directory.path()).unwrap();
    assert_eq!(pins.forget(place("demo").id()).unwrap(), 1);
    assert_eq!(
        FilePins::open(directory.path()).unwrap().get(place("demo").id(), "show").unwrap(),
        None
    );
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
    pin(&one, &mine).unwrap();
    pin(&other, &theirs).unwrap();
    for store in [&one, &other, &store(FilePins::open(directory.path()).unwrap())] {
        assert_eq!(review(store, &mine), Review::Same);
        assert_eq!(review(store, &theirs), Review::Same);
    }
    // What one has approved anew is not new to the other.
    pin(&one, &document("<p>x", json!({}))).unwrap();
    assert!(matches!(review(&other, &mine), Review::Changed(_)));
}

#[test]
fn a_damaged_file_is_an_error_and_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pins.json");
    let wrong = [
        &b""[..],
        b"{",
        b"[]",
        b"{\"version\":3,\"pins\":[]}",
        b"{\"version\":1}",
        b"{\"version\":2}",
        b"{\"version\":2,\"pins\":[{\"place\":\"a\",\"pin\":{}}]}",
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
    assert!(matches!(pin(&store, &document), Err(PinError::File { .. })));
    assert_eq!(review(&store, &document), Review::New);
}
