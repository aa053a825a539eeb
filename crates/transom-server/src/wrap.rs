//! Views on any server: the builder.

use std::any::{TypeId, type_name};
use std::collections::HashSet;
use std::sync::{Arc, RwLock};
use std::time::SystemTime;

use rmcp::ServerHandler;
use rmcp::model::Tool;
use transom::wire::{Compat, Finding, ToolMeta, Visibilities};

use crate::dev::Dev;
use crate::document::Script;
use crate::fallback::Fallback;
use crate::handler::Inner;
use crate::handler::WithViews;
use crate::host_ui::{self, HostUi};
use crate::probe::{Probe, probe};
use crate::refusal::{BuildError, Refusal, Rule};
use crate::registry::{Registry, TEMPLATE_LINK};
use crate::source::Source;
use crate::view::{Audience, View, ViewDef};

/// A server on its way to having views.
///
/// ```
/// use transom_server::{View, Views};
/// # use transom_server::ViewDef;
/// # struct Server;
/// # impl rmcp::ServerHandler for Server {}
///
/// #[derive(View)]
/// #[view(uri = "ui://clock", html = "<!doctype html><h1>Noon</h1>")]
/// struct Clock;
///
/// let server = Views::wrap(Server).view::<Clock>().build()?;
/// # let _ = server;
/// # Ok::<(), transom_server::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Views<S> {
    server: S,
    defs: Vec<ViewDef>,
    fallback: Fallback,
    dev: Dev,
    ui: Option<HostUi>,
    #[cfg(feature = "fetch")]
    http: Option<crate::HttpProxy>,
}

impl<S: ServerHandler> Views<S> {
    /// Starts with any server that rmcp can serve.
    ///
    /// `TRANSOM_DEV=1` turns dev mode on, and `TRANSOM_UI=on` or `off` overrules what clients say about
    /// showing views.
    pub fn wrap(server: S) -> Self {
        let ui = std::env::var("TRANSOM_UI").ok();
        Self {
            server,
            defs: Vec::new(),
            fallback: Fallback::Auto,
            dev: Dev::from_env(),
            ui: ui.as_deref().and_then(host_ui::parse),
            #[cfg(feature = "fetch")]
            http: None,
        }
    }

    /// Adds a view.
    pub fn view<V: View>(self) -> Self {
        self.declare(V::def())
    }

    /// Adds a view that is known at run time.
    pub fn declare(mut self, def: ViewDef) -> Self {
        self.defs.push(def);
        self
    }

    /// Says what clients get that do not show views.
    pub fn fallback(mut self, fallback: Fallback) -> Self {
        self.fallback = fallback;
        self
    }

    /// Lets views use a backend with plain `fetch()`.
    #[cfg(feature = "fetch")]
    pub fn http(mut self, proxy: crate::HttpProxy) -> Self {
        self.http = Some(proxy);
        self
    }

    /// Turns dev mode on or off, whatever the environment says.
    pub fn dev(mut self, dev: Dev) -> Self {
        self.dev = dev;
        self
    }

    /// Verifies every declaration and every link, and gives the server its views.
    ///
    /// The server is asked for its tools, as a client that shows views would. One that cannot answer at
    /// once is not waited for: its links are then checked whenever it lists its tools, and one that leads
    /// nowhere is left out and logged.
    ///
    /// # Errors
    ///
    /// Everything that would keep a view from being shown, with what to do about it.
    pub fn build(self) -> Result<WithViews<S>, BuildError> {
        let dev = self.dev.is_on();
        let mut refusals = self.wrong_state();
        #[cfg(feature = "fetch")]
        let script = self.http.as_ref().map_or(Script::View, |_| Script::Carry);
        #[cfg(not(feature = "fetch"))]
        let script = Script::View;
        let registry = match Registry::new(self.defs, dev, script) {
            Ok(registry) => registry,
            Err(mut found) => {
                refusals.append(&mut found);
                return Err(BuildError::new(refusals));
            }
        };
        let listed = probe(&self.server);
        check_tools(&registry, &listed, &mut refusals);
        #[cfg(feature = "fetch")]
        let http = self.http.map(crate::HttpProxy::build).transpose();
        #[cfg(feature = "fetch")]
        let http = http.unwrap_or_else(|mut found| {
            refusals.append(&mut found);
            None
        });
        if !refusals.is_empty() {
            return Err(BuildError::new(refusals));
        }
        let app_only = app_only(&registry, listed.tools.as_deref().unwrap_or_default());
        let own_resources = self.server.get_info().capabilities.resources.is_some();
        Ok(WithViews::new(Inner {
            server: Arc::new(self.server),
            all_tools_known: listed.tools.is_some(),
            registry,
            fallback: self.fallback,
            ui: self.ui,
            app_only: RwLock::new(app_only),
            own_resources,
            dev,
            script,
            started: SystemTime::now(),
            #[cfg(feature = "fetch")]
            http,
        }))
    }

