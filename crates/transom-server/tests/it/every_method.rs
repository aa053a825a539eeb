//! The wrapper passes on every method of a server. A method that is forgotten silently becomes rmcp's
//! default, so two things look out for new ones: `clippy::missing_trait_methods` here and on the wrapper.

use std::borrow::Cow;
use std::collections::HashSet;

use rmcp::model::*;
use rmcp::service::{
    NotificationContext, Peer, RequestContext, SubscriptionContext, serve_directly,
};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use transom_server::Views;

use crate::board::Card;
use crate::clients::{Client, Era};

/// A server that tells what it was asked.
struct Recorder {
    asked: UnboundedSender<&'static str>,
}

impl Recorder {
    fn new() -> (Self, UnboundedReceiver<&'static str>) {
        let (asked, heard) = unbounded_channel();
        (Self { asked }, heard)
    }

    fn note(&self, method: &'static str) {
        let _ = self.asked.send(method);
    }
}

type Cx = RequestContext<RoleServer>;
type Nx = NotificationContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

fn no<T>() -> Answer<T> {
    Err(ErrorData::internal_error("recorded", None))
}

#[deny(clippy::missing_trait_methods)]
#[expect(deprecated, reason = "all of them")]
#[rustfmt::skip]
impl ServerHandler for Recorder {
    fn get_info(&self) -> ServerConfig {
        self.note("get_info");
        ServerConfig::new(ServerCapabilities::builder().enable_resources().build())
    }
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.note("supported_protocol_versions");
        Cow::Borrowed(&[])
    }
    fn negotiate_initialize(&self, _: &InitializeRequestParams) -> Answer<InitializeResult> {
        self.note("negotiate_initialize");
        no()
    }
    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.note("accepted_subscription_filter");
        None
    }
    fn get_tool(&self, _: &str) -> Option<Tool> { self.note("get_tool"); None }
    async fn ping(&self, _: Cx) -> Answer<()> { self.note("ping"); no() }
    async fn initialize(&self, _: InitializeRequestParams, _: Cx) -> Answer<InitializeResult> {
        self.note("initialize");
        Ok(ServerConfig::default().with_protocol_version(ProtocolVersion::V_2025_11_25))
    }
    async fn discover(&self, _: Cx) -> Answer<DiscoverResult> { self.note("discover"); no() }
    async fn complete(&self, _: CompleteRequestParams, _: Cx) -> Answer<CompleteResult> { self.note("complete"); no() }
    async fn set_level(&self, _: SetLevelRequestParams, _: Cx) -> Answer<()> { self.note("set_level"); no() }
    async fn get_prompt(&self, _: GetPromptRequestParams, _: Cx) -> Answer<GetPromptResponse> { self.note("get_prompt"); no() }
    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: Cx) -> Answer<ListPromptsResult> { self.note("list_prompts"); no() }
    async fn list_resources(&self, _: Option<PaginatedRequestParams>, _: Cx) -> Answer<ListResourcesResult> { self.note("list_resources"); no() }
    async fn list_resource_templates(&self, _: Option<PaginatedRequestParams>, _: Cx) -> Answer<ListResourceTemplatesResult> { self.note("list_resource_templates"); no() }
    async fn read_resource(&self, _: ReadResourceRequestParams, _: Cx) -> Answer<ReadResourceResponse> { self.note("read_resource"); no() }
    async fn listen(&self, _: SubscriptionContext) -> Answer<()> { self.note("listen"); no() }
    async fn subscribe(&self, _: SubscribeRequestParams, _: Cx) -> Answer<()> { self.note("subscribe"); no() }
    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Cx) -> Answer<()> { self.note("unsubscribe"); no() }
    async fn call_tool(&self, _: CallToolRequestParams, _: Cx) -> Answer<CallToolResponse> { self.note("call_tool"); no() }
    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Cx) -> Answer<ListToolsResult> { self.note("list_tools"); no() }
    async fn on_custom_request(&self, _: CustomRequest, _: Cx) -> Answer<CustomResult> { self.note("on_custom_request"); no() }
    async fn on_cancelled(&self, _: CancelledNotificationParam, _: Nx) { self.note("on_cancelled"); }
    async fn on_progress(&self, _: ProgressNotificationParam, _: Nx) { self.note("on_progress"); }
    async fn on_initialized(&self, _: Nx) { self.note("on_initialized"); }
    async fn on_roots_list_changed(&self, _: Nx) { self.note("on_roots_list_changed"); }
    async fn on_custom_notification(&self, _: CustomNotification, _: Nx) { self.note("on_custom_notification"); }
    async fn get_task(&self, _: GetTaskParams, _: Cx) -> Answer<GetTaskResult> { self.note("get_task"); no() }
    async fn update_task(&self, _: UpdateTaskParams, _: Cx) -> Answer<()> { self.note("update_task"); no() }
    async fn cancel_task(&self, _: CancelTaskParams, _: Cx) -> Answer<()> { self.note("cancel_task"); no() }
}

