//! What all clones share, and how a list is fitted to the client that asks.

use std::collections::HashSet;
use std::sync::{Arc, RwLock};
use std::time::SystemTime;

use rmcp::model::{CacheScope, ServerCapabilities, Tool};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use transom::wire::{EXTENSION, UiCapability};

use crate::dev;
use crate::document::Script;
use crate::fallback::{Fallback, Mode};
use crate::host_ui::HostUi;
use crate::registry::Registry;
use crate::view::Audience;

/// What all clones of a server with views share.
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
    pub(crate) script: Script,
    /// When this process began, which is what a document made by a function is known by in dev mode.
    pub(crate) started: SystemTime,
    /// The backend that views use with plain `fetch()`.
    #[cfg(feature = "fetch")]
    pub(crate) http: Option<crate::http::Proxy>,
}

impl<S: ServerHandler> Inner<S> {
    pub(super) fn client(&self, context: &RequestContext<RoleServer>) -> (HostUi, Mode) {
        let ui = self.ui.unwrap_or_else(|| HostUi::of(context));
        (ui, self.fallback.mode(ui, context))
    }

    /// Adds what views need; says nothing if there are none (server-01, S-22).
    pub(super) fn advertise(&self, capabilities: &mut ServerCapabilities) {
        if self.has_proxy() {
            capabilities.tools.get_or_insert_default();
        }
        if self.registry.is_empty() {
            return;
        }
        let ui = serde_json::to_value(UiCapability::default()).expect("a list of strings");
        let Value::Object(ui) = ui else { return };
        capabilities.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), ui);
        capabilities.resources.get_or_insert_default();
    }

    /// Fits a tool to the client; false if it gets none.
    pub(super) fn fit(&self, tool: &mut Tool, mode: Mode) -> bool {
        if let Some(link) = self.registry.link(&tool.name) {
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
            self.note_app_only(&tool.name);
            if mode != Mode::Everything {
                return false;
            }
        }
        let link = ui.get("resourceUri").and_then(Value::as_str);
        let leads_nowhere = link.is_some_and(|uri| !self.own_resources && !self.registry.has(uri));
        if mode == Mode::NoViews || leads_nowhere {
            if leads_nowhere {
                tracing::error!(tool = %tool.name, ?link, "left out a link to a view that this server does not have");
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
    pub(super) fn scope(&self, scope: &mut Option<CacheScope>, varies: bool) {
        if varies && *scope == Some(CacheScope::Public) {
            *scope = Some(CacheScope::Private);
        }
    }

    pub(super) fn app_tools_are_hidden(&self) -> bool {
        // Dev mode has one of its own, and so has a proxy.
        let any = || !self.app_only.read().expect("no holder panics").is_empty();
        self.fallback.varies() && (self.dev || self.has_proxy() || any())
    }

    #[cfg(feature = "fetch")]
    fn has_proxy(&self) -> bool {
        self.http.is_some()
    }

    #[cfg(not(feature = "fetch"))]
    fn has_proxy(&self) -> bool {
        false
    }

    pub(super) fn views_may_hide(&self) -> bool {
        matches!(self.fallback, Fallback::Strict | Fallback::By(_))
    }

    pub(super) fn is_app_only(&self, name: &str) -> bool {
        if self.dev && name == dev::TOOL {
            return true;
        }
        #[cfg(feature = "fetch")]
        if self.http.as_ref().is_some_and(|http| http.tool(name).is_some()) {
            return true;
        }
        if self.app_only.read().expect("no holder panics").contains(name) {
            return true;
        }
        if self.all_tools_known {
            return false;
        }
        // No client has listed it yet. A client must not find hidden tools by guessing their names.
        let tool = self.server.get_tool(name);
        let meta = self.registry.link(name).or_else(|| tool.as_ref()?.meta.as_ref());
        meta.is_some_and(Audience::is_app_only)
    }

    fn note_app_only(&self, name: &str) {
        if !self.app_only.read().expect("no holder panics").contains(name) {
            self.app_only.write().expect("no holder panics").insert(name.to_owned());
        }
    }
}

const FLAT: &str = "ui/resourceUri";
