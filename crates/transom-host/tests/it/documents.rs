//! What is taken out of an answer to `resources/read`.

use data_encoding::BASE64;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use transom::wire::{Compat, MIME, UiUri};
use transom_host::documents::{ContentHash, Document, DocumentLimits, NotADocument, Part};

pub(crate) const URI: &str = "ui://demo/view.html";

/// Reads a document as the store's caller would.
pub(crate) fn read(server: &str, uri: &str, item: Value) -> Document {
    let uri = UiUri::parse(uri).unwrap();
    let mut item = item;
    item["uri"] = json!(uri.as_str());
    item["mimeType"] = json!(MIME);
    let result = to_raw_value(&json!({ "contents": [item] })).unwrap();
    Document::read(server, &uri, &result, None, &DocumentLimits::default()).unwrap()
}

fn answer(result: &str) -> Result<Document, NotADocument> {
    let result: Box<RawValue> = serde_json::from_str(result).unwrap();
    let limits = DocumentLimits { html: 64, meta: 256, compat: Compat::default() };
    Document::read("demo", &UiUri::parse(URI).unwrap(), &result, None, &limits)
}

fn contents(items: Value) -> Result<Document, NotADocument> {
    answer(&json!({ "contents": items, "unknown": [1] }).to_string())
}

fn item(members: Value) -> Value {
    let mut item = json!({ "uri": URI, "mimeType": MIME });
    item.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    item
}

#[test]
fn h_05_text_and_blob_are_the_same_document() {
    let html = "<p>Grüße \u{1f600}\0</p>";
    let text = contents(json!([item(json!({ "text": html }))])).unwrap();
    let blob = contents(json!([item(json!({ "blob": BASE64.encode(html.as_bytes()) }))])).unwrap();
    let bare = BASE64.encode(html.as_bytes()).trim_end_matches('=').to_owned();
    let unpadded = contents(json!([item(json!({ "blob": bare }))])).unwrap();
    for document in [&text, &blob, &unpadded] {
        assert_eq!(document.html, html.as_bytes());
        assert_eq!(document.hash, ContentHash::of(html.as_bytes()));
        assert_eq!((document.server.as_str(), document.uri.as_str()), ("demo", URI));
    }
    let both = item(json!({ "text": "<p>text</p>", "blob": "not base64" }));
    assert_eq!(contents(json!([both])).unwrap().html, "<p>text</p>");
    let blob_only = item(json!({ "text": null, "blob": BASE64.encode(b"<p>") }));
    assert_eq!(contents(json!([blob_only])).unwrap().html, "<p>");
}

#[test]
fn h_08_only_an_app_is_taken_and_only_the_one_asked_for() {
    let page = item(json!({ "text": "<p>" }));
    let with = |key: &str, value: Value| {
        let mut other = page.clone();
        other[key] = value;
        other
    };
    let plain = with("mimeType", json!("text/html"));
    let other = with("uri", json!("ui://demo/other.html"));
    #[rustfmt::skip]
    let good = [
        json!([page]),
        json!([other, plain, page]),
        json!([5, null, "x", page]),
        json!([{ "uri": 5, "mimeType": [] }, page]),
        json!([with("mimeType", json!("Text/HTML; Profile=\"mcp-app\""))]),
    ];
    for items in good {
        assert_eq!(contents(items.clone()).map(|d| d.html), Ok("<p>".into()), "{items}");
    }
    use NotADocument::*;
    let (asked, otherwise) = (URI.into(), "ui://demo/other.html".into());
    #[rustfmt::skip]
    let bad = [
        (json!([]),                                 Empty),
        (json!([plain]),                            Mime { got: "text/html".into() }),
        (json!([with("mimeType", json!(null))]),    Mime { got: "".into() }),
        (json!([with("mimeType", json!({}))]),      Mime { got: "".into() }),
        (json!([other]),                            OtherUri { asked, got: otherwise }),
        (json!([5]),                                OtherUri { asked: URI.into(), got: "".into() }),
        (json!([page, page]),                       Ambiguous { count: 2 }),
    ];
    for (items, expected) in bad {
        assert_eq!(contents(items.clone()).unwrap_err(), expected, "{items}");
    }
}

