//! The documents of views: read once, made for one request, or followed while their author changes them.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ReadResourceResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::inner::Inner;
use crate::dev;
use crate::document::{self, Document};
use crate::fallback::Mode;
use crate::host_ui::HostUi;
use crate::registry::{Entry, Registry};
use crate::render::Request;
use crate::source::Source;
use crate::stamp::stamp;
use crate::template::Params;

/// A view that was asked for.
pub(super) struct Found {
    pub(super) uri: String,
    pub(super) view: Arc<Entry>,
    pub(super) params: Params,
    pub(super) context: RequestContext<RoleServer>,
}

impl<S: ServerHandler> Inner<S> {
    pub(super) async fn read(
        &self,
        found: Found,
        ui: HostUi,
    ) -> Result<ReadResourceResult, ErrorData> {
        let view = Arc::clone(&found.view);
        let uri = found.uri.clone();
        let mut html = self.document(found, ui).await?;
        if self.dev {
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
            (Document::OnDisk, source) => {
                if let Some(built) = &view.def.built {
                    built.refresh().await.map_err(|words| broken(&uri, &[words]))?;
                }
                let read = document::read(source, &view.declared, self.dev, self.script);
                read.map_err(|words| broken(&uri, &words))
            }
            (Document::Rendered, Source::Render(render)) => {
                let request = Request { uri, params, context, ui };
                let made = render.run(&self.server, request).await;
                made.map(|html| document::finish(html, self.script))
            }
            (Document::Rendered, _) => Err(broken(&uri, &[])),
        }
    }

    /// Dev mode: waits until a view's document is another than the one that is shown.
    pub(super) async fn follow(
        &self,
        arguments: JsonObject,
        context: RequestContext<RoleServer>,
        ui: HostUi,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |key| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let (uri, shown) = (text("uri").to_owned(), text("rev").to_owned());
        let Some((view, params)) = self.registry.find(&uri) else {
            return Err(unknown(&uri, &self.registry, Mode::Everything));
        };
        let found = || Found {
            uri: uri.clone(),
            view: Arc::clone(view),
            params: params.clone(),
            context: context.clone(),
        };
        let sources = view.def.built.as_ref().map(|built| built.sources().to_owned());
        let files: Vec<_> = view.def.source.on_disk().into_iter().chain(sources).collect();
        let deadline = Instant::now() + dev::WAIT;
        let mut seen = None;
        loop {
            let now: Vec<u64> = files.iter().map(|path| stamp(path)).collect();
            if seen.as_ref() != Some(&now) {
                seen = Some(now);
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
            Document::Rendered => dev::revision(&format!("{:?}", self.started)),
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

fn answer(words: &str, data: Value) -> CallToolResponse {
    let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
    result.structured_content = Some(data);
    result.into()
}

pub(super) fn unknown(uri: &str, registry: &Registry, mode: Mode) -> ErrorData {
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
