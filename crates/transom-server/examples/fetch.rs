//! A backend that a view and a tab can use alike: `fetch PAGE PLACE` shows the document PAGE, whose `fetch()` reaches the backend in this
//! process, and writes into the file PLACE where the same backend listens for a tab. `fetch PAGE PLACE ORIGIN` has the backend at ORIGIN.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::ws::{CloseFrame, Message, WebSocketUpgrade};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get};
use data_encoding::BASE64;
use rmcp::{ServerHandler, ServiceExt, tool_handler, tool_router};
use serde_json::json;
use transom_server::{HttpProxy, Route, Shown, ViewDef, Views};

#[derive(Clone)]
struct Server;

#[tool_router]
impl Server {
    /// Show the page.
    #[rmcp::tool(annotations(read_only_hint = true))]
    fn show(&self) -> Shown<()> {
        Shown::new("the page is open", ())
    }
}

#[tool_handler(name = "fetch", version = "1.0.0")]
impl ServerHandler for Server {}

/// Requests that never end, and how many of them were given up.
#[derive(Clone, Default)]
struct Slow {
    begun: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [page, place] = [1, 2].map(|at| std::env::args().nth(at).unwrap_or_default());
    let page = std::fs::read_to_string(page)?;
    let proxy = match std::env::args().nth(3) {
        Some(origin) => {
            std::fs::write(place, &origin)?;
            HttpProxy::upstream(origin)
        }
        None => {
            let backend = backend();
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
            std::fs::write(place, format!("http://{}", listener.local_addr()?))?;
            let tab = backend.clone();
            tokio::spawn(async move { axum::serve(listener, tab).await });
            HttpProxy::tower(backend)
        }
    };

    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let methods = methods.map(|method| method.parse().expect("it is a method"));
    let proxy = proxy
        .rate(1_000_000)
        .route(Route::socket("/socket.io/"))
        .route(Route::new(methods.clone(), "/socket.io/").accepts("text/plain").streams())
        .route(Route::socket("/ws/{kind}"))
        .route(Route::get("/stream/{*rest}").streams())
        .route(Route::get("/api/{*rest}"))
        .route(Route::new(methods, "/api/{*rest}").accepts("*/*").max_request(16 << 20));
    let view =
        ViewDef::new("ui://fetch/page").html(page).tool("show", transom_server::Audience::Both);
    let server = Views::wrap(Server).declare(view).http(proxy).build()?;
    server.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}

fn backend() -> Router {
    Router::new()
        .route("/", get(|| async { Html("<!doctype html><title>A tab</title>") }))
        .route("/api/echo", any(echo))
        .route("/api/status/{code}", any(status))
        .route("/api/to/{code}", any(redirect))
        .route("/api/hops/{left}", any(hops))
        .route("/api/bytes/{kind}", any(bytes))
        .route("/api/slow", any(slow))
        .route("/api/counts", get(counts))
        .route("/ws/echo", any(echo_socket))
        .route("/stream/drip", get(drip))
        .route("/stream/quiet", get(quiet))
        .route("/stream/zeros/{size}", get(zeros))
        .route("/stream/events", get(events))
        .layer(axum::middleware::from_fn(whole))
        .with_state(Slow::default())
}

/// Reads every body before it is answered: a connection whose body is left unread is closed, and a tab sees that.
async fn whole(request: Request, next: axum::middleware::Next) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 64 << 20).await.unwrap_or_default();
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

/// Repeats what it was asked, without what browsers add by themselves.
async fn echo(request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 64 << 20).await.unwrap_or_default();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let kept = |name: &str| {
        name.starts_with("x-")
            || ["accept", "content-type", "cache-control", "pragma", "range"].contains(&name)
    };
    let headers: Vec<_> = parts
        .headers
        .iter()
        .filter(|(name, _)| kept(name.as_str()))
        .map(|(name, value)| json!([name.as_str(), text(value)]))
        .collect();
    let uri = parts.uri.path_and_query().map(ToString::to_string);
    let told = json!({ "method": parts.method.as_str(), "uri": uri, "headers": headers, "body": BASE64.encode(&bytes) });
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json"),
        ("vary", "accept"),
        ("vary", "x-a"),
        ("x-echo", "caf\u{e9}"),
        ("set-cookie", "a=1"),
    ] {
        let latin1: Vec<u8> =
            value.chars().filter_map(|c| u8::try_from(u32::from(c)).ok()).collect();
        headers.append(name, HeaderValue::from_bytes(&latin1).expect("it is a value"));
    }
    (headers, told.to_string()).into_response()
}

async fn status(Path(code): Path<u16>) -> Response {
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_REQUEST);
    let empty = matches!(code.as_u16(), 204 | 205 | 304);
    (code, [("x-code", code.as_str().to_owned())], if empty { "" } else { "a body" })
        .into_response()
}