#[test]
fn a_body_that_cannot_be_shown_is_refused_with_words() {
    let body = |members: Value| contents(json!([item(members)])).unwrap_err();
    let binary = BASE64.encode(b"<p>\xff</p>");
    let long = "x".repeat(65);
    let part = Part::Document;
    assert_eq!(body(json!({})), NotADocument::NoBody);
    assert_eq!(body(json!({ "text": "" })), NotADocument::Blank);
    assert_eq!(body(json!({ "text": " \n" })), NotADocument::Blank);
    assert_eq!(body(json!({ "blob": binary })), NotADocument::Utf8 { at: 3 });
    let large = NotADocument::TooLarge { part, size: 65, limit: 64 };
    assert_eq!(body(json!({ "text": long })), large);
    assert_eq!(body(json!({ "blob": BASE64.encode(long.as_bytes()) })), large);
    assert!(contents(json!([item(json!({ "blob": BASE64.encode(&[b'x'; 64]) }))])).is_ok());
    for blob in ["@@@@", "PHA-", "PHA+\nPHA+", "P", "PHA=="] {
        let refused = body(json!({ "blob": blob }));
        let known = matches!(refused, NotADocument::Base64(_) | NotADocument::Utf8 { .. });
        assert!(known, "{blob}: {refused}");
    }
    let meta = json!({ "text": "<p>", "_meta": { "ui": { "domain": "x".repeat(300) } } });
    assert!(matches!(body(meta), NotADocument::TooLarge { part: Part::Metadata, .. }));
    assert_eq!(
        large.to_string(),
        "the document has 65 bytes, limit 64; make it smaller, or raise the limit"
    );
}

#[test]
fn garbage_in_place_of_an_answer_is_refused_and_nothing_more() {
    let deep = format!("{{\"contents\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let surrogate =
        format!(r#"{{"contents":[{{"uri":"{URI}","mimeType":"{MIME}","text":"\ud800"}}]}}"#);
    let twice =
        format!(r#"{{"contents":[{{"uri":"{URI}","mimeType":"{MIME}","text":"a","text":"b"}}]}}"#);
    let garbage = ["1", "null", "[]", "{}", r#"{"contents":{}}"#, &surrogate, &twice];
    for result in garbage {
        let refused = answer(result).unwrap_err();
        assert!(matches!(refused, NotADocument::Unreadable(_)), "{result}: {refused}");
        assert!(refused.to_string().len() < 400, "{refused}");
    }
    assert!(matches!(answer(&deep).unwrap_err(), NotADocument::OtherUri { .. }));
    let brackets = "[".repeat(100) + &"]".repeat(100);
    let meta = format!(
        r#"{{"contents":[{{"uri":"{URI}","mimeType":"{MIME}","text":"a","_meta":{brackets}}}]}}"#
    );
    assert_eq!(answer(&meta).unwrap().meta, Default::default());
    let many = json!({ "contents": vec![5; 100_000] }).to_string();
    assert!(matches!(answer(&many).unwrap_err(), NotADocument::OtherUri { .. }));
}

#[test]
fn h_21_and_h_22_the_item_counts_whole_before_the_listing() {
    let csp = json!({ "csp": { "connectDomains": ["https://api.test"] } });
    let border = json!({ "prefersBorder": true });
    let read = |on_item: Option<&Value>, on_listing: Option<&Value>| {
        let mut item = item(json!({ "text": "<p>" }));
        if let Some(ui) = on_item {
            item["_meta"] = json!({ "ui": ui });
        }
        let listing = on_listing.map(|ui| json!({ "uri": URI, "_meta": { "ui": ui } }));
        let result = to_raw_value(&json!({ "contents": [item] })).unwrap();
        let uri = UiUri::parse(URI).unwrap();
        Document::read("demo", &uri, &result, listing.as_ref(), &DocumentLimits::default()).unwrap()
    };
    let declared = |document: Document| document.declaration.is_some();
    assert!(!declared(read(None, None)));
    assert!(declared(read(Some(&csp), None)));
    assert!(declared(read(None, Some(&csp))));
    assert!(!declared(read(Some(&border), Some(&csp))));
    // H-50: the wish for a border is kept in its three values.
    assert_eq!(read(Some(&border), None).meta.prefers_border, Some(true));
    assert_eq!(read(None, None).meta.prefers_border, None);
}

#[test]
fn h_31_what_does_not_parse_is_left_out_and_told() {
    let hostile = ["https://ok.test", "https://x.test; script-src *", "*", "x.test"];
    let ui = json!({ "csp": { "resourceDomains": hostile } });
    let document = read("demo", URI, json!({ "text": "<p>", "_meta": { "ui": ui } }));
    let declaration = document.declaration.unwrap();
    let granted: Vec<_> = declaration.resource.iter().map(ToString::to_string).collect();
    assert_eq!(granted, ["https://ok.test", "https://x.test"]);
    assert_eq!(document.refused.len(), 2);
    assert_eq!(document.oddities.len(), 1);
}

#[test]
fn a_document_in_a_log_is_a_name_and_no_payload() {
    let printed = format!("{:?}", read("demo", URI, json!({ "text": "<p>secret" })));
    assert!(printed.contains("sha256:") && !printed.contains("secret"), "{printed}");
}
