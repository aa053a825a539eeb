//! Whether the client of a request shows views.

use rmcp::handler::server::common::{AsRequestContext, FromContextPart};
use rmcp::model::ClientCapabilities;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use transom::wire::{Compat, EXTENSION, UiCapability, is_app_mime};

/// Whether the client of a request shows views, as far as it said.
///
/// Read for each request, never remembered for a process: one server may have clients of both kinds,
/// and the stateless revision of MCP says it anew each time. It is an extractor, so a tool may simply
/// take it as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostUi {
    /// It said that it shows views.
    Yes,
    /// It said what it can do, and views were not among it.
    No,
    /// It could not be asked: an older client over HTTP without a session says what it can do in a
    /// request of its own, and this is another one.
    Unknown,
}

tokio::task_local! {
    /// What the wrapper found out about the client, for the tool that runs inside of it.
    pub(crate) static CURRENT: HostUi;
}

/// What is known about the client of the tool call that is running here.
pub(crate) fn current() -> Option<HostUi> {
    CURRENT.try_get().ok()
}

impl HostUi {
    /// Finds it out for one request, in both eras of the protocol (S-15, S-16, server-24).
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let http = context.extensions.get::<http::request::Parts>();
        if let Some(asked) = http.and_then(|parts| asked(parts.uri.query()?)) {
            return asked;
        }
        let meta = &context.meta.0.0;
        if meta.contains_key(CLIENT_CAPABILITIES) {
            return Self::said(
                UiCapability::in_request_meta(meta).is_some_and(|ui| ui.shows_apps()),
            );
        }
        if http.is_some_and(|parts| !parts.headers.contains_key("mcp-session-id")) {
            return Self::Unknown;
        }
        match context.peer.peer_info() {
            Some(client) => Self::said(shows_apps(&client.capabilities)),
            None => Self::Unknown,
        }
    }

    /// Tells whether to count on the view: also where the client could not say, since most clients show views.
    pub fn renders(self) -> bool {
        self != Self::No
    }

    fn said(shows: bool) -> Self {
        if shows { Self::Yes } else { Self::No }
    }
}

impl<C: AsRequestContext> FromContextPart<C> for HostUi {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        Ok(current().unwrap_or_else(|| Self::of(context.as_request_context())))
    }
}

/// `?ui=on` and `?ui=off` in the server's URL overrule what a client says: for clients that show views
/// and forgot to say so, and for seeing what the others get.
fn asked(query: &str) -> Option<HostUi> {
    query.split('&').find_map(|pair| parse(pair.strip_prefix("ui=")?))
}

/// Reads `on` or `off`.
pub(crate) fn parse(word: &str) -> Option<HostUi> {
    match word {
        "on" => Some(HostUi::Yes),
        "off" => Some(HostUi::No),
        _ => None,
    }
}

/// Whether the capabilities of a handshake have it, under `extensions` or, as SDKs before it wrote,
/// under `experimental`.
fn shows_apps(capabilities: &ClientCapabilities) -> bool {
    let extension = capabilities.extensions.as_ref().and_then(|all| all.get(EXTENSION));
    let experimental = || capabilities.experimental.as_ref()?.get(EXTENSION);
    let mimes = extension.or_else(experimental).and_then(|ui| ui.get("mimeTypes")?.as_array());
    let mut mimes = mimes.into_iter().flatten().filter_map(serde_json::Value::as_str);
    mimes.any(|mime| is_app_mime(mime, Compat::default()))
}

const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
