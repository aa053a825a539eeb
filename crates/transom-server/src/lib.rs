//! Views for MCP servers on [rmcp](https://docs.rs/rmcp).

mod dev;
mod document;
mod fallback;
mod handler;
mod host_ui;
mod inline;
mod probe;
mod refusal;
mod registry;
mod render;
mod shown;
mod source;
mod template;
mod view;
mod wrap;

pub use dev::Dev;
pub use fallback::{ClientFacts, Fallback, Mode};
pub use handler::WithViews;
pub use host_ui::HostUi;
pub use refusal::{BuildError, Refusal, Rule};
pub use registry::Registry;
pub use render::{BoxFuture, RenderCx};
pub use shown::Shown;
pub use source::Asset;
pub use transom_macros::{View, tool};
pub use view::{Audience, Permission, View, ViewDef, link_meta};
pub use wrap::Views;

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, MetaObject};
use schemars::JsonSchema;

/// The script by which a view talks to its host, as a whole `<script>` element.
///
/// It is put first into the head of every document that does not bring its own, so that only a template
/// that wants it elsewhere needs to call this.
pub fn runtime() -> String {
    format!("<script>{}</script>", transom_web::VIEW)
}

/// What `#[transom_server::tool]` writes as the `outputSchema` of a tool that returns [`Shown`].
pub fn output_schema<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    let mut schema = rmcp::handler::server::tool::schema_for_output::<T>();
    // Any JSON, as far as its type says; `Shown` sends objects only.
    let says_nothing = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
    if !says_nothing.iter().any(|key| schema.contains_key(*key)) {
        Arc::make_mut(&mut schema).insert("type".to_owned(), "object".into());
    }
    schema
}

/// What `#[transom_server::tool]` makes of `meta = …` beside `view = …`.
#[doc(hidden)]
pub fn with_link(mut meta: MetaObject, link: MetaObject) -> MetaObject {
    meta.0.extend(link.0);
    meta
}

/// What a template that fails is for a client: the author hears more in the log.
#[doc(hidden)]
pub fn template_failed(view: &str, error: &dyn std::fmt::Display) -> ErrorData {
    let message = format!("the template of {view} failed: {error}");
    tracing::error!("{message}");
    ErrorData::internal_error(message, None)
}