fn peer() -> Peer<RoleServer> {
    let nowhere = (tokio::io::empty(), tokio::io::sink());
    serve_directly(Recorder::new().0, nowhere, None).peer().clone()
}

fn drain(heard: &mut UnboundedReceiver<&'static str>) -> Vec<&'static str> {
    std::iter::from_fn(|| heard.try_recv().ok()).collect()
}

/// Everything that rmcp may ask, but `listen`, whose context only rmcp can make.
#[tokio::test]
#[expect(deprecated, reason = "all of them")]
async fn every_request_reaches_the_server() {
    let (recorder, mut heard) = Recorder::new();
    let server = Views::wrap(recorder).view::<Card>().build().expect("it is sound");
    let peer = peer();
    let cx = || RequestContext::new(RequestId::Number(1), peer.clone());
    let all = serde_json::json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" },
        "uri": "file:///x", "name": "x", "level": "info", "taskId": "1", "inputResponses": {},
        "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "x", "value": "" },
    });
    fn of<T: DeserializeOwned>(all: &serde_json::Value) -> T {
        serde_json::from_value(all.clone()).expect("it has every field that is needed")
    }
    drain(&mut heard);

    let _ = server.get_info();
    let _ = server.supported_protocol_versions();
    let _ = server.negotiate_initialize(&of(&all));
    let _ = server.accepted_subscription_filter(&SubscriptionFilter::default());
    let _ = server.get_tool("x");
    let _ = server.ping(cx()).await;
    let _ = server.initialize(of(&all), cx()).await;
    let _ = server.discover(cx()).await;
    let _ = server.complete(of(&all), cx()).await;
    let _ = server.set_level(of(&all), cx()).await;
    let _ = server.get_prompt(of(&all), cx()).await;
    let _ = server.list_prompts(None, cx()).await;
    let _ = server.list_resources(None, cx()).await;
    let _ = server.list_resource_templates(None, cx()).await;
    let _ = server.read_resource(of(&all), cx()).await;
    let _ = server.subscribe(of(&all), cx()).await;
    let _ = server.unsubscribe(of(&all), cx()).await;
    let _ = server.call_tool(of(&all), cx()).await;
    let _ = server.list_tools(None, cx()).await;
    let _ = server.on_custom_request(CustomRequest::new("x", None), cx()).await;
    let _ = server.get_task(of(&all), cx()).await;
    let _ = server.update_task(of(&all), cx()).await;
    let _ = server.cancel_task(of(&all), cx()).await;

    assert_eq!(drain(&mut heard), METHODS);
}

#[tokio::test]
async fn every_notification_reaches_the_server() {
    let (recorder, mut heard) = Recorder::new();
    let server = Views::wrap(recorder).view::<Card>().build().expect("it is sound");
    let client = Client::with_views().connect(server, Era::Handshake).await;
    let cancelled = CancelledNotificationParam::new(Some(RequestId::Number(99)), None);
    let progress = ProgressNotificationParam::new(ProgressToken(NumberOrString::Number(1)), 1.0);
    let custom = CustomNotification::new("x", None);
    client.notify_cancelled(cancelled).await.expect("it is sent");
    client.notify_progress(progress).await.expect("it is sent");
    client.notify_roots_list_changed().await.expect("it is sent");
    client.send_notification(custom.into()).await.expect("it is sent");

    let mut missing: HashSet<_> = NOTIFICATIONS.into();
    while !missing.is_empty() {
        missing.remove(heard.recv().await.expect("the server lives"));
    }
}

const NOTIFICATIONS: [&str; 5] = [
    "on_cancelled",
    "on_progress",
    "on_initialized",
    "on_roots_list_changed",
    "on_custom_notification",
];

const METHODS: [&str; 23] = [
    "get_info",
    "supported_protocol_versions",
    "negotiate_initialize",
    "accepted_subscription_filter",
    "get_tool",
    "ping",
    "initialize",
    "discover",
    "complete",
    "set_level",
    "get_prompt",
    "list_prompts",
    "list_resources",
    "list_resource_templates",
    "read_resource",
    "subscribe",
    "unsubscribe",
    "call_tool",
    "list_tools",
    "on_custom_request",
    "get_task",
    "update_task",
    "cancel_task",
];
