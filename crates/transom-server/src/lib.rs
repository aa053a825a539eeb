//! Views for MCP servers on [rmcp](https://docs.rs/rmcp).
//!
//! A *view* is a document that a host shows in a frame beside a tool's answer, and that may call the
//! server's tools from there (MCP Apps, `io.modelcontextprotocol/ui`). To show one, a host wants five
//! things that have to agree: a resource in a list, the same resource when it is read, a link in a tool's
//! `_meta`, a capability, and text for those who cannot show it. Here they are made of one declaration.
//!
//! # A view in a few lines
//!
//! ```
//! use rmcp::handler::server::wrapper::Parameters;
//! use rmcp::{ErrorData, ServerHandler, schemars, tool_handler, tool_router};
//! use serde::{Deserialize, Serialize};
//! use transom_server::{HostUi, Shown, View, Views};
//!
//! #[derive(View)]
//! #[view(
//!     uri = "ui://incidents/board",
//!     html = "<!doctype html><title>Board</title><ul></ul>", // or file, dir, bundle, template
//!     title = "Incident board",
//!     csp(connect = "https://api.example.com"),
//!     border = true
//! )]
//! struct Board;
//!
//! #[derive(Deserialize, schemars::JsonSchema)]
//! struct Query { team: String }
//!
//! #[derive(Serialize, schemars::JsonSchema)]
//! struct Open { team: String, count: u32 }
//!
//! struct Incidents;
//!
//! #[tool_router]
//! impl Incidents {
//!     /// Show the open incidents of one team.
//!     #[transom_server::tool(view = Board, annotations(read_only_hint = true))]
//!     async fn show(&self, Parameters(query): Parameters<Query>) -> Result<Shown<Open>, ErrorData> {
//!         let open = Open { team: query.team, count: 3 };
//!         Ok(Shown::new(format!("3 open incidents for {}", open.team), open))
//!     }
//!
//!     /// Acknowledge one incident. The model does not see this tool: the board calls it.
//!     #[transom_server::tool(view = Board, only(app))]
//!     async fn ack(&self) -> Shown<()> {
//!         Shown::new("acknowledged", ())
//!     }
//! }
//!
//! #[tool_handler(name = "incidents")]
//! impl ServerHandler for Incidents {}
//!
//! # fn main() -> Result<(), transom_server::BuildError> {
//! let server = Views::wrap(Incidents).view::<Board>().build()?;
//! // transom_server::serve(server).await?
//! # let _ = server;
//! # Ok(())
//! # }
//! ```
//!
//! A tool names its view by type, so a misspelt one does not compile:
//!
//! ```compile_fail,E0433
//! # use rmcp::tool_router;
//! # struct Incidents;
//! #[tool_router]
//! impl Incidents {
//!     #[transom_server::tool(view = Bored)]
//!     fn show(&self) -> String {
//!         "3 open".to_owned()
//!     }
//! }
//! ```
//!
//! and one that was not registered is refused by [`Views::build`], with what to do about it, as is
//! everything else that would be a blank frame later: an address that is not `ui://`, an origin that does
//! not parse, a script from an origin that was not declared, a file that is not there.
//!
//! # What a tool returns
//!
//! [`Shown`] has a channel for each reader. The text is for the model, and is not optional. The data goes to
//! the view as `structuredContent`, with an `outputSchema` made of its type. What is large, or not for
//! the model, goes into [`Shown::private`]. [`Shown::or_text`] says it in other words to clients that do not
//! show views. rmcp's own result types work as well; a view can read them.
//!
//! # Where the HTML comes from
//!
//! | `#[view(…)]` | is |
//! |---|---|
//! | `file = "views/board.html"` | one file |
//! | `dir = "views/board"` | a folder's `index.html`, with its scripts, styles, images and fonts written into it |
//! | `bundle = "ui/dist/board.html"` | what a bundler made of everything; with `build = "npm --prefix ui run build"` and `sources = "ui/src"`, dev mode makes it anew |
//! | `html = "<!doctype html>…"` | the document itself |
//! | `html = Self::page` | a function of the request: `async fn(&RenderCx<Server>) -> Result<String, ErrorData>` |
//! | `template` | the struct's own `askama::Template`; with fields, `load = Self::load` fills them |
//!
//! Files are compiled in. A view is one document, and hosts show nothing beside it; so a reference that
//! `dir` cannot resolve is refused, and so is one to an origin that is not declared in `csp(…)`. Fonts are
//! handed over as bytes, since no host allows them as `data:`. Scripts that import other files want a bundler,
//! and `bundle` takes what it made; `import` in a comment or a text does not count. What a browser would
//! swallow, such as a comment that is never closed, is refused too.
//!
//! An address may have parameters, `ui://report/{id}`: it is then listed as a template, and
//! [`RenderCx::param`] tells what was asked for.
//!
//! The script by which a view talks to its host stands first in the head of every document, as the global
//! `transom` (`new transom.App(…)`), unless the document brings a client of its own or says
//! `<meta name="transom" content="off">`. [`runtime`] is the same for templates.
//!
//! # Clients that do not show views
//!
//! Whether a client does is read from each request, in both eras of MCP, and there are three answers:
//! [`HostUi::Yes`], [`HostUi::No`], and [`HostUi::Unknown`] for clients that had no chance to say so. A tool
//! can take a [`HostUi`] as an argument. What the others get is a [`Fallback`]: unless told otherwise, tools
//! that only a view can call are hidden from them and refused, and lists that differ by client are marked
//! as private to it. `?ui=on` and `?ui=off` in the server's URL, or `TRANSOM_UI` in its environment,
//! overrule what a client says.
//!
//! Who may see a tool is no protection: every client can claim to show views. Check who is
//! asking in an app-only tool as in any other.
//!
//! # While you write it
//!
//! With `TRANSOM_DEV=1`, files are read from disk, and views that are running in a host follow them: a
//! change of styles is made in place, any other change loads the document anew with the last input and
//! result. It all travels over MCP, so there is no port to open and no policy to loosen. What is wrong with
//! a document is shown in its place, and the server goes on. What a function or a template makes is a part of the
//! program: it is shown anew when the server has been started again, which `transom dev -- cargo run` does.
//!
//! # Served and tested
//!
//! [`Views::serve`] builds and serves in one line: over standard input and output, or with the feature `serve-http` and
//! `--http [ADDR]` over streamable HTTP, with its traps closed (`HttpServer`). The feature `test` has `test::Client`, which
//! lists, calls and reads as a host does and as a client without views does. [`Progress`] and [`Cancelled`] are arguments
//! of a tool that takes long.
//!
//! # Without macros
//!
//! [`ViewDef`] is what the derive makes, [`Views::declare`] takes one, and [`ViewDef::tool`] links a tool by
//! its name: any [`rmcp::ServerHandler`] can have views, however it is written.
//!
//! ```
//! use transom_server::{Audience, ViewDef, Views};
//! # struct Server;
//! # impl rmcp::ServerHandler for Server {
//! #     async fn list_tools(&self, _: Option<rmcp::model::PaginatedRequestParams>, _: rmcp::service::RequestContext<rmcp::RoleServer>) -> Result<rmcp::model::ListToolsResult, rmcp::ErrorData> {
//! #         let tool = rmcp::model::Tool::new("show", "Shows", rmcp::model::JsonObject::new());
//! #         Ok(rmcp::model::ListToolsResult::with_all_items(vec![tool]))
//! #     }
//! # }
//! let board = ViewDef::new("ui://incidents/board")
//!     .html("<!doctype html><title>Board</title>")
//!     .connect("https://api.example.com")
//!     .tool("show", Audience::Both);
//! let server = Views::wrap(Server).declare(board).build()?;
//! # let _ = server;
//! # Ok::<(), transom_server::BuildError>(())
//! ```
//!
//! Over HTTP each connection wants a server of its own: clones of [`WithViews`] share one, as in
//! `StreamableHttpService::new(move || Ok(server.clone()), …)`.

