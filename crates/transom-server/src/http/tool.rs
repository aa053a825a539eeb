//! The tool as it is listed, and its results.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use transom::routes::{HANDLES, Handling};

use super::body;
use super::cache::Whole;
use super::failure::Failure;
use super::headers;
use super::route::Route;
use crate::view::{Audience, link_meta};

/// The tools of a proxy: one that carries requests, and, where a route has streams, those that read them.
pub(crate) fn all(routes: &[Route], keeps: bool) -> Vec<Tool> {
    let (sockets, routes): (Vec<_>, Vec<_>) = routes.iter().cloned().partition(|it| it.sockets);
    let mut tools = vec![request(&routes, keeps)];
    if routes.iter().any(|route| route.streams) {
        let [mut stream, read, cancel] = of_streams();
        handles(
            &mut tools[0],
            Handling { gives: Some((STREAM_ID.into(), CANCEL.into())), ..Handling::default() },
        );
        stream.meta.clone_from(&tools[0].meta);
        tools.extend([stream, read, cancel]);
    }
    if !sockets.is_empty() {
        tools.extend(of_sockets(&sockets));
    }
    tools
}

/// The tools of WebSockets. Whether one is opened is for hosts to judge, by its route; what is done with it was decided then.
fn of_sockets(routes: &[Route]) -> [Tool; 4] {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer", "minimum": 0 });
    let schema = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    let id = CONNECTION_ID;
    let make = |name: &'static str, words: &'static str, schema: Value| {
        let mut tool = Tool::new(name, words, Arc::new(object(schema)));
        tool.meta = Some(link_meta(None, Audience::App));
        tool
    };
    let connect = json!({ "url": text, "protocols": { "type": "array", "items": text }, "headers": { "type": "object" } });
    let mut tools = [
        make(
            WS_CONNECT,
            "Opens a WebSocket of this server's views to its backend.",
            schema(connect, &["url"]),
        ),
        make(
            WS_SEND,
            "Sends a message on a WebSocket that is open.",
            schema(json!({ id: text, "seq": number, "text": text, "base64": text }), &[id, "seq"]),
        ),
        make(
            WS_RECEIVE,
            "Receives messages from a WebSocket that is open.",
            schema(json!({ id: text, "afterSeq": number, "waitMs": number }), &[id]),
        ),
        make(
            WS_CLOSE,
            "Closes a WebSocket.",
            schema(json!({ id: text, "code": number, "reason": text }), &[id]),
        ),
    ];
    let declared: Vec<_> = routes.iter().map(Route::declared).collect();
    let [connect, others @ ..] = &mut tools;
    let gives = Some((id.to_owned(), WS_CLOSE.to_owned()));
    handles(connect, Handling { gives, ..Handling::default() });
    connect.meta.get_or_insert_default().0.insert(ROUTES.to_owned(), json!({ "routes": declared }));
    for tool in others {
        tool.annotations =
            Some(ToolAnnotations::from_raw(None, Some(true), None, None, Some(false)));
        let over = (tool.name == WS_RECEIVE).then(|| "done".to_owned());
        handles(tool, Handling { takes: Some(id.to_owned()), over, ..Handling::default() });
    }
    tools
}

/// Data, with one line of words beside it.
pub(crate) fn plain(words: String, data: Value) -> CallToolResult {
    shaped(words, data)
}

fn request(routes: &[Route], keeps: bool) -> Tool {
    let cache =
        if keeps { "It keeps responses for each person apart" } else { "It keeps no responses" };
    let words =
        format!("Carries the HTTP requests of this server's views to its backend. {cache}.");
    let mut tool = Tool::new(REQUEST, words, Arc::new(object(input())));
    tool.output_schema = Some(Arc::new(object(output())));
    let mut meta = link_meta(None, Audience::App);
    let routes: Vec<_> = routes.iter().map(Route::declared).collect();
    meta.0.insert(ROUTES.to_owned(), json!({ "routes": routes }));
    tool.meta = Some(meta);
    tool
}

