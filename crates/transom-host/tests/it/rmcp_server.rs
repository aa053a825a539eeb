//! A server built with rmcp, which speaks both eras, over pipes and over HTTP.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        MetaObject, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities,
        ServerConfig, ServerNotification, SubscriptionFilter, Tool, ToolListChangedNotification,
        object,
    },
    service::{RequestContext, SubscriptionContext},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify};
use transom::host::List;
use transom_host::upstream::{
    CallOptions, Endpoint, Era, Event, InProcess, Memo, Options, Remembered, Request, Target,
    Update, Upstream,
};

use crate::wishes::{BOUND, call, code, event, options, outcome, request, result};

#[derive(Clone, Default)]
struct App {
    /// Told when a slow call has begun.
    begun: Arc<Notify>,
    /// Told when it was taken back.
    cancelled: Arc<Notify>,
    /// Wakes whoever tells that the tools changed.
    changed: Arc<Notify>,
}

impl ServerHandler for App {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let shows = capabilities
            .extensions
            .is_some_and(|all| all.contains_key("io.modelcontextprotocol/ui"));
        let schema = object(json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
        }}));
        let mut tools: Vec<Tool> = ["count", "slow", "change"]
            .into_iter()
            .map(|name| Tool::new(name, "", schema.clone()))
            .collect();
        // H-01, H-02: a host that says that it shows views gets the tools that have one.
        if shows {
            let ui = object(json!({"ui": {"resourceUri": "ui://app/view"}}));
            tools.push(Tool::new("show", "", schema).with_meta(MetaObject(ui)));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*call.name {
            "count" => {
                let token = context.meta.get_progress_token();
                for step in 1..=5 {
                    let Some(token) = token.clone() else { break };
                    let progress = ProgressNotificationParam::new(token, f64::from(step));
                    let _ = context.peer.notify_progress(progress).await;
                }
            }
            "slow" => {
                self.begun.notify_one();
                context.ct.cancelled().await;
                self.cancelled.notify_one();
            }
            "change" => {
                self.changed.notify_one();
                let _ = context.peer.notify_tool_list_changed().await;
            }
            _ => {}
        }
        let mut result = CallToolResult::success(vec![ContentBlock::text("done")]);
        result.structured_content = Some(json!({"arguments": call.arguments}));
        Ok(result.into())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = ResourceContents::text("<p>hello", request.uri);
        Ok(ReadResourceResult::new(vec![contents.with_mime_type("text/html;profile=mcp-app")])
            .into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.changed.notified() => {
                    let changed = ToolListChangedNotification::default();
                    let changed = ServerNotification::ToolListChangedNotification(changed);
                    let _ = context.sink().send(changed).await;
                }
            }
        }
    }
}

fn in_process(app: App) -> Target {
    Target::InProcess(InProcess::new("rmcp", move || {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let app = app.clone();
        tokio::spawn(async move {
            if let Ok(running) = app.serve(tokio::io::split(theirs)).await {
                let _ = running.waiting().await;
            }
        });
        ours
    }))
}

async fn over_http(app: App, config: StreamableHttpServerConfig) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(app.clone()), sessions, config);
    let router = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Target::Http(Endpoint::new(url.parse().unwrap()))
}

/// Options that already know which era to speak.
fn remembering(target: &Target, era: Era) -> Options {
    let key = match target {
        Target::Http(endpoint) => endpoint.url.to_string(),
        _ => "in-process rmcp".to_owned(),
    };
    let memo = Arc::new(Remembered::default());
    memo.remember(&key, era);
    Options { memo, ..options() }
}

/// Everything that is the same in both eras and on both transports.
async fn story(target: Target, era: Era, app: &App) {
    let options = remembering(&target, era);
    let upstream = Upstream::connect(target, options).await.unwrap();
    assert_eq!(upstream.server().era, era);
    assert_eq!(upstream.server().info.name, "rmcp");

    let count = r#"{"name":"count","arguments":{"region":"Zürich"}}"#;
    let progress = CallOptions { progress: true, ..CallOptions::default() };
    let mut running = upstream.call(&request("tools/call", count), progress).unwrap();
    let mut steps = vec![];
    let done = loop {
        match running.next().await.unwrap() {
            Update::Progress(params) => {
                let params: Value = serde_json::from_str(params.get()).unwrap();
                steps.push(params["progress"].as_f64().unwrap());
            }
            Update::Done(outcome) => break outcome.unwrap(),
        }
    };
    assert_eq!(steps, [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(done.get().contains("Zürich"));
    assert_eq!(done.get().contains("resultType"), era == Era::Stateless, "passed on as it came");

    let slow = call(&upstream, "tools/call", r#"{"name":"slow"}"#);
    tokio::time::timeout(BOUND, app.begun.notified()).await.expect("the call arrives");
    slow.cancel("enough");
    tokio::time::timeout(BOUND, app.cancelled.notified()).await.expect("the server is told");

    assert_eq!(code(&outcome(&upstream, "no/such/method", "{}").await), Some(-32601));
    upstream.close().await;
}

/// What a server that knows what we can do tells us.
async fn views(target: Target, era: Era) {
    let options = remembering(&target, era);
    let upstream = Upstream::connect(target, options).await.unwrap();
    let listing = upstream.tools();
    let uri = listing.get("show").expect("H-01, H-02: advertised").meta.resource_uri.clone();
    let view = upstream.read_resource(uri.unwrap().as_str()).await.unwrap();
    assert!(view.get().contains("<p>hello"));

    // Where each request says what we can do, one of them may say something else.
    let request = Request::new("tools/list").without_views();
    let list = upstream.call(&request, CallOptions::default()).unwrap().outcome().await.unwrap();
    assert_eq!(list.get().contains("ui://app/view"), era == Era::Greeting);

    let mut events = upstream.events();
    result(&upstream, "tools/call", r#"{"name":"change"}"#).await;
    event(&mut events, |event| matches!(event, Event::ListChanged(List::Tools))).await;
    upstream.close().await;
}

#[tokio::test]
async fn over_pipes_in_both_eras() {
    for era in [Era::Greeting, Era::Stateless] {
        let app = App::default();
        story(in_process(app.clone()), era, &app).await;
        views(in_process(app), era).await;
    }
}

#[tokio::test]
async fn over_http_in_both_eras() {
    for era in [Era::Greeting, Era::Stateless] {
        let app = App::default();
        let target = over_http(app.clone(), StreamableHttpServerConfig::default()).await;
        story(target.clone(), era, &app).await;
        views(target, era).await;
    }
}

#[tokio::test]
async fn over_http_without_sessions() {
    let app = App::default();
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
    let target = over_http(app.clone(), config).await;
    let options = remembering(&target, Era::Greeting);
    let upstream = Upstream::connect(target, options).await.unwrap();
    assert_eq!(upstream.server().era, Era::Greeting);
    let count = r#"{"name":"count","arguments":{"region":"eu"}}"#;
    assert!(outcome(&upstream, "tools/call", count).await.is_ok());
}

#[tokio::test]
async fn over_http_with_answers_in_json() {
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let target = over_http(App::default(), config).await;
    let upstream = Upstream::connect(target, options()).await.unwrap();
    assert_eq!(upstream.server().era, Era::Stateless, "the newer era is found by itself");
    let count = r#"{"name":"count","arguments":{"region":"eu"}}"#;
    assert!(outcome(&upstream, "tools/call", count).await.is_ok());
}
