//! Fetch over MCP: a view's requests, from the tool call to the backend and back.

mod backend;
mod hops;
mod policy;
mod reach;
mod responses;
mod sockets;
mod streams;

use rmcp::ServerHandler;
use rmcp::model::{CallToolRequestParams, CallToolResult, RequestMetaObject};
use serde_json::{Value, json, to_value};
use transom_server::{HttpProxy, Views};

use crate::clients::{Client, Connected, Era};

/// A server that has nothing but its proxy.
#[derive(Clone)]
pub(crate) struct Bare;

impl ServerHandler for Bare {}

pub(crate) async fn connect(proxy: HttpProxy) -> Connected {
    let server = Views::wrap(Bare).http(proxy).build().expect("it is sound");
    Client::with_views().connect(server, Era::Handshake).await
}

/// Calls the tool, and returns the whole result.
pub(crate) async fn call(client: &Connected, arguments: Value) -> CallToolResult {
    call_as(client, "", arguments).await
}

/// Calls the tool for a person, who stands in the request's `_meta`.
pub(crate) async fn call_as(client: &Connected, person: &str, arguments: Value) -> CallToolResult {
    call_tool(client, "http_request", person, arguments).await
}

/// Calls one of the tools.
pub(crate) async fn call_tool(
    client: &Connected,
    name: &'static str,
    person: &str,
    arguments: Value,
) -> CallToolResult {
    let arguments = arguments.as_object().cloned().expect("an object");
    let mut request = CallToolRequestParams::new(name).with_arguments(arguments);
    if !person.is_empty() {
        let mut meta = RequestMetaObject::default();
        meta.0.0.insert("example.com/person".to_owned(), person.into());
        request.meta = Some(meta);
    }
    client.call_tool(request).await.expect("it is answered")
}

/// The data of a result.
pub(crate) fn data(result: &CallToolResult) -> Value {
    result.structured_content.clone().unwrap_or_default()
}

/// What came of a request: its status, or the code of its failure.
pub(crate) async fn outcome(client: &Connected, arguments: Value) -> Value {
    let result = call(client, arguments).await;
    let data = data(&result);
    assert_eq!(result.is_error == Some(true), data.get("error").is_some(), "{data}");
    data.get("status").or_else(|| data["error"].get("code")).cloned().unwrap_or_default()
}

// FSE-12, ATK-50, server-23: the tool is for views alone, and says what it opens.
#[tokio::test]
async fn fse_12_only_views_see_and_call_the_tool() {
    let proxy = || backend::tower(&backend::Seen::default());
    for era in crate::clients::ERAS {
        let server = Views::wrap(Bare).http(proxy()).build().expect("it is sound");
        let client = Client::with_views().connect(server, era).await;
        let capabilities =
            to_value(&client.peer_info().expect("it said so").capabilities).expect("it is JSON");
        assert!(capabilities["tools"].is_object());
        let tools = client.list_all_tools().await.expect("it lists");
        let tool = to_value(&tools[0]).expect("it is JSON");
        assert_eq!(tool["name"], "http_request");
        assert_eq!(tool["_meta"]["ui"]["visibility"], json!(["app"]));
        let routes = tool["_meta"]["transom/http"]["routes"].as_array().cloned().expect("a list");
        assert_eq!(
            routes[0],
            json!({ "methods": ["GET", "HEAD"], "path": "/api/{*rest}", "effect": "reads" })
        );
        assert_eq!(tool["outputSchema"]["type"], "object");
        assert!(tool["description"].as_str().expect("words").contains("keeps no responses"));

        let server = Views::wrap(Bare).http(proxy()).build().expect("it is sound");
        let model = Client::without_views().connect(server, era).await;
        assert!(model.list_all_tools().await.expect("it lists").is_empty());
        let arguments = json!({ "url": "/api/x" }).as_object().cloned().expect("an object");
        let request = CallToolRequestParams::new("http_request").with_arguments(arguments);
        assert!(model.call_tool(request).await.is_err(), "{era:?}");
    }
}
