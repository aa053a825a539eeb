//! Reads a message with the wire types and prints it again.
//!
//! What comes out is what somebody who writes with these types can emit: the fixtures are held
//! against it, and the schema check runs it through the published schemas.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use transom::wire::{
    ActionResult, CallToolParams, CallToolResult, CancelledParams, CreateMessageParams,
    DisplayModeResult, DownloadFileParams, EmptyParams, EmptyResult, HostContext, InitializeParams,
    InitializeResult, ListParams, ListToolsResult, LogParams, MessageParams, OpenLinkParams,
    ProgressParams, ReadResourceParams, RequestDisplayModeParams, SandboxResourceReadyParams,
    SizeChangedParams, TeardownParams, ToolCancelledParams, ToolInputParams,
    UpdateModelContextParams, method,
};

/// Reads a whole message and prints it; none if its body cannot be read.
///
/// A response does not say what it answers, so the caller does.
pub(crate) fn message(message: &Value, answers: Option<&str>) -> Option<Value> {
    let mut printed = json!({ "jsonrpc": "2.0" });
    if let Some(id) = message.get("id") {
        printed["id"] = id.clone();
    }
    if let Some(body) = message.get("result") {
        printed["result"] = result(answers?, &body.to_string())?;
        return Some(printed);
    }
    let method = method::canonical(message.get("method")?.as_str()?);
    printed["method"] = json!(method);
    if let Some(body) = message.get("params") {
        printed["params"] = params(method, &body.to_string())?;
    }
    Some(printed)
}

/// Reads and prints the params of a request or notification.
#[rustfmt::skip]
fn params(method: &str, text: &str) -> Option<Value> {
    match method {
        method::INITIALIZE => reprint::<InitializeParams>(text),
        method::INITIALIZED | method::REQUEST_TEARDOWN | method::PING
        | method::TOOLS_LIST_CHANGED | method::RESOURCES_LIST_CHANGED
        | method::PROMPTS_LIST_CHANGED | method::SANDBOX_PROXY_READY => reprint::<EmptyParams>(text),
        method::SIZE_CHANGED => reprint::<SizeChangedParams>(text),
        method::OPEN_LINK => reprint::<OpenLinkParams<'_>>(text),
        method::DOWNLOAD_FILE => reprint::<DownloadFileParams<'_>>(text),
        method::MESSAGE => reprint::<MessageParams>(text),
        method::REQUEST_DISPLAY_MODE => reprint::<RequestDisplayModeParams>(text),
        method::UPDATE_MODEL_CONTEXT => reprint::<UpdateModelContextParams<'_>>(text),
        method::TOOLS_CALL => reprint::<CallToolParams<'_>>(text),
        method::TOOLS_LIST | method::RESOURCES_LIST | method::RESOURCES_TEMPLATES_LIST
        | method::PROMPTS_LIST => reprint::<ListParams<'_>>(text),
        method::RESOURCES_READ => reprint::<ReadResourceParams<'_>>(text),
        method::SAMPLING_CREATE_MESSAGE => reprint::<CreateMessageParams<'_>>(text),
        method::LOG => reprint::<LogParams<'_>>(text),
        method::CANCELLED => reprint::<CancelledParams>(text),
        method::PROGRESS => reprint::<ProgressParams>(text),
        method::TOOL_INPUT_PARTIAL | method::TOOL_INPUT => reprint::<ToolInputParams<'_>>(text),
        method::TOOL_RESULT => reprint::<CallToolResult<'_>>(text),
        method::TOOL_CANCELLED => reprint::<ToolCancelledParams>(text),
        method::HOST_CONTEXT_CHANGED => reprint::<HostContext>(text),
        method::RESOURCE_TEARDOWN => reprint::<TeardownParams>(text),
        method::SANDBOX_RESOURCE_READY => reprint::<SandboxResourceReadyParams<'_>>(text),
        _ => None,
    }
}

/// Reads and prints the result of a request.
#[rustfmt::skip]
fn result(method: &str, text: &str) -> Option<Value> {
    match method {
        method::INITIALIZE => reprint::<InitializeResult>(text),
        method::OPEN_LINK | method::DOWNLOAD_FILE | method::MESSAGE => reprint::<ActionResult>(text),
        method::REQUEST_DISPLAY_MODE => reprint::<DisplayModeResult>(text),
        method::PING | method::UPDATE_MODEL_CONTEXT | method::RESOURCE_TEARDOWN => {
            reprint::<EmptyResult>(text)
        }
        method::TOOLS_CALL => reprint::<CallToolResult<'_>>(text),
        method::TOOLS_LIST => reprint::<ListToolsResult>(text),
        _ => None,
    }
}

fn reprint<'a, T: Deserialize<'a> + Serialize>(text: &'a str) -> Option<Value> {
    let read: T = serde_json::from_str(text).ok()?;
    // By way of text: a raw value has no other form that can be read back.
    let printed = serde_json::to_string(&read).expect("what was read prints");
    Some(serde_json::from_str(&printed).expect("what was printed is JSON"))
}
