//! What a client gets depends on what it said, request by request.

use rmcp::model::{CacheScope, CallToolRequestParams, ReadResourceRequestParams};
use serde_json::json;
use transom_server::{Fallback, HostUi, Mode, Views, WithViews};

use crate::board::{Board, Card, Incidents};
use crate::clients::{Client, Connected, ERAS, Era, Http};

fn server(fallback: Fallback) -> WithViews<Incidents> {
    let views = Views::wrap(Incidents).view::<Board>().view::<Card>().fallback(fallback);
    views.build().expect("it is sound")
}

/// What a client sees of a server, in a word each.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    tools: Vec<String>,
    /// Whether the tool `show` names its view.
    linked: bool,
    resources: usize,
    /// Whether the tool for views answers.
    ack: bool,
    /// Whether a view can be read.
    read: bool,
    text: String,
}

async fn look(client: &Connected) -> Seen {
    let tools = client.list_all_tools().await.expect("there is a list");
    let show = tools.iter().find(|tool| tool.name == "show").expect("it is for everybody");
    let linked = show.meta.as_ref().is_some_and(|meta| meta.0.contains_key("ui"));
    let arguments = json!({ "team": "db" }).as_object().cloned();
    let call = CallToolRequestParams::new("show").with_arguments(arguments.expect("an object"));
    let shown = client.call_tool(call).await.expect("it is for everybody");
    let text = shown.content[0].as_text().expect("words come first").text.clone();
    let read = client.read_resource(ReadResourceRequestParams::new("ui://incidents/board")).await;
    Seen {
        linked,
        tools: tools.iter().map(|tool| tool.name.to_string()).collect(),
        resources: client.list_all_resources().await.expect("there is a list").len(),
        ack: client.call_tool(CallToolRequestParams::new("ack")).await.is_ok(),
        read: read.is_ok(),
        text,
    }
}

fn everything(ui: HostUi) -> Seen {
    let text = match ui {
        HostUi::No => "| db | 3 |".to_owned(),
        ui => format!("3 open incidents for db, {ui:?}"),
    };
    let tools = ["ack", "hello", "show"].map(str::to_owned).to_vec();
    Seen { tools, linked: true, resources: 2, ack: true, read: true, text }
}

fn without_app_tools() -> Seen {
    let tools = ["hello", "show"].map(str::to_owned).to_vec();
    Seen { tools, ack: false, ..everything(HostUi::No) }
}

fn without_views() -> Seen {
    Seen { linked: false, resources: 0, read: false, ..without_app_tools() }
}

// S-15, S-19, server-19, server-20.
#[tokio::test]
async fn server_19_each_policy_in_both_eras() {
    for era in ERAS {
        for policy in [Fallback::Auto, Fallback::Strict, Fallback::Off] {
            let client = Client::with_views().connect(server(policy.clone()), era).await;
            assert_eq!(look(&client).await, everything(HostUi::Yes), "{policy:?} {era:?}");
        }
        for (policy, expected) in [
            (Fallback::Auto, without_app_tools()),
            (Fallback::Strict, without_views()),
            (Fallback::Off, everything(HostUi::No)),
        ] {
            let client = Client::without_views().connect(server(policy.clone()), era).await;
            assert_eq!(look(&client).await, expected, "{policy:?} {era:?}");
        }
    }
}

// server-24: rmcp makes up empty capabilities for older clients over HTTP without sessions. Taking them for the
// client's word would hide every view from hosts that show them.
#[tokio::test]
async fn server_24_the_capability_is_read_per_request_over_http() {
    use HostUi::{Unknown, Yes};
    #[rustfmt::skip]
    let table = [
        // sessions  era              with views        without
        (true,       Era::Handshake,  everything(Yes),  without_app_tools()),
        (true,       Era::Stateless,  everything(Yes),  without_app_tools()),
        (false,      Era::Handshake,  everything(Unknown), everything(Unknown)),
        (false,      Era::Stateless,  everything(Yes),  without_app_tools()),
    ];
    for (sessions, era, with, without) in table {
        let http = Http::serve(server(Fallback::Auto), sessions).await;
        let client = http.connect(Client::with_views(), era, "").await;
        assert_eq!(look(&client).await, with, "{era:?} sessions: {sessions}");
        let client = http.connect(Client::without_views(), era, "").await;
        assert_eq!(look(&client).await, without, "{era:?} sessions: {sessions}");
    }
}

#[tokio::test]
async fn the_url_overrules_what_a_client_says() {
    let http = Http::serve(server(Fallback::Strict), true).await;
    for era in ERAS {
        let client = http.connect(Client::with_views(), era, "?a=b&ui=off").await;
        assert_eq!(look(&client).await, without_views());
        let client = http.connect(Client::without_views(), era, "?ui=on").await;
        assert_eq!(look(&client).await, everything(HostUi::Yes));
        let client = http.connect(Client::without_views(), era, "?ui=maybe").await;
        assert_eq!(look(&client).await, without_views());
    }
}

#[tokio::test]
async fn a_function_decides_by_what_is_known_about_a_client() {
    let policy = Fallback::by(|facts| match facts.client() {
        Some(client) if client.name == "a-client" && facts.ui() == HostUi::No => Mode::NoViews,
        _ => Mode::Everything,
    });
    for era in ERAS {
        let client = Client::without_views().connect(server(policy.clone()), era).await;
        assert_eq!(look(&client).await, without_views());
        let client = Client::with_views().connect(server(policy.clone()), era).await;
        assert_eq!(look(&client).await, everything(HostUi::Yes));
    }
}

// S-16: SDKs from before `extensions` wrote it there.
#[tokio::test]
async fn s_16_the_capability_is_also_found_under_experimental() {
    for era in ERAS {
        let mut client = Client::with_views();
        client.capabilities.experimental = client.capabilities.extensions.take();
        let client = client.connect(server(Fallback::Strict), era).await;
        assert_eq!(look(&client).await, everything(HostUi::Yes), "{era:?}");
    }
}

// server-13: rmcp's macro says that everybody may share its list.
#[tokio::test]
async fn server_13_what_differs_by_client_is_cache_private() {
    use CacheScope::{Private, Public};
    for (policy, tools) in
        [(Fallback::Auto, Private), (Fallback::Strict, Private), (Fallback::Off, Public)]
    {
        let client = Client::with_views().connect(server(policy.clone()), Era::Stateless).await;
        let scope = client.list_tools(None).await.expect("there is a list").cache_scope;
        assert_eq!(scope, Some(tools), "{policy:?}");
        let scope = client.list_resources(None).await.expect("there is a list").cache_scope;
        assert_eq!(scope, Some(Private), "rmcp says so itself");
    }
    let client = Client::with_views().connect(server(Fallback::Auto), Era::Handshake).await;
    assert_eq!(client.list_tools(None).await.expect("there is a list").cache_scope, None);
}

// What is hidden must not be found out by its name, and the refusal says what would help.
#[tokio::test]
async fn an_app_only_tool_is_refused_in_words() {
    let client = Client::without_views().connect(server(Fallback::Auto), Era::Handshake).await;
    let error =
        client.call_tool(CallToolRequestParams::new("ack")).await.expect_err("it is refused");
    assert!(error.to_string().contains("io.modelcontextprotocol/ui"), "{error}");
}
