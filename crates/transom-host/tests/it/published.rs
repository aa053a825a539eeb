//! Servers that people run, unchanged.

use std::time::Duration;

use transom_host::upstream::{
    CallError, CallOptions, Era, Event, Health, Target, Update, Upstream,
};

use crate::{
    node::{Listening, script, stdio},
    wishes::{call, event, options, outcome, request, result, settled},
};

const VANILLA: &str = "server-basic-vanillajs";
const EVERYTHING: &str = "server-everything";

#[tokio::test]
async fn vanilla_over_stdio() {
    let Some(script) = script(VANILLA, "vanilla_over_stdio") else { return };
    vanilla(stdio(&script, "--stdio")).await;
}

#[tokio::test]
async fn vanilla_over_http() {
    let Some(script) = script(VANILLA, "vanilla_over_http") else { return };
    let server = Listening::start(&script, "").await;
    vanilla(server.target()).await;
}

/// Connects, finds the tool and its view, reads the view, calls the tool.
async fn vanilla(target: Target) {
    let upstream = Upstream::connect(target, options()).await.unwrap();
    let server = upstream.server();
    assert_eq!(server.era, Era::Greeting);
    assert_eq!(server.protocol_version, "2025-11-25");
    // H-03: it does not advertise the extension, and is a server with views all the same.
    assert!(!server.raw.get().contains("io.modelcontextprotocol/ui"));

    let listing = upstream.tools();
    let tool = listing.get("get-time").expect("its only tool");
    assert_eq!(listing.tools().for_model().count(), 1);
    let uri = tool.meta.resource_uri.as_ref().expect("a view").as_str();

    let view = upstream.read_resource(uri).await.unwrap();
    assert!(view.get().contains("text/html;profile=mcp-app") && view.get().len() > 200_000);

    let time = result(&upstream, "tools/call", r#"{"name":"get-time","arguments":{}}"#).await;
    assert_eq!(time["content"][0]["text"], time["structuredContent"]["time"]);
    upstream.close().await;
}

#[tokio::test]
async fn everything_over_stdio() {
    let Some(script) = script(EVERYTHING, "everything_over_stdio") else { return };
    everything(stdio(&script, "stdio")).await;
}

#[tokio::test]
async fn everything_over_http() {
    let Some(script) = script(EVERYTHING, "everything_over_http") else { return };
    let server = Listening::start(&script, "streamableHttp").await;
    everything(server.target()).await;
}

/// Arguments, errors, progress in order, cancellation.
async fn everything(target: Target) {
    let upstream = Upstream::connect(target, options()).await.unwrap();
    assert!(upstream.tools().iter().count() > 5);

    let echo = r#"{"name":"echo","arguments":{"message":"Grüße"}}"#;
    assert_eq!(result(&upstream, "tools/call", echo).await["content"][0]["text"], "Echo: Grüße");

    let long = r#"{"name":"trigger-long-running-operation","arguments":{"duration":1,"steps":5}}"#;
    let progress = CallOptions { progress: true, ..CallOptions::default() };
    let mut running = upstream.call(&request("tools/call", long), progress).unwrap();
    let mut steps = vec![];
    let outcome_of_long = loop {
        match running.next().await.unwrap() {
            Update::Progress(params) => {
                let params: serde_json::Value = serde_json::from_str(params.get()).unwrap();
                steps.push(params["progress"].as_u64().unwrap());
            }
            Update::Done(outcome) => break outcome,
        }
    };
    assert!(outcome_of_long.unwrap().get().contains("completed"));
    assert!(steps.len() >= 4 && steps.is_sorted(), "{steps:?}");

    let slow = r#"{"name":"trigger-long-running-operation","arguments":{"duration":30,"steps":1}}"#;
    call(&upstream, "tools/call", slow).cancel("the test is over");
    let unknown = outcome(&upstream, "no/such/method", "{}").await;
    assert!(matches!(unknown, Err(CallError::Refused(ref refusal)) if refusal.code == -32601));
    assert_eq!(result(&upstream, "tools/call", echo).await["content"][0]["text"], "Echo: Grüße");
    upstream.close().await;
}

#[tokio::test]
async fn a_session_that_a_new_server_does_not_know_is_replaced() {
    let name = "a_session_that_a_new_server_does_not_know_is_replaced";
    let Some(script) = script(EVERYTHING, name) else { return };
    let mut server = Listening::start(&script, "streamableHttp").await;
    let mut options = options();
    options.restart.first = Duration::from_millis(200);
    options.restart.attempts = 10;
    let upstream = Upstream::connect(server.target(), options).await.unwrap();
    let mut events = upstream.events();
    server.replace(&script, "streamableHttp").await;
    let echo = r#"{"name":"echo","arguments":{"message":"again"}}"#;
    // Whether the standing stream noticed first or this call does: in the end it is answered.
    while upstream.health() != Health::Up {
        event(&mut events, |event| matches!(event, Event::Restarted)).await;
    }
    let answer = settled(call(&upstream, "tools/call", echo)).await;
    assert!(answer.unwrap().get().contains("Echo: again"));
    upstream.close().await;
}
