//! Responses that arrive bit by bit.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::get;
use data_encoding::BASE64;
use http_body::Frame;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use transom_server::{Credentials, HttpProxy, Route};

use super::{call, call_as, call_tool, connect, data};
use crate::clients::Connected;

/// A body made of what is sent to it; it ends with its sender, and tells when nobody reads it any more.
struct Pieces {
    pieces: mpsc::Receiver<Result<&'static [u8], &'static str>>,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let framed = |piece: Result<&'static [u8], &'static str>| {
            piece.map(|bytes| Frame::data(Bytes::from_static(bytes))).map_err(Into::into)
        };
        self.pieces.poll_recv(cx).map(|piece| piece.map(framed))
    }
}

/// A body of a gibibyte, which counts how much of it was taken.
struct Gibibyte {
    taken: Arc<AtomicU64>,
}

impl http_body::Body for Gibibyte {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.taken.fetch_add(PIECE, Ordering::SeqCst) >= 1 << 30 {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![7; PIECE as usize])))))
    }
}

const PIECE: u64 = 64 << 10;

type Feed = mpsc::Sender<Result<&'static [u8], &'static str>>;

/// A proxy to a backend with one response, which the test feeds.
async fn fed(content_type: &'static str) -> (Connected, Feed) {
    let (feed, pieces) = mpsc::channel(8);
    let pieces = Arc::new(std::sync::Mutex::new(Some(pieces)));
    let respond = move || {
        let pieces = pieces.lock().expect("no holder panics").take().expect("it is asked once");
        async move { ([("content-type", content_type)], Body::new(Pieces { pieces })) }
    };
    let router = Router::new().route("/feed", get(respond));
    (connect(HttpProxy::tower(router).route(Route::get("/feed").streams())).await, feed)
}

async fn open(client: &Connected) -> Value {
    data(&call(client, json!({ "url": "/feed", "stream": true })).await)
}

async fn read(client: &Connected, id: &Value, offset: u64) -> Value {
    data(
        &call_tool(client, "http_stream_read", "", json!({ "streamId": id, "offset": offset }))
            .await,
    )
}

fn text(answer: &Value) -> String {
    let bytes = BASE64.decode(answer["data"].as_str().expect("text").as_bytes()).expect("base64");
    String::from_utf8(bytes).expect("text")
}

// STR-2, STR-6, STR-12: events are a stream at once, whose bytes are read before the backend ends; and its death is told after them.
#[tokio::test]
async fn str_2_the_first_bytes_come_before_the_last() {
    let (client, feed) = fed("text/event-stream").await;
    let opened = open(&client).await;
    assert_eq!(
        [&opened["status"], &opened["bodyType"], &opened["mode"]],
        [&json!(200), &json!("stream"), &json!("pull")]
    );
    assert_eq!(opened["headers"]["content-type"], "text/event-stream");
    let id = &opened["streamId"];
    feed.send(Ok(b"data: one\n\n")).await.expect("it is read");
    let first = read(&client, id, 0).await;
    assert_eq!([text(&first), first["done"].to_string()], ["data: one\n\n", "false"]);
    feed.send(Ok(b"data: two\n\n")).await.expect("it is read");
    feed.send(Err("the cable at 10.0.0.7 broke")).await.expect("it is read");
    let second = read(&client, id, 11).await;
    assert_eq!(text(&second), "data: two\n\n");
    let end = if second["done"] == true { second } else { read(&client, id, 22).await };
    assert_eq!(end["error"]["code"], "network");
    assert!(!end.to_string().contains("10.0.0.7"));
}

