//! Streamable HTTP in its plainest form: every request is a POST, and its answer the JSON that comes back.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
};

use super::hub::Ask;

struct Desk {
    port: u16,
    asks: mpsc::Sender<Ask>,
}

/// Serves for as long as the process runs.
pub(super) async fn serve(port: u16, asks: mpsc::Sender<Ask>) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await;
    let listener = listener.with_context(|| format!("port {port} is taken; choose another"))?;
    let port = listener.local_addr()?.port();
    eprintln!("transom: http://127.0.0.1:{port}/mcp");
    let router = Router::new()
        .route("/mcp", post(answer))
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(Arc::new(Desk { port, asks }));
    transom_host::serve(listener, router).await;
    Ok(())
}

async fn answer(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Response {
    // A page of some website may call this port too, under any name that leads here; neither is meant.
    if !desk.is_meant(&headers) {
        return (StatusCode::FORBIDDEN, "only programs of this machine may call\n").into_response();
    }
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return refuse(&Value::Null, -32700, "the body is no JSON");
    };
    if !message.is_object() {
        return refuse(&Value::Null, -32600, "expected one JSON-RPC message");
    }
    let Some(id) = message.get("id").filter(|_| message.get("method").is_some()).cloned() else {
        // Ids of several clients may be equal, so that it is not known whose request is cancelled.
        if message["method"] != "notifications/cancelled" {
            let _ = desk.asks.send(Ask::Tell(message)).await;
        }
        return StatusCode::ACCEPTED.into_response();
    };
    let (reply, answer) = oneshot::channel();
    let _ = desk.asks.send(Ask::Request(message, reply)).await;
    match answer.await {
        Ok(mut answer) => {
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = id;
            respond(&answer)
        }
        Err(_) => refuse(&id, -32603, "transom is ending"),
    }
}

impl Desk {
    fn is_meant(&self, headers: &HeaderMap) -> bool {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        host.is_some_and(|host| names.iter().any(|name| name == host))
            && origin
                .is_none_or(|origin| names.iter().any(|name| origin == format!("http://{name}")))
    }
}

fn refuse(id: &Value, code: i32, message: &str) -> Response {
    respond(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}

fn respond(message: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], message.to_string()).into_response()
}

/// What the transport to the page lets through.
const LARGEST: usize = 4 << 20;