    /// Views whose function expects another server than this one.
    fn wrong_state(&self) -> Vec<Refusal> {
        let wrong = |def: &ViewDef| match &def.source {
            Source::Render(render)
                if !render.is_stateless() && render.state != TypeId::of::<S>() =>
            {
                let words = format!(
                    "is rendered from {}, but the wrapped server is {}: take &RenderCx<{}>",
                    render.state_name,
                    type_name::<S>(),
                    type_name::<S>(),
                );
                Some(Refusal::view(&def.uri, Rule::Server06, words))
            }
            _ => None,
        };
        self.defs.iter().filter_map(wrong).collect()
    }
}

/// The tools that only a view may call.
fn app_only(registry: &Registry, tools: &[Tool]) -> HashSet<String> {
    let is_app_only = |tool: &&Tool| {
        let meta = registry.link(&tool.name).or(tool.meta.as_ref());
        meta.is_some_and(Audience::is_app_only)
    };
    tools.iter().filter(is_app_only).map(|tool| tool.name.to_string()).collect()
}

fn check_tools(registry: &Registry, listed: &Probe, refusals: &mut Vec<Refusal>) {
    let Some(tools) = &listed.tools else { return };
    for name in registry.linked() {
        if !tools.iter().any(|tool| tool.name == name) {
            let words = "is linked to a view, but the server has no such tool: correct the name in `.tool(…)`";
            refusals.push(Refusal::tool(name, Rule::Server03, words));
        }
    }
    for tool in tools {
        check_meta(registry, listed, tool, refusals);
        check_schema(registry, tool, refusals);
    }
}

fn check_meta(registry: &Registry, listed: &Probe, tool: &Tool, refusals: &mut Vec<Refusal>) {
    let Some(meta) = &tool.meta else { return };
    let mut refuse = |rule, words: String| refusals.push(Refusal::tool(&tool.name, rule, words));
    let mut findings = Vec::new();
    let read = ToolMeta::read(&meta.0, Compat::default(), &mut findings);
    for finding in findings {
        match finding {
            Finding::PolicyOnTool { key } => refuse(
                Rule::Server10,
                format!(
                    "has `{key}` in its _meta.ui, where hosts ignore it: declare it with the view"
                ),
            ),
            Finding::NotUiUri { got, .. } => refuse(
                Rule::Server04,
                format!("is linked to {got}, which is not a UI address: begin it with ui://"),
            ),
            Finding::TooLong { most, got, .. } => refuse(
                Rule::Server04,
                format!("is linked to {got}, which is too long: use at most {most} bytes"),
            ),
            Finding::UnknownVisibility { got } => refuse(
                Rule::Server08,
                format!(
                    "is visible to {got}, so that neither the model nor a view may call it: write \"model\", \"app\" or both"
                ),
            ),
            Finding::TwoLinks { nested, flat } => refuse(
                Rule::Server03,
                format!("is linked to {nested} and to {flat}: link it to one view"),
            ),
            _ => {}
        }
    }
    if read.visibility == Visibilities::NONE {
        let words = "is visible to neither the model nor views: leave `visibility` out, or say only(app) or only(model)";
        refuse(Rule::Server08, words.to_owned());
    }
    let Some(uri) = read.resource_uri.as_ref().map(|uri| uri.as_str()) else { return };
    if registry.link(&tool.name).is_some() || registry.has(uri) {
        return;
    }
    if registry.uris().any(|known| known == uri) {
        return refuse(Rule::Server03, TEMPLATE_LINK.to_owned());
    }
    // The server may have a view of its own beside ours.
    let own = listed.resources.as_ref().is_none_or(|own| own.iter().any(|own| own.uri == uri));
    if !own {
        refuse(
            Rule::Server03,
            format!(
                "is linked to {uri}, which no view of this server has: add `.view::<…>()` for it before `.build()`"
            ),
        );
    }
}

/// Clients before the 2026 revision fail the whole list for one `outputSchema` that is no object's.
fn check_schema(registry: &Registry, tool: &Tool, refusals: &mut Vec<Refusal>) {
    let shown = registry.link(&tool.name).is_some()
        || tool.meta.as_ref().is_some_and(|meta| meta.0.contains_key("ui"));
    let Some(schema) = tool.output_schema.as_ref().filter(|_| shown) else { return };
    if schema.get("type").is_none_or(|kind| kind != "object") {
        let words = "shows something that is not an object: put it into a field of a struct";
        refusals.push(Refusal::tool(&tool.name, Rule::Server15, words));
    }
}
