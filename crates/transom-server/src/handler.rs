//! The wrapper: every method of the wrapped server, with its views added.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, RwLock};
use std::time::SystemTime;

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::time::Instant;
use transom::wire::{EXTENSION, UiCapability};

use crate::dev;
use crate::document::{self, Document};
use crate::registry::{Entry, Registry};
use crate::render::Request;
use crate::source::Source;
use crate::template::Params;
use crate::{Audience, Fallback, HostUi, Mode};

/// A server with views. Made by [`Views::build`](crate::Views::build).
///
/// Clones share the server, so that one can be given to each connection.
pub struct WithViews<S> {
    inner: Arc<Inner<S>>,
}

pub(crate) struct Inner<S> {
    pub(crate) server: Arc<S>,
    pub(crate) registry: Registry,
    pub(crate) fallback: Fallback,
    pub(crate) ui: Option<HostUi>,
    /// Names of tools that only a view may call; grows when a list shows a new one.
    pub(crate) app_only: RwLock<HashSet<String>>,
    pub(crate) all_tools_known: bool,
    /// Whether the wrapped server has resources beside our views.
    pub(crate) own_resources: bool,
    pub(crate) dev: bool,
    /// When this process began, which is what a document made by a function is known by in dev mode.
    pub(crate) started: SystemTime,
    /// The backend that views use with plain `fetch()`.
    #[cfg(feature = "fetch")]
    pub(crate) http: Option<crate::http::Proxy>,
}

tokio::task_local! {
    /// What the wrapper found out about the client, for the tool that runs inside of it.
    static CURRENT: HostUi;
}

/// What is known about the client of the tool call that is running here.
pub(crate) fn current() -> Option<HostUi> {
    CURRENT.try_get().ok()
}

impl<S: ServerHandler> WithViews<S> {
    pub(crate) fn new(inner: Inner<S>) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Returns the wrapped server.
    pub fn server(&self) -> &S {
        &self.inner.server
    }

    /// Returns the views.
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    fn client(&self, context: &RequestContext<RoleServer>) -> (HostUi, Mode) {
        let ui = self.inner.ui.unwrap_or_else(|| HostUi::of(context));
        (ui, self.inner.fallback.mode(ui, context))
    }