/// Says what a tool does with handles, so that hosts keep those of one view from others and end what is left behind (FSE-13).
fn handles(tool: &mut Tool, handling: Handling) {
    let meta = tool.meta.get_or_insert_default();
    meta.0.insert(HANDLES.to_owned(), handling.declared());
}

/// A response as the view gets it: once, with one line of words beside it (RES-13, DEF-7).
pub(crate) fn answer(method: &str, whole: Whole, hidden: &[http::HeaderName]) -> CallToolResult {
    let status = whole.status.as_u16();
    let content_type = whole.headers.get("content-type").and_then(|value| value.to_str().ok());
    let size = whole.bytes.len();
    // RES-2, RES-3: these have none, whatever came.
    let empty = method == "HEAD" || matches!(status, 204 | 205 | 304);
    let (body, body_type) =
        if empty { (Value::Null, "none") } else { body::write(whole.bytes, content_type) };
    let words = format!("{method} {} {status}, {size} bytes", whole.target.path());
    shaped(
        words,
        json!({
            "status": status,
            "statusText": whole.status.canonical_reason().unwrap_or_default(),
            "headers": headers::of_backend(&whole.headers, hidden),
            "body": body,
            "bodyType": body_type,
            "url": whole.target.relative(),
            "redirected": whole.redirected,
            "ok": whole.status.is_success(),
        }),
    )
}

/// The head of a response whose body is read bit by bit.
pub(crate) fn streamed(
    method: &str,
    head: Whole,
    hidden: &[http::HeaderName],
    id: &str,
    idle: Duration,
) -> CallToolResult {
    let mut result = answer(method, Whole { bytes: Bytes::new(), ..head }, hidden);
    if let Some(Value::Object(data)) = &mut result.structured_content {
        let more = json!({
            "body": null, "bodyType": "stream", "streamId": id, "mode": "pull", "chunkEncoding": "base64",
            "windowBytes": super::stream::CHUNK, "expiresInMs": u64::try_from(idle.as_millis()).unwrap_or(u64::MAX),
        });
        data.extend(object(more));
    }
    result
}

/// What a read brought: the data once, and how far it is.
pub(crate) fn read(answer: Value) -> CallToolResult {
    let words = format!("{} to {}", answer["offset"], answer["nextOffset"]);
    shaped(words, answer)
}

pub(crate) fn cancelled() -> CallToolResult {
    shaped("the stream is closed".to_owned(), json!({ "done": true }))
}

/// The tools by which a stream is read and ended. They read, as far as a host is concerned: what is asked for was decided before.
fn of_streams() -> [Tool; 3] {
    let id = json!({ "type": "string" });
    let number = json!({ "type": "integer", "minimum": 0 });
    let read = json!({
        "type": "object",
        "properties": { "streamId": id, "offset": number, "maxBytes": number, "waitMs": number },
        "required": ["streamId", "offset"],
    });
    let cancel =
        json!({ "type": "object", "properties": { "streamId": id }, "required": ["streamId"] });
    let make = |name: &'static str, words: &'static str, schema: Value| {
        let mut tool = Tool::new(name, words, Arc::new(object(schema)));
        tool.meta = Some(link_meta(None, Audience::App));
        tool
    };
    let mut tools = [
        make(
            STREAM,
            "Carries an HTTP request of this server's views, whose response they read bit by bit.",
            input(),
        ),
        make(READ, "Reads on in a response of this server's backend.", read),
        make(CANCEL, "Ends a response of this server's backend.", cancel),
    ];
    for tool in &mut tools[1..] {
        tool.annotations =
            Some(ToolAnnotations::from_raw(None, Some(true), None, None, Some(false)));
        let over = Some("done".to_owned());
        handles(tool, Handling { takes: Some(STREAM_ID.into()), over, ..Handling::default() });
    }
    tools
}

