//! Real rmcp clients over a duplex, in both eras, with and without views.

use axum::serve::ListenerExt as _;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ExtensionCapabilities, Implementation, JsonObject,
    ProtocolVersion,
};
use rmcp::service::RunningService;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServerHandler, ServiceExt,
};
use serde_json::json;
use tokio::net::TcpListener;

/// Which revision of MCP a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-11-25: a handshake, then requests.
    Handshake,
    /// 2026-07-28: every request by itself.
    Stateless,
}

pub(crate) const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];

/// A client that says, or does not say, that it shows views.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) capabilities: ClientCapabilities,
}

pub(crate) type Connected = RunningService<RoleClient, Client>;

impl Client {
    pub(crate) fn with_views() -> Self {
        Self { capabilities: capabilities() }
    }

    pub(crate) fn without_views() -> Self {
        Self { capabilities: ClientCapabilities::default() }
    }

    pub(crate) async fn connect<S: ServerHandler>(self, server: S, era: Era) -> Connected {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let running = server.serve(theirs).await.expect("the server accepts the client");
            let _ = running.waiting().await;
        });
        self.serve_with_lifecycle(ours, era.mode()).await.expect("the client is accepted")
    }
}

impl Era {
    pub(crate) fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Handshake => ClientLifecycleMode::Initialize,
            Self::Stateless => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let me = Implementation::new("a-client", "1.0.0");
        ClientConfig::new(self.capabilities.clone(), me)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}

fn capabilities() -> ClientCapabilities {
    let mut extensions = ExtensionCapabilities::new();
    let settings = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
    let settings: JsonObject = settings.as_object().cloned().expect("an object");
    extensions.insert("io.modelcontextprotocol/ui".to_owned(), settings);
    let mut capabilities = ClientCapabilities::default();
    capabilities.extensions = Some(extensions);
    capabilities
}

/// A server on a loopback port, spoken to over streamable HTTP.
pub(crate) struct Http {
    address: std::net::SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Http {
    /// Serves it, with the older revision's sessions or without.
    pub(crate) async fn serve<S: ServerHandler + Clone>(server: S, sessions: bool) -> Self {
        let config = StreamableHttpServerConfig::default()
            .enforce_origin_validation()
            .with_legacy_session_mode(sessions);
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            LocalSessionManager::default().into(),
            config,
        );
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has ports");
        let address = listener.local_addr().expect("it is bound");
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let router = axum::Router::new().nest_service("/mcp", service);
        let task =
            tokio::spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { address, task }
    }

    /// Connects to it; `query` goes behind the address.
    pub(crate) async fn connect(&self, client: Client, era: Era, query: &str) -> Connected {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let uri = format!("http://{}/mcp{query}", self.address);
        let config = StreamableHttpClientTransportConfig::with_uri(uri);
        let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS");
        let transport = StreamableHttpClientTransport::with_client(http, config);
        client.serve_with_lifecycle(transport, era.mode()).await.expect("the client is accepted")
    }
}

impl Http {
    /// Calls a tool without arguments as somebody; the whole answer.
    pub(crate) async fn post_as(&self, who: &str, tool: &str) -> String {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS");
        let version = "2026-07-28";
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { "name": "a", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let post = http
            .post(format!("http://{}/mcp", self.address))
            .header("authorization", who)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", version)
            .header("mcp-method", "tools/call")
            .header("mcp-name", tool)
            .body(call.to_string());
        let answer = post.send().await.expect("it answers");
        answer.text().await.expect("it is text")
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.task.abort();
    }
}