mod built;
mod dev;
mod document;
mod fallback;
mod handler;
mod host_ui;
#[cfg(feature = "fetch")]
mod http;
mod inline;
mod output;
mod probe;
mod progress;
mod refusal;
mod registry;
mod render;
mod schema;
mod serve;
mod shown;
mod source;
mod stamp;
mod template;
#[cfg(feature = "test")]
pub mod test;
mod view;
mod wrap;

#[cfg(feature = "fetch")]
pub use crate::http::{Credentials, Decision, HttpProxy, HttpRecord, Route};
pub use dev::Dev;
pub use fallback::{ClientFacts, Fallback, Mode};
pub use handler::WithViews;
pub use host_ui::HostUi;
pub use output::{Output, Returned, Taken, Untyped, no_input};
pub use progress::{Cancelled, Progress};
pub use refusal::{BuildError, Refusal, Rule};
pub use registry::Registry;
pub use render::{BoxFuture, RenderCx};
#[cfg(feature = "serve-http")]
pub use serve::HttpServer;
pub use serve::{ServeError, serve, serve_stdio};
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
/// that wants it elsewhere needs to call this: `{{ transom_server::runtime()|safe }}`.
pub fn runtime() -> String {
    format!("<script>{}</script>", transom_web::VIEW)
}

/// What `#[transom_server::tool]` writes as the `inputSchema` of a tool that takes `Parameters<T>`.
///
/// # Panics
///
/// `T` is no object: a tool's arguments have names.
pub fn input_schema<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    let schema = rmcp::handler::server::common::schema_for_input::<T>();
    schema::portable(schema.unwrap_or_else(|error| {
        panic!("{} cannot be a tool's arguments: {error}", std::any::type_name::<T>())
    }))
}

/// What `#[transom_server::tool]` writes as the `outputSchema` of a tool that returns [`Shown`].
pub fn output_schema<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    let mut schema = schema::portable(rmcp::handler::server::tool::schema_for_output::<T>());
    // Any JSON, as far as its type says; `Shown` sends objects only.
    let says = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
    if !says.iter().any(|key| schema.contains_key(*key)) {
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

#[cfg(doctest)]
#[doc = include_str!("../../../docs/servers.md")]
struct Guide;