/// A redirect that the view wants to see: that there was one, and nothing of it (RES-10).
pub(crate) fn opaque(method: &str, url: &str) -> CallToolResult {
    shaped(
        format!("{method} a redirect, not followed"),
        json!({
            "status": 0, "statusText": "", "headers": {}, "body": null, "bodyType": "none", "url": url, "redirected": false, "ok": false,
            "type": "opaqueredirect",
        }),
    )
}

/// Too much was asked: a real response, marked as ours (ERR-3).
pub(crate) fn limited(method: &str, url: &str, seconds: u64) -> CallToolResult {
    shaped(
        format!("{method} 429, too many requests"),
        json!({
            "status": 429, "statusText": "Too Many Requests",
            "headers": { "content-type": "text/plain;charset=utf-8", "retry-after": seconds.to_string(), SYNTHETIC: "limit" },
            "body": "This app asks too much. Try again later.", "bodyType": "text", "url": url, "redirected": false, "ok": false,
        }),
    )
}

/// Nothing came of it; `reached` if the backend has the request all the same, so that the caller does not take it for undone.
pub(crate) fn failed(failure: &Failure, reached: bool) -> CallToolResult {
    let mut error = json!({ "code": failure.code.as_str(), "message": failure.words });
    let mut words = format!("{}: {}", failure.code.as_str(), failure.words);
    if reached {
        error["reached"] = true.into();
        words.push_str(" (the backend has been reached)");
    }
    let mut result = shaped(words, json!({ "error": error }));
    result.is_error = Some(true);
    result
}

fn shaped(words: String, data: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
    result.structured_content = Some(data);
    result
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "method": { "type": "string", "default": "GET" },
            "url": { "type": "string", "maxLength": 8192, "description": "A path with its query, such as /api/cart?x=1" },
            "headers": { "type": "object", "additionalProperties": { "type": "string" } },
            "body": {},
            "bodyType": { "type": "string", "enum": ["none", "json", "text", "formData", "urlEncoded", "base64"] },
            "redirect": { "type": "string", "enum": ["follow", "error", "manual"] },
            "cache": { "type": "string", "enum": ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"] },
            "credentials": { "type": "string", "enum": ["omit", "same-origin", "include"] },
            "timeoutMs": { "type": "integer", "minimum": 1 },
            "stream": { "type": "boolean", "description": "Whether a response may be answered with a streamId, to be read by http_stream_read" },
        },
        "required": ["url"],
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "integer" },
            "statusText": { "type": "string" },
            "headers": { "type": "object", "additionalProperties": { "type": "string" } },
            "body": {},
            "bodyType": { "type": "string", "enum": ["none", "text", "base64", "stream"] },
            "streamId": { "type": "string" },
            "url": { "type": "string" },
            "redirected": { "type": "boolean" },
            "ok": { "type": "boolean" },
            "type": { "type": "string" },
        },
        "required": ["status", "headers", "bodyType"],
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// The name that the proposal gives it.
pub(crate) const REQUEST: &str = "http_request";
pub(crate) const STREAM: &str = "http_request_stream";
pub(crate) const READ: &str = "http_stream_read";
pub(crate) const CANCEL: &str = "http_stream_cancel";
pub(crate) const WS_CONNECT: &str = "ws_connect";
pub(crate) const WS_SEND: &str = "ws_send";
pub(crate) const WS_RECEIVE: &str = "ws_receive";
pub(crate) const WS_CLOSE: &str = "ws_close";
/// Under which a tool's `_meta` declares what it opens.
const ROUTES: &str = transom::routes::DECLARED;
/// The member that a stream's handle has in results and in arguments.
const STREAM_ID: &str = "streamId";
/// The same of a WebSocket.
const CONNECTION_ID: &str = "connectionId";
/// Marks a response that no backend made.
const SYNTHETIC: &str = "x-transom-synthetic";