    /// Adds what views need; says nothing if there are none (server-01, S-22).
    fn advertise(&self, capabilities: &mut ServerCapabilities) {
        if self.has_proxy() {
            capabilities.tools.get_or_insert_default();
        }
        if self.inner.registry.is_empty() {
            return;
        }
        let ui = serde_json::to_value(UiCapability::default()).expect("a list of strings");
        let Value::Object(ui) = ui else { return };
        capabilities.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), ui);
        capabilities.resources.get_or_insert_default();
    }

    /// Fits a tool to the client; false if it gets none.
    fn fit(&self, tool: &mut Tool, mode: Mode) -> bool {
        let inner = &*self.inner;
        if let Some(link) = inner.registry.link(&tool.name) {
            let meta = tool.meta.get_or_insert_default();
            meta.0.extend(link.0.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        let Some(meta) = &mut tool.meta else { return true };
        if !meta.0.contains_key("ui") {
            // server-07: written before the link moved under `ui`. Hosts of today look there.
            let Some(flat) = meta.0.get(FLAT).cloned() else { return true };
            meta.0.insert("ui".to_owned(), json!({ "resourceUri": flat }));
        }
        let ui = &meta.0["ui"];
        if Audience::is_app_only(meta) {
            inner.note_app_only(&tool.name);
            if mode != Mode::Everything {
                return false;
            }
        }
        let link = ui.get("resourceUri").and_then(Value::as_str);
        let leads_nowhere =
            link.is_some_and(|uri| !inner.own_resources && !inner.registry.has(uri));
        if mode == Mode::NoViews || leads_nowhere {
            if leads_nowhere {
                tracing::error!(tool = %tool.name, ?link, "left out a link to a view that nobody serves");
            }
            meta.0.remove("ui");
            meta.0.remove(FLAT);
        } else if let Some(link) = link.filter(|_| !meta.0.contains_key(FLAT)) {
            let link = Value::from(link);
            meta.0.insert(FLAT.to_owned(), link);
        }
        if meta.0.is_empty() {
            tool.meta = None;
        }
        true
    }

    /// What differs by client must not be kept for another one (server-13).
    fn scope(&self, scope: &mut Option<CacheScope>, varies: bool) {
        if varies && *scope == Some(CacheScope::Public) {
            *scope = Some(CacheScope::Private);
        }
    }

    fn app_tools_are_hidden(&self) -> bool {
        // Dev mode has one of its own, and so has a proxy.
        let any = || !self.inner.app_only.read().expect("no holder panics").is_empty();
        self.inner.fallback.varies() && (self.inner.dev || self.has_proxy() || any())
    }

    #[cfg(feature = "fetch")]
    fn has_proxy(&self) -> bool {
        self.inner.http.is_some()
    }

    #[cfg(not(feature = "fetch"))]
    fn has_proxy(&self) -> bool {
        false
    }

    fn views_may_hide(&self) -> bool {
        matches!(self.inner.fallback, Fallback::Strict | Fallback::By(_))
    }

    async fn read(&self, found: Found, ui: HostUi) -> Result<ReadResourceResult, ErrorData> {
        let view = Arc::clone(&found.view);
        let uri = found.uri.clone();
        let mut html = self.document(found, ui).await?;
        if self.inner.dev {
            html = dev::shell(&uri, &html, &self.revision(&view, &html));
        }
        let mut result = ReadResourceResult::new(vec![view.contents(uri, html)]);
        // What was made for one user must not reach another one.
        result.cache_scope =
            matches!(view.document, Document::Rendered).then_some(CacheScope::Private);
        Ok(result)
    }

    async fn document(&self, found: Found, ui: HostUi) -> Result<String, ErrorData> {
        let Found { uri, view, params, context } = found;
        match (&view.document, &view.def.source) {
            (Document::Ready(html), _) => Ok(html.to_string()),
            (Document::OnDisk, source) => document::read(source, &view.declared, self.inner.dev)
                .map_err(|words| broken(&uri, &words)),
            (Document::Rendered, Source::Render(render)) => {
                let request = Request { uri, params, context, ui };
                render.run(&self.inner.server, request).await.map(document::finish)
            }
            (Document::Rendered, _) => Err(broken(&uri, &[])),
        }
    }

    /// Dev mode: waits until a view's document is another than the one that is shown.
    async fn follow(
        &self,
        arguments: JsonObject,
        context: RequestContext<RoleServer>,
        ui: HostUi,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |key| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let (uri, shown) = (text("uri").to_owned(), text("rev").to_owned());
        let Some((view, params)) = self.inner.registry.find(&uri) else {
            return Err(unknown(&uri, &self.inner.registry, Mode::Everything));
        };
        let found = || Found {
            uri: uri.clone(),
            view: Arc::clone(view),
            params: params.clone(),
            context: context.clone(),
        };
        let files = view.def.source.on_disk();
        let deadline = Instant::now() + dev::WAIT;
        let mut seen = None;
        loop {
            let stamp = files.as_deref().map(dev::stamp);
            if seen != Some(stamp) {
                seen = Some(stamp);
                let news = self.news(found(), ui).await;
                if news["rev"] != shown.as_str() {
                    return Ok(answer("the document has changed", news));
                }
            }
            if deadline <= Instant::now() {
                return Ok(answer("the document is the same", json!({ "rev": shown })));
            }
            tokio::time::sleep(dev::LOOK).await;
        }
    }

    /// What a document is known by. One made by a function may differ each time; it is new when the
    /// process is.
    fn revision(&self, view: &Entry, html: &str) -> String {
        match view.document {
            Document::Rendered => dev::revision(&format!("{:?}", self.inner.started)),
            _ => dev::revision(html),
        }
    }

    /// A document and what it is known by; or what is wrong with it, which is known by its words.
    async fn news(&self, found: Found, ui: HostUi) -> Value {
        let view = Arc::clone(&found.view);
        match self.document(found, ui).await {
            Ok(html) => json!({ "rev": self.revision(&view, &html), "html": html }),
            Err(error) => json!({ "rev": dev::revision(&error.message), "error": error.message }),
        }
    }
}

/// A view that was asked for.
struct Found {
    uri: String,
    view: Arc<Entry>,
    params: Params,
    context: RequestContext<RoleServer>,
}

fn answer(words: &str, data: Value) -> CallToolResponse {
    let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
    result.structured_content = Some(data);
    result.into()
}

impl<S> Inner<S> {
    fn note_app_only(&self, name: &str) {
        if !self.app_only.read().expect("no holder panics").contains(name) {
            self.app_only.write().expect("no holder panics").insert(name.to_owned());
        }
    }
}

impl<S> Clone for WithViews<S> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<S> fmt::Debug for WithViews<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let views: Vec<_> = self.inner.registry.uris().collect();
        f.debug_struct("WithViews").field("views", &views).finish_non_exhaustive()
    }
}

