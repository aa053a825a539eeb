//! A server built with rmcp that is as it should be, until a test spoils something.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Resource, ResourceContents, ResourceTemplate, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

pub(crate) const VIEW: &str = "ui://clean/view.html";
pub(crate) const MIME: &str = "text/html;profile=mcp-app";
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// What the server says, and how it misbehaves.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) capabilities: Value,
    pub(crate) tools: Vec<Value>,
    pub(crate) resources: Vec<Value>,
    pub(crate) templates: Vec<Value>,
    /// Read by their `uri`.
    pub(crate) contents: Vec<Value>,
    /// What every call is answered with.
    pub(crate) result: Value,
    pub(crate) quirk: Quirk,
    /// Whether somebody without views has asked.
    asked: Arc<AtomicBool>,
}

/// What no description can say.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Quirk {
    None,
    /// Lists that differ by client may be shared.
    PublicLists,
    /// Reading takes long.
    Slow,
    /// The description of its tools hangs on the era.
    EraMatters,
    /// Tools for views alone are for everybody.
    ListsAll,
    /// No text for those who need it most.
    NothingWithoutViews,
    /// What one client said holds for the next.
    Remembers,
    /// Fetches whatever it is asked to.
    FetchesAnything,
    /// Its list has no end.
    Circles,
}

impl App {
    /// A server that no rule has anything to say about.
    pub(crate) fn clean() -> Self {
        let ui = json!({ "prefersBorder": true });
        Self {
            capabilities: json!({ "tools": {}, "resources": {}, "extensions": { EXTENSION: {} } }),
            tools: vec![
                json!({
                    "name": "show", "description": "Shows the figures",
                    "inputSchema": { "type": "object", "properties": {} },
                    "outputSchema": { "type": "object", "properties": { "figures": { "type": "array" } }, "required": ["figures"] },
                    "annotations": { "readOnlyHint": true },
                    "_meta": { "ui": { "resourceUri": VIEW }, "ui/resourceUri": VIEW },
                }),
                json!({
                    "name": "refresh", "description": "Newer figures, for the view",
                    "inputSchema": { "type": "object" },
                    "_meta": { "ui": { "visibility": ["app"] } },
                }),
            ],
            templates: vec![],
            resources: vec![
                json!({ "uri": VIEW, "name": "view", "mimeType": MIME, "_meta": { "ui": ui } }),
            ],
            contents: vec![
                json!({ "uri": VIEW, "mimeType": MIME, "text": html(""), "_meta": { "ui": ui } }),
            ],
            result: json!({
                "content": [{ "type": "text", "text": "Three figures: 1, 2 and 3" }],
                "structuredContent": { "figures": [1, 2, 3] },
            }),
            quirk: Quirk::None,
            asked: Arc::default(),
        }
    }

    /// The clean one, spoiled.
    pub(crate) fn with(spoil: impl FnOnce(&mut Self)) -> Self {
        let mut app = Self::clean();
        spoil(&mut app);
        app
    }

    /// The clean one with something more in the body of its document.
    pub(crate) fn with_body(body: &str) -> Self {
        Self::with(|app| app.contents[0]["text"] = json!(html(body)))
    }

    /// Whether who asks shows views, as far as this server can tell.
    fn shows(&self, context: &RequestContext<RoleServer>) -> bool {
        let extensions = context.client_capabilities().unwrap_or_default().extensions;
        let shows = extensions.is_some_and(|all| all.contains_key(EXTENSION));
        if !shows {
            self.asked.store(true, Ordering::SeqCst);
        }
        match self.quirk {
            // In the older era there is a connection for each client, and it may well remember.
            Quirk::Remembers if !is_older(context) => shows && !self.asked.load(Ordering::SeqCst),
            _ => shows,
        }
    }
}

/// A document that no rule has anything to say about, with something more in its body.
pub(crate) fn html(body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>x</title>\n<p id=\"figures\"></p>\n{body}\n"
    )
}

fn is_older(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version() == Some(ProtocolVersion::V_2025_11_25)
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

impl ServerHandler for App {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(read(&self.capabilities))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = self.shows(&context) || self.quirk == Quirk::ListsAll;
        let app_only = |tool: &Value| tool["_meta"]["ui"]["visibility"] == json!(["app"]);
        let tools = self.tools.iter().filter(|tool| all || !app_only(tool));
        let mut tools: Vec<Tool> = tools.map(read).collect();
        if self.quirk == Quirk::EraMatters && is_older(&context) {
            tools[0].description = Some("Shows other figures".into());
        }
        let scope = match self.quirk {
            Quirk::PublicLists => CacheScope::Public,
            _ => CacheScope::Private,
        };
        let mut listed = ListToolsResult::with_all_items(tools).with_cache_scope(scope);
        if self.quirk == Quirk::Circles {
            listed.next_cursor = Some("again".to_owned());
        }
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates: Vec<ResourceTemplate> = self.templates.iter().map(read).collect();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources: Vec<Resource> = self.resources.iter().map(read).collect();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if self.quirk == Quirk::Slow {
            tokio::time::sleep(std::time::Duration::from_millis(2100)).await;
        }
        let fits = |item: &&Value| item["uri"] == *request.uri;
        let items: Vec<ResourceContents> = self.contents.iter().filter(fits).map(read).collect();
        if items.is_empty() {
            return Err(ErrorData::resource_not_found("there is no such resource", None));
        }
        Ok(ReadResourceResult::new(items).into())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if call.name.ends_with("http_request") {
            let url =
                call.arguments.unwrap_or_default()["url"].as_str().unwrap_or_default().to_owned();
            return Ok(self.fetch(&url).await.into());
        }
        let mut result: CallToolResult = read(&self.result);
        if self.quirk == Quirk::NothingWithoutViews && !self.shows(&context) {
            result.content.clear();
        }
        Ok(result.into())
    }
}

impl App {
    async fn fetch(&self, url: &str) -> CallToolResult {
        let place = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let (Quirk::FetchesAnything, Some(place)) = (self.quirk, place) else {
            return read(
                &json!({ "content": [{ "type": "text", "text": "refused" }], "isError": true }),
            );
        };
        let mut stream = TcpStream::connect(place.parse::<SocketAddr>().unwrap()).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        read(&json!({ "content": [{ "type": "text", "text": "GET / 200" }] }))
    }
}

/// A server that listens for as long as this value lives.
pub(crate) struct Listening {
    pub(crate) url: String,
    _runtime: Runtime,
}

impl App {
    /// Serves it over HTTP, in both eras.
    pub(crate) fn listen(self) -> Listening {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let sessions = Arc::new(LocalSessionManager::default());
        let config = StreamableHttpServerConfig::default();
        let service = StreamableHttpService::new(move || Ok(self.clone()), sessions, config);
        let router = axum::Router::new().nest_service("/mcp", service);
        runtime.spawn(async move { axum::serve(listener, router).await });
        Listening { url, _runtime: runtime }
    }
}