async fn redirect(Path(code): Path<u16>, request: Request) -> Response {
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_REQUEST);
    (code, [("location", request.uri().query().unwrap_or_default().to_owned())], "moved")
        .into_response()
}

async fn hops(Path(left): Path<u32>) -> Response {
    match left {
        0 => "there".into_response(),
        _ => (StatusCode::FOUND, [("location", format!("/api/hops/{}", left - 1))]).into_response(),
    }
}

async fn bytes(Path(kind): Path<String>) -> Response {
    let (content_type, bytes): (&str, Vec<u8>) = match kind.as_str() {
        "latin1" => ("text/plain; charset=iso-8859-1", b"caf\xe9".to_vec()),
        "utf16" => ("text/plain; charset=utf-16le", b"a\0b\0".to_vec()),
        "bom" => ("text/plain", b"\xef\xbb\xbfmarked".to_vec()),
        "nul" => ("text/plain", b"a\0b".to_vec()),
        "json" => {
            ("application/json", b"{\"a\": [1, 2.50, \"\\u00e4\"], \"__proto__\": {}}".to_vec())
        }
        "bad-json" => ("application/json", b"{".to_vec()),
        "html" => ("text/html; charset=utf-8", "<h1>k\u{e4}se</h1>".as_bytes().to_vec()),
        "form" => (
            "multipart/form-data; boundary=b",
            b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n".to_vec(),
        ),
        "binary" => ("application/octet-stream", (0..=255).collect()),
        "large" => {
            ("application/octet-stream", (0..5_000_000u32).map(|at| at.to_le_bytes()[1]).collect())
        }
        _ => ("text/plain", Vec::new()),
    };
    ([("content-type", content_type)], Body::from(bytes)).into_response()
}

/// Says nothing until it is given up, and counts that.
async fn slow(State(slow): State<Slow>) -> &'static str {
    struct Ended(Arc<AtomicUsize>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    slow.begun.fetch_add(1, Ordering::SeqCst);
    let _ended = Ended(slow.ended);
    std::future::pending().await
}

/// Repeats what it hears, until it is told how to end.
async fn echo_socket(upgrade: WebSocketUpgrade) -> Response {
    upgrade.protocols(["chat"]).on_upgrade(async |mut socket| {
        while let Some(Ok(message)) = socket.recv().await {
            let answer = match message {
                Message::Text(text) if text == "goodbye" => {
                    Message::Close(Some(CloseFrame { code: 4001, reason: "bye".into() }))
                }
                Message::Text(text) if text == "drop" => return,
                message @ (Message::Text(_) | Message::Binary(_)) => message,
                _ => continue,
            };
            if socket.send(answer).await.is_err() {
                return;
            }
        }
    })
}

/// Pieces that come one by one, as long as they are read; it is counted like a slow one.
async fn drip(State(slow): State<Slow>) -> Response {
    let (send, pieces) = tokio::sync::mpsc::channel(1);
    slow.begun.fetch_add(1, Ordering::SeqCst);
    tokio::spawn(async move {
        for at in 0..1_000_000 {
            if send.send(format!("piece {at}\n")).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        slow.ended.fetch_add(1, Ordering::SeqCst);
    });
    ([("content-type", "text/plain")], Body::new(Pieces(pieces))).into_response()
}

/// One piece, and then nothing until the reader has gone.
async fn quiet(State(slow): State<Slow>) -> Response {
    let (send, pieces) = tokio::sync::mpsc::channel(1);
    slow.begun.fetch_add(1, Ordering::SeqCst);
    tokio::spawn(async move {
        let _ = send.send("piece 0\n".to_owned()).await;
        send.closed().await;
        slow.ended.fetch_add(1, Ordering::SeqCst);
    });
    ([("content-type", "text/plain")], Body::new(Pieces(pieces))).into_response()
}

async fn zeros(Path(size): Path<usize>) -> Response {
    ([("content-type", "application/octet-stream")], Body::from(vec![0; size])).into_response()
}

/// Three events and the end; whoever comes back with an id gets what is after it.
async fn events(headers: HeaderMap) -> Response {
    let last =
        headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse::<u32>().ok());
    let first = last.map_or(1, |last| last + 1);
    let events = (first..first + 3)
        .map(|at| format!("id: {at}\nevent: tick\ndata: number {at}\ndata: of many\n\n"));
    let body = format!("retry: 50\n\n: a comment\ndata: hello\n\n{}", events.collect::<String>());
    ([("content-type", "text/event-stream; charset=utf-8")], body).into_response()
}

/// A body of pieces.
struct Pieces(tokio::sync::mpsc::Receiver<String>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|text| Ok(http_body::Frame::data(text.into()))))
    }
}

async fn counts(State(slow): State<Slow>) -> String {
    format!("{} {}", slow.begun.load(Ordering::SeqCst), slow.ended.load(Ordering::SeqCst))
}