// A method that rmcp adds would silently be its default here.
#[deny(clippy::missing_trait_methods)]
#[expect(deprecated, reason = "a wrapper passes on what its server still answers")]
impl<S: ServerHandler> ServerHandler for WithViews<S> {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.inner.server.get_info();
        self.advertise(&mut info.capabilities);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.inner.server.initialize(request, context).await?;
        self.advertise(&mut result.capabilities);
        Ok(result)
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.inner.server.negotiate_initialize(request)?;
        self.advertise(&mut result.capabilities);
        Ok(result)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.server.supported_protocol_versions()
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.inner.server.discover(context).await?;
        self.advertise(&mut result.capabilities);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (_, mode) = self.client(&context);
        let first = is_first(request.as_ref());
        let mut result = self.inner.server.list_tools(request, context).await?;
        result.tools.retain_mut(|tool| self.fit(tool, mode));
        if self.inner.dev && first && mode == Mode::Everything {
            result.tools.push(dev::tool());
        }
        #[cfg(feature = "fetch")]
        if let Some(http) = self.inner.http.as_ref().filter(|_| first && mode == Mode::Everything) {
            result.tools.extend(http.tools().cloned());
        }
        let varies = self.app_tools_are_hidden() || self.views_may_hide();
        self.scope(&mut result.cache_scope, varies);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        if self.inner.dev && name == dev::TOOL {
            return Some(dev::tool());
        }
        #[cfg(feature = "fetch")]
        if let Some(tool) =
            self.inner.http.as_ref().and_then(|http| http.tools().find(|tool| tool.name == name))
        {
            return Some(tool.clone());
        }
        let mut tool = self.inner.server.get_tool(name)?;
        self.fit(&mut tool, Mode::Everything).then_some(tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (ui, mode) = self.client(&context);
        if mode != Mode::Everything && self.is_app_only(&request.name) {
            return Err(for_views_only(&request.name));
        }
        if self.inner.dev && request.name == dev::TOOL {
            return self.follow(request.arguments.unwrap_or_default(), context, ui).await;
        }
        #[cfg(feature = "fetch")]
        if let Some(http) = self.inner.http.as_ref().filter(|http| http.has(&request.name)) {
            let arguments = request.arguments.unwrap_or_default();
            return Ok(http.call(&request.name, arguments, context).await);
        }
        CURRENT.scope(ui, self.inner.server.call_tool(request, context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (_, mode) = self.client(&context);
        let first = is_first(request.as_ref());
        let mut result = self.inner.server.list_resources(request, context).await?;
        if first && mode != Mode::NoViews {
            result.resources.splice(0..0, self.inner.registry.resources());
        }
        self.scope(&mut result.cache_scope, self.views_may_hide());
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (_, mode) = self.client(&context);
        let first = is_first(request.as_ref());
        let mut result = self.inner.server.list_resource_templates(request, context).await?;
        if first && mode != Mode::NoViews {
            result.resource_templates.splice(0..0, self.inner.registry.templates());
        }
        self.scope(&mut result.cache_scope, self.views_may_hide());
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (ui, mode) = self.client(&context);
        let found = self.inner.registry.find(&request.uri).filter(|_| mode != Mode::NoViews);
        if let Some((view, params)) = found {
            let view = Arc::clone(view);
            let found = Found { uri: request.uri, view, params, context };
            return Ok(self.read(found, ui).await?.into());
        }
        if self.inner.own_resources {
            return self.inner.server.read_resource(request, context).await;
        }
        Err(unknown(&request.uri, &self.inner.registry, mode))
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.inner.server.ping(context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.inner.server.complete(request, context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.server.set_level(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.inner.server.get_prompt(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.inner.server.list_prompts(request, context).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.inner.server.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner.server.listen(context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.server.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.server.unsubscribe(request, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.inner.server.on_custom_request(request, context).await
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.inner.server.on_cancelled(notification, context).await;
    }

    async fn on_progress(
        &self,
        notification: ProgressNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.inner.server.on_progress(notification, context).await;
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.inner.server.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.inner.server.on_roots_list_changed(context).await;
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        self.inner.server.on_custom_notification(notification, context).await;
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.inner.server.get_task(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.server.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.server.cancel_task(request, context).await
    }
}

impl<S: ServerHandler> WithViews<S> {
    fn is_app_only(&self, name: &str) -> bool {
        let inner = &*self.inner;
        if inner.dev && name == dev::TOOL {
            return true;
        }
        #[cfg(feature = "fetch")]
        if inner.http.as_ref().is_some_and(|http| http.has(name)) {
            return true;
        }
        if inner.app_only.read().expect("no holder panics").contains(name) {
            return true;
        }
        if inner.all_tools_known {
            return false;
        }
        // Nobody has listed it yet. Hidden tools must not be found out by guessing their names.
        let tool = inner.server.get_tool(name);
        let meta = inner.registry.link(name).or_else(|| tool.as_ref()?.meta.as_ref());
        meta.is_some_and(Audience::is_app_only)
    }
}

/// Our own items go on the first page.
fn is_first(page: Option<&PaginatedRequestParams>) -> bool {
    page.is_none_or(|page| page.cursor.is_none())
}

fn for_views_only(tool: &str) -> ErrorData {
    let message = format!(
        "the tool {tool:?} is for views, and this client does not show them: it would say so by the \
         capability {EXTENSION}"
    );
    ErrorData::invalid_params(message, None)
}

fn unknown(uri: &str, registry: &Registry, mode: Mode) -> ErrorData {
    let known: Vec<_> = registry.uris().filter(|_| mode != Mode::NoViews).collect();
    let uri: String = uri.chars().take(200).collect();
    let message = format!("no view at {uri:?}; there are {}", known.join(", "));
    // SEP-2164: which address it was, for programs.
    ErrorData::resource_not_found(message, Some(serde_json::json!({ "uri": uri })))
}

/// A document that cannot be made just now: the author is told, and the server goes on.
fn broken(uri: &str, words: &[String]) -> ErrorData {
    let message = format!("the view {uri} cannot be shown: {}", words.join("; "));
    tracing::error!("{message}");
    ErrorData::internal_error(message, None)
}

const FLAT: &str = "ui/resourceUri";