// STR-5: whoever ends a stream, by its tool or by giving a read up, ends it at the backend.
#[tokio::test]
async fn str_5_an_ended_stream_ends_at_the_backend() {
    use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
    use rmcp::service::PeerRequestOptions;

    let (client, feed) = fed("text/event-stream").await;
    let id = open(&client).await["streamId"].clone();
    call_tool(&client, "http_stream_cancel", "", json!({ "streamId": id })).await;
    feed.closed().await;
    assert_eq!(read(&client, &id, 0).await["error"]["code"], "bad_request");

    let (client, feed) = fed("text/event-stream").await;
    let id = open(&client).await["streamId"].clone();
    let arguments = json!({ "streamId": id, "offset": 0 }).as_object().cloned().expect("an object");
    let params = CallToolRequestParams::new("http_stream_read").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let reading = client
        .send_cancellable_request(request, PeerRequestOptions::default())
        .await
        .expect("it is sent");
    reading.cancel(None).await.expect("it is told");
    feed.closed().await;
}

// STR-12: what is small and there at once travels whole, and so does everything where view or route know no streams.
#[tokio::test]
async fn str_12_what_is_small_travels_whole() {
    let router = || {
        Router::new().route("/feed", get(|| async { ([("content-type", "text/plain")], "small") }))
    };
    for (route, stream) in [
        (Route::get("/feed").streams(), true),
        (Route::get("/feed").streams(), false),
        (Route::get("/feed"), true),
    ] {
        let client = connect(HttpProxy::tower(router()).route(route)).await;
        let whole = data(&call(&client, json!({ "url": "/feed", "stream": stream })).await);
        assert_eq!([&whole["body"], &whole["bodyType"]], [&json!("small"), &json!("text")]);
    }
    let client = connect(HttpProxy::tower(router()).route(Route::get("/feed"))).await;
    assert_eq!(
        client.list_all_tools().await.expect("it lists").len(),
        1,
        "no stream, no tools for them"
    );
}

// STR-1, STR-3: every byte arrives, and the server holds a window and one piece, however much there is.
#[tokio::test]
async fn str_3_the_reader_sets_the_pace() {
    let taken = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&taken);
    let router = Router::new()
        .route("/feed", get(move || async move { Body::new(Gibibyte { taken: count }) }));
    let client = connect(HttpProxy::tower(router).route(Route::get("/feed").streams())).await;
    let opened = open(&client).await;
    let window = opened["windowBytes"].as_u64().expect("a number");
    let mut offset = 0;
    for _ in 0..40 {
        let answer = read(&client, &opened["streamId"], offset).await;
        let bytes =
            BASE64.decode(answer["data"].as_str().expect("text").as_bytes()).expect("base64");
        assert!(bytes.iter().all(|&byte| byte == 7) && !bytes.is_empty());
        let before = offset;
        offset += bytes.len() as u64;
        assert_eq!(
            [answer["offset"].as_u64(), answer["nextOffset"].as_u64()],
            [Some(before), Some(offset)]
        );
        let held = taken.load(Ordering::SeqCst) - before;
        assert!(held <= window + PIECE, "{held} bytes are held");
    }
    assert!(offset > 8 << 20);
}

// STR-9, FSE-13, ATK-50: a handle is good for who opened it, and for nobody else.
#[tokio::test]
async fn str_9_a_handle_belongs_to_a_person() {
    let router = Router::new()
        .route("/feed", get(|| async { Body::new(Gibibyte { taken: Arc::default() }) }));
    let proxy = HttpProxy::tower(router).route(Route::get("/feed").streams()).credentials(
        |context| async move {
            let person = context
                .meta
                .0
                .0
                .get("example.com/person")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            Ok(Credentials::of(person))
        },
    );
    let client = connect(proxy).await;
    let opened = data(&call_as(&client, "ada", json!({ "url": "/feed", "stream": true })).await);
    let id = &opened["streamId"];
    assert_eq!(id.as_str().map(str::len), Some(32));
    let arguments = || json!({ "streamId": id, "offset": 0 });
    let eves = call_tool(&client, "http_stream_read", "eve", arguments()).await;
    assert_eq!(data(&eves)["error"]["code"], "bad_request");
    call_tool(&client, "http_stream_cancel", "eve", arguments()).await;
    let adas = call_tool(&client, "http_stream_read", "ada", arguments()).await;
    assert_eq!(data(&adas)["offset"], 0);
}
