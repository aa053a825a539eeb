//! Backends to ask: one that repeats what it was asked, in this process and on a port, and one that is written byte for byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use transom_server::{HttpProxy, Route};

/// The requests that a backend saw.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Value>>>);

impl Seen {
    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().expect("no holder panics").clone()
    }

    pub(crate) fn last(&self) -> Value {
        self.all().last().cloned().expect("it was asked")
    }
}

/// Opens what the tests ask for; `/secret` and `/admin` stay closed.
pub(crate) fn open(proxy: HttpProxy) -> HttpProxy {
    proxy
        .route(Route::get("/api/{*rest}"))
        .route(Route::post("/api/{*rest}").accepts("*/*").max_request(1 << 20))
        .route(Route::put("/api/{*rest}").accepts("application/json"))
        .route(Route::delete("/api/{*rest}"))
}

/// Nothing is open.
pub(crate) fn bare(seen: &Seen) -> HttpProxy {
    HttpProxy::tower(router(seen))
}

pub(crate) fn tower(seen: &Seen) -> HttpProxy {
    open(HttpProxy::tower(router(seen)))
}

/// The same on a port.
pub(crate) async fn upstream(seen: &Seen) -> HttpProxy {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    let router = router(seen);
    tokio::spawn(async move { axum::serve(listener, router).await });
    open(HttpProxy::upstream(format!("http://{address}")))
}

fn router(seen: &Seen) -> Router {
    Router::new()
        .route("/api/echo", any(echo))
        .route("/api/status/{code}", any(status))
        .route("/api/to/{code}", any(redirect))
        .route("/api/hops/{left}", get(hops))
        .route("/api/loop", get(|| async { moved(302, "/api/loop") }))
        .route("/api/large/{size}", any(|Path(size): Path<usize>| async move { "x".repeat(size) }))
        .route("/api/cached/{control}", get(cached))
        .route("/api/bytes/{kind}", get(bytes))
        .fallback(echo)
        .layer(axum::middleware::from_fn_with_state(seen.clone(), note))
        .with_state(seen.clone())
}

async fn note(
    State(seen): State<Seen>,
    request: Request,
    next: axum::middleware::Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 64 << 20).await.expect("it arrives");
    let headers: Vec<_> = parts
        .headers
        .iter()
        .map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())]))
        .collect();
    let body = BASE64.encode(&bytes);
    let asked = json!({ "method": parts.method.as_str(), "uri": parts.uri.path_and_query().map(ToString::to_string), "headers": headers, "body": body });
    seen.0.lock().expect("no holder panics").push(asked);
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

async fn echo(State(seen): State<Seen>) -> Response {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("x-kind", "echo"),
    ] {
        headers.append(name, value.parse().expect("it is a value"));
    }
    (headers, seen.last().to_string()).into_response()
}

async fn status(Path(code): Path<u16>) -> Response {
    let code = StatusCode::from_u16(code).expect("the test knows codes");
    (code, "a body").into_response()
}

async fn redirect(Path(code): Path<u16>, request: Request) -> Response {
    moved(code, request.uri().query().unwrap_or_default())
}

async fn hops(Path(left): Path<u32>) -> Response {
    if left == 0 { "there".into_response() } else { moved(302, &format!("/api/hops/{}", left - 1)) }
}

fn moved(code: u16, to: &str) -> Response {
    let code = StatusCode::from_u16(code).expect("the test knows codes");
    (code, [("location", to), ("set-cookie", "a=1")], "moved").into_response()
}

async fn cached(Path(control): Path<String>, State(seen): State<Seen>) -> Response {
    let body = format!("answer {}", seen.all().len());
    ([("cache-control", control.replace('~', "="))], body).into_response()
}

async fn bytes(Path(kind): Path<String>) -> Response {
    let (content_type, bytes) = match kind.as_str() {
        "latin" => ("text/plain; charset=iso-8859-1", b"caf\xe9".to_vec()),
        "large" => ("application/octet-stream", vec![7; 10 << 20]),
        "larger" => ("application/octet-stream", vec![7; (10 << 20) + 1]),
        _ => ("text/plain", Vec::new()),
    };
    ([("content-type", content_type)], bytes).into_response()
}

/// A backend that answers one connection with these bytes, and then says nothing more; it tells when the other side closes.
pub(crate) async fn raw(
    answer: impl Into<Vec<u8>>,
) -> (SocketAddr, tokio::sync::oneshot::Receiver<()>, tokio::sync::oneshot::Receiver<()>) {
    let answer = answer.into();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    let (asked, was_asked) = tokio::sync::oneshot::channel();
    let (closed, was_closed) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("somebody asks");
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer).await;
        let _ = stream.write_all(&answer).await;
        let _ = asked.send(());
        while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
        let _ = closed.send(());
    });
    (address, was_asked, was_closed)
}
