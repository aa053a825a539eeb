//! Dev mode: files are read from disk, and whoever shows one is told when it changes.

use std::fs;

use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, ErrorCode, ReadResourceRequestParams, ResourceContents,
};
use rmcp::service::ServiceError;
use serde_json::{Value, json};
use tempfile::TempDir;
use transom_server::{Dev, ViewDef, Views, WithViews};

use crate::clients::{Client, Connected, ERAS, Era};

struct Plain;
impl ServerHandler for Plain {}

/// A folder with a view, and a server that follows it.
fn live() -> (TempDir, WithViews<Plain>) {
    let folder = tempfile::tempdir().expect("there is room");
    save(
        &folder,
        "index.html",
        "<!doctype html><title>One</title><script src=\"page.js\"></script>",
    );
    save(&folder, "page.js", "one()");
    let path = folder.path().to_str().expect("it is ASCII").to_owned().leak();
    let def = ViewDef::new("ui://live").dir(Some(path), &[]);
    let server = Views::wrap(Plain).declare(def).dev(Dev::on()).build().expect("it is sound");
    (folder, server)
}

fn save(folder: &TempDir, name: &str, text: &str) {
    let file = folder.path().join(name);
    fs::write(file.with_extension("new"), text).expect("there is room");
    fs::rename(file.with_extension("new"), file).expect("it is there");
}

async fn read(client: &Connected) -> Result<String, ServiceError> {
    let result = client.read_resource(ReadResourceRequestParams::new("ui://live")).await?;
    match result.contents.into_iter().next() {
        Some(ResourceContents::TextResourceContents { text, .. }) => Ok(text),
        other => panic!("{other:?}"),
    }
}

/// What a page around a view holds about it.
fn held(shell: &str) -> Value {
    let (_, held) = shell.split_once("id=\"view\">").expect("it holds the view");
    let (held, _) = held.split_once("</script>").expect("it ends");
    serde_json::from_str(held).expect("it is JSON")
}

async fn follow(client: &Connected, rev: &Value) -> Value {
    let arguments = json!({ "uri": "ui://live", "rev": rev }).as_object().cloned();
    let call = CallToolRequestParams::new(TOOL).with_arguments(arguments.expect("an object"));
    client.call_tool(call).await.expect("it answers").structured_content.expect("there is news")
}

#[tokio::test]
async fn a_change_is_told_to_whoever_waits_for_it() {
    for era in ERAS {
        let (folder, server) = live();
        let client = Client::with_views().connect(server, era).await;
        let shown = held(&read(&client).await.expect("it can be read"));
        let html = shown["html"].as_str().expect("a document");
        assert!(
            html.contains("<title>One</title>") && html.contains("<script>one()</script>"),
            "{html}"
        );
        assert!(html.contains("ui/initialize"), "the view script is in it");

        let (news, ()) = tokio::join!(follow(&client, &shown["rev"]), async {
            save(&folder, "page.js", "two('</script>')");
        });
        assert_ne!(news["rev"], shown["rev"]);
        let html = news["html"].as_str().expect("a document");
        assert!(html.contains("<script>two('\\x3c/script>')</script>"), "{html}");
        // Whoever shows an older one is told at once.
        assert_eq!(follow(&client, &json!("older")).await, news);
        assert_eq!(held(&read(&client).await.expect("it can be read"))["html"], news["html"]);
    }
}

#[tokio::test]
async fn a_file_that_is_missing_is_told_in_words_and_the_server_goes_on() {
    let (folder, server) = live();
    let client = Client::with_views().connect(server, Era::Handshake).await;
    let shown = held(&read(&client).await.expect("it can be read"));
    fs::remove_file(folder.path().join("page.js")).expect("it was there");

    let error = match read(&client).await {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
    assert!(error.message.contains("ui://live") && error.message.contains("page.js"), "{error}");
    let news = follow(&client, &shown["rev"]).await;
    assert!(news["error"].as_str().is_some_and(|words| words.contains("page.js")), "{news}");
    assert_eq!(news.get("html"), None);

    save(&folder, "page.js", "one()");
    let news = follow(&client, &news["rev"]).await;
    assert_eq!(news["rev"], shown["rev"]);
    assert!(read(&client).await.is_ok());
}

#[tokio::test]
async fn only_views_see_the_tool_and_only_in_dev_mode() {
    let (_folder, server) = live();
    let names = async |client: &Connected| -> Vec<String> {
        let tools = client.list_all_tools().await.expect("there is a list");
        tools.iter().map(|tool| tool.name.to_string()).collect()
    };
    let client = Client::with_views().connect(server.clone(), Era::Handshake).await;
    assert_eq!(names(&client).await, [TOOL]);
    // server-13: others get another list.
    let list = client.list_tools(None).await.expect("there is a list");
    assert_ne!(list.cache_scope, Some(CacheScope::Public));
    let client = Client::without_views().connect(server, Era::Handshake).await;
    assert!(names(&client).await.is_empty());
    assert!(client.call_tool(CallToolRequestParams::new(TOOL)).await.is_err());

    let def = ViewDef::new("ui://still").html("<!doctype html><title>Still</title>");
    let server = Views::wrap(Plain).declare(def).dev(Dev::off()).build().expect("it is sound");
    let client = Client::with_views().connect(server, Era::Handshake).await;
    assert!(names(&client).await.is_empty());
    assert!(client.call_tool(CallToolRequestParams::new(TOOL)).await.is_err());
}

const TOOL: &str = "transom_view_dev";
