//! The tool as it is listed, and its results.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::{Map, Value, json};

use super::body;
use super::cache::Whole;
use super::failure::Failure;
use super::headers;
use super::route::Route;
use crate::view::{Audience, link_meta};

/// The tool that carries a request.
pub(crate) fn request(routes: &[Route], keeps: bool) -> Tool {
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

pub(crate) fn failed(failure: &Failure) -> CallToolResult {
    let mut result = shaped(
        format!("{}: {}", failure.code.as_str(), failure.words),
        json!({ "error": { "code": failure.code.as_str(), "message": failure.words } }),
    );
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
            "bodyType": { "type": "string", "enum": ["none", "text", "base64"] },
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
/// Under which a tool's `_meta` declares what it opens.
const ROUTES: &str = "transom/http";
/// Marks a response that no backend made.
const SYNTHETIC: &str = "x-transom-synthetic";
