//! Documents read once, shared, and bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::documents::read;
use serde_json::json;
use tokio::sync::Notify;
use transom::wire::UiUri;
use transom_host::documents::{Bounds, Document, MemoryPins, NotADocument, Store, Unread};

fn uri(name: &str) -> UiUri {
    UiUri::parse(&format!("ui://demo/{name}")).unwrap()
}

fn document(server: &str, name: &str, html: &str) -> Document {
    read(server, uri(name).as_str(), json!({ "text": html }))
}

async fn put(store: &Store, server: &str, name: &str, html: &str) -> Arc<Document> {
    let read = || async { Ok(document(server, name, html)) };
    store.get_or_read(server, &uri(name), read).await.unwrap()
}

async fn unreachable() -> Result<Document, Unread> {
    panic!("it is here already")
}

#[tokio::test]
async fn h_06_a_document_is_read_once_until_the_list_changes() {
    let store = Store::default();
    let first = put(&store, "demo", "a", "<p>1").await;
    let again = store.get_or_read("demo", &uri("a"), unreachable).await.unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    put(&store, "other", "a", "<p>other").await;

    store.invalidate("demo");
    assert!(store.get("demo", &uri("a")).is_none());
    assert!(store.get("other", &uri("a")).is_some());
    assert_eq!(put(&store, "demo", "a", "<p>2").await.html, "<p>2");
    assert_eq!(first.html, "<p>1", "what is in use stays alive");
}

#[tokio::test]
async fn all_who_ask_at_once_share_one_reading_good_or_bad() {
    for outcome in [Ok(()), Err(Unread::NotADocument(NotADocument::Blank))] {
        let (store, reads, gate) = (Store::default(), AtomicUsize::new(0), Notify::new());
        let ask = || {
            store.get_or_read("demo", &URI_A, || async {
                reads.fetch_add(1, Ordering::Relaxed);
                gate.notified().await;
                outcome.clone().map(|()| document("demo", "a", "<p>"))
            })
        };
        let open = async { gate.notify_one() };
        let (one, two, three, ()) = tokio::join!(ask(), ask(), ask(), open);
        for answer in [one, two, three] {
            assert_eq!(answer.map(|_| ()), outcome);
        }
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        let kept = store.get("demo", &URI_A);
        assert_eq!(kept.is_some(), outcome.is_ok(), "a failure is not remembered");
    }
}

static URI_A: std::sync::LazyLock<UiUri> = std::sync::LazyLock::new(|| uri("a"));

#[tokio::test]
async fn when_the_reader_gives_up_one_who_waits_reads() {
    let store = Store::default();
    let mut given_up = Box::pin(store.get_or_read("demo", &URI_A, std::future::pending));
    let waits = tokio::select! {
        biased;
        _ = &mut given_up => unreachable!("it never ends"),
        () = std::future::ready(()) => put(&store, "demo", "a", "<p>"),
    };
    drop(given_up);
    assert_eq!(waits.await.html, "<p>");
}

#[tokio::test]
async fn what_was_read_before_a_change_is_not_kept() {
    let store = Store::default();
    let read = || async {
        store.invalidate("demo");
        Ok(document("demo", "a", "<p>old"))
    };
    let old = store.get_or_read("demo", &URI_A, read).await.unwrap();
    assert_eq!(old.html, "<p>old");
    assert!(store.get("demo", &URI_A).is_none());
}

#[tokio::test]
async fn equal_documents_share_their_bytes() {
    let store = Store::default();
    let one = put(&store, "demo", "a", "<p>same").await;
    let two = put(&store, "other", "b", "<p>same").await;
    assert_eq!(one.html.as_ptr(), two.html.as_ptr());
    assert_eq!(two.server, "other");
    assert_eq!(store.usage(), (2, 7));
    store.invalidate("demo");
    assert_eq!(store.usage(), (1, 7));
    store.invalidate("other");
    assert_eq!(store.usage(), (0, 0));
}

#[tokio::test]
async fn the_least_used_goes_first_and_the_bounds_hold() {
    let bounds = Bounds { documents: 3, bytes: 100 };
    let store = Store::new(bounds, Arc::new(MemoryPins::default()));
    for name in ["a", "b", "c"] {
        put(&store, "demo", name, name).await;
    }
    store.get("demo", &uri("a")).unwrap();
    put(&store, "demo", "d", "d").await;
    assert!(store.get("demo", &uri("b")).is_none());
    assert!(store.get("demo", &uri("a")).is_some());

    put(&store, "demo", "e", &"e".repeat(100)).await;
    assert_eq!(store.usage(), (1, 100));
    // Larger than the store: it can be shown, and nothing makes room for it.
    assert_eq!(put(&store, "demo", "f", &"f".repeat(101)).await.html.len(), 101);
    assert_eq!(store.usage(), (1, 100));
}
