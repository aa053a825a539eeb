//! The wrapper: every method of the wrapped server, with its views added.

mod documents;
mod inner;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use transom::wire::EXTENSION;

use self::documents::{Found, unknown};
pub(crate) use self::inner::Inner;
use crate::dev;
use crate::fallback::Mode;
use crate::host_ui;
use crate::registry::Registry;

/// A server with views. Made by [`Views::build`](crate::Views::build).
///
/// Clones share the server, so that one can be given to each connection.
pub struct WithViews<S> {
    inner: Arc<Inner<S>>,
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
        self.inner.advertise(&mut info.capabilities);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.inner.server.initialize(request, context).await?;
        self.inner.advertise(&mut result.capabilities);
        Ok(result)
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.inner.server.negotiate_initialize(request)?;
        self.inner.advertise(&mut result.capabilities);
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
        self.inner.advertise(&mut result.capabilities);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (_, mode) = self.inner.client(&context);
        let first = is_first(request.as_ref());
        let mut result = self.inner.server.list_tools(request, context).await?;
        result.tools.retain_mut(|tool| self.inner.fit(tool, mode));
        if self.inner.dev && first && mode == Mode::Everything {
            result.tools.push(dev::tool());
        }
        #[cfg(feature = "fetch")]
        if let Some(http) = self.inner.http.as_ref().filter(|_| first && mode == Mode::Everything) {
            result.tools.extend(http.tools().cloned());
        }
        let varies = self.inner.app_tools_are_hidden() || self.inner.views_may_hide();
        self.inner.scope(&mut result.cache_scope, varies);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        if self.inner.dev && name == dev::TOOL {
            return Some(dev::tool());
        }
        #[cfg(feature = "fetch")]
        if let Some(tool) = self.inner.http.as_ref().and_then(|http| http.tool(name)) {
            return Some(tool.clone());
        }
        let mut tool = self.inner.server.get_tool(name)?;
        self.inner.fit(&mut tool, Mode::Everything).then_some(tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (ui, mode) = self.inner.client(&context);
        if mode != Mode::Everything && self.inner.is_app_only(&request.name) {
            return Err(for_views_only(&request.name));
        }
        if self.inner.dev && request.name == dev::TOOL {
            return self.inner.follow(request.arguments.unwrap_or_default(), context, ui).await;
        }
        #[cfg(feature = "fetch")]
        if let Some(http) =
            self.inner.http.as_ref().filter(|http| http.tool(&request.name).is_some())
        {
            let arguments = request.arguments.unwrap_or_default();
            return Ok(http.call(&request.name, arguments, context).await);
        }
        host_ui::CURRENT.scope(ui, self.inner.server.call_tool(request, context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (_, mode) = self.inner.client(&context);
        let first = is_first(request.as_ref());
        let mut result = self.inner.server.list_resources(request, context).await?;
        if first && mode != Mode::NoViews {
            result.resources.splice(0..0, self.inner.registry.resources());
        }
        self.inner.scope(&mut result.cache_scope, self.inner.views_may_hide());
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (_, mode) = self.inner.client(&context);
        let first = is_first(request.as_ref());
        let mut result = self.inner.server.list_resource_templates(request, context).await?;
        if first && mode != Mode::NoViews {
            result.resource_templates.splice(0..0, self.inner.registry.templates());
        }
        self.inner.scope(&mut result.cache_scope, self.inner.views_may_hide());
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (ui, mode) = self.inner.client(&context);
        let found = self.inner.registry.find(&request.uri).filter(|_| mode != Mode::NoViews);
        if let Some((view, params)) = found {
            let view = Arc::clone(view);
            let found = Found { uri: request.uri, view, params, context };
            return Ok(self.inner.read(found, ui).await?.into());
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
