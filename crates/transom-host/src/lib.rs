//! A host for MCP Apps, as a library: it connects to MCP servers, shows their views in frames on origins of
//! their own, and judges every message between them.
//!
//! ```text
//!                         your process                                     the person's browser
//!              ┌──────────────────────────────────────┐        ┌────────────────────────────────────────┐
//!  MCP server ─┤ upstream ─ documents ─ gate ─ audit  ├─ /ws ──┤ your page ── sandbox ── view           │
//!  stdio, HTTP │            page_router, api_router   │        │ <transom-view>                         │
//!              │            sandbox_router            ├─ GET ──┤              own origin  own origin    │
//!              └──────────────────────────────────────┘        └────────────────────────────────────────┘
//! ```
//!
//! # A host in a few lines
//!
//! Two listeners: one for the page, one for the frames. Browsers keep the two apart because their origins differ.
//!
//! ```
//! use std::time::Duration;
//!
//! use tokio::net::TcpListener;
//! use transom::origin::Origin;
//! use transom_host::{Host, Standing, demo, sandbox::Naming, upstream::Target};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let page = TcpListener::bind("127.0.0.1:0").await?;
//! let frames = TcpListener::bind("127.0.0.1:0").await?;
//! let origin = Origin::parse(&format!("http://localhost:{}", page.local_addr()?.port()))?;
//! let naming = Naming::Localhost { port: frames.local_addr()?.port() };
//!
//! let host = Host::builder(vec![origin.clone()], naming)
//!     // or Target::Stdio(Command::new("npx", ["-y", "some-mcp-server"])), or Target::Http(…)
//!     .server("demo", Target::InProcess(demo::server()))
//!     .build()?;
//! tokio::spawn(transom_host::serve(page, host.page_router()));
//! tokio::spawn(transom_host::serve(frames, host.sandbox_router()));
//! println!("{origin}/#token={}", host.token()); // open this once
//!
//! // How the servers are; asked again whenever that changes.
//! let (mut seen, mut servers) = host.servers(None, Duration::ZERO).await;
//! while !matches!(servers[0].state, Standing::Ready) {
//!     (seen, servers) = host.servers(Some(seen), Duration::from_secs(10)).await;
//! }
//! assert_eq!(servers[0].name, "demo");
//!
//! host.close().await; // views first, then servers
//! # Ok(())
//! # }
//! ```
//!
//! [`Host::page_router`] brings the page of `transom run`. For a page of your own take [`Host::api_router`] and
//! [`Host::guard`], and put `<transom-view>` of the npm package `transom` on it; the example `embed` is a whole program.
//!
//! # A page of your own
//!
//! Your page's routes go behind the checks of [`Host::guard`], and get its policy. Frames rely on that, so it can be widened
//! only by what [`PagePolicy`] can say. Each load of the page gets a key, from you and for whom you know.
//!
//! ```
//! use std::time::Duration;
//!
//! use axum::{Router, response::Html, routing::{get, post}};
//! use transom::{csp::Source, origin::Origin};
//! use transom_host::{Host, PagePolicy, sandbox::Naming};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let origin = Origin::parse("http://localhost:7620")?;
//! let host = Host::builder(vec![origin], Naming::Localhost { port: 7621 })
//!     .page_policy(PagePolicy::default().forms().images(Source::parse("https://cdn.example.com")?))
//!     .build()?;
//! let key = host.page_key(Duration::from_secs(3600));
//! let own = Router::new()
//!     .route("/", get(async || Html("<form method=post action=/sign-in>…</form>")))
//!     .route("/sign-in", post(async || "who you know gets key.reveal()"));
//! let router = host.guard(own).merge(host.api_router());
//! # drop(router);
//! // Who signs out takes it back: its sockets end, and what waits for news.
//! key.take_back();
//! # Ok(())
//! # }
//! ```
//!
//! # Rules of your own
//!
//! A [`Policy`](transom::policy::Policy) says what is allowed, asked about and refused; a server may have one of its own.
//!
//! ```
//! use transom::{origin::Origin, policy::{Policy, Stance}};
//! use transom_host::{Agreement, Host, demo, sandbox::Naming, upstream::Target};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Views save no files, and those of this one server call what changes something only after a question.
//! let mut all = Policy::default();
//! all.downloads = Stance::Deny;
//! let mut careful = all.clone();
//! careful.read_only_tools = Stance::Ask;
//! let agreement = Agreement { policy: Some(careful), ..Agreement::default() };
//! # let origin = Origin::parse("http://localhost:7620")?;
//! let host = Host::builder(vec![origin], Naming::Localhost { port: 7621 })
//!     .policy(all)
//!     .server_with("demo", Target::InProcess(demo::server()), agreement)
//!     .build()?;
//! # host.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # A server in your process
//!
//! [`upstream::InProcess::serving`] takes anything that serves MCP on a stream, such as rmcp's handlers, and has an example.
//!
//! # Where rows are kept
//!
//! [`audit::Audit::open`] keeps them in a file, [`audit::Sink`] wherever you like, and has an example. Either way an effect happens when its row
//! is kept, and not before.
//!
//! # Operating it
//!
//! ```
//! use std::time::Duration;
//!
//! use tokio::net::TcpListener;
//! use transom::origin::Origin;
//! use transom_host::{Host, Operators, sandbox::Naming};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let origin = Origin::parse("http://localhost:7620")?;
//! let host = Host::builder(vec![origin], Naming::Localhost { port: 7621 }).build()?;
//! // On a listener of its own: /healthz, /readyz, /metrics.
//! let operators = TcpListener::bind("127.0.0.1:0").await?;
//! tokio::spawn(transom_host::serve(operators, host.operator_router(Operators::default())?));
//! // The end: no new views, calls are finished, views save, servers end.
//! host.drain(Duration::from_secs(20)).await;
//! host.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # What to decide
//!
//! | you decide | with | unless you do |
//! |---|---|---|
//! | what views may do | [`Builder::policy`], [`Builder::server_with`] and [`Agreement`] | reading is allowed, the rest is asked about |
//! | what they may use up | [`Builder::limits`], [`Builder::server_limits`], [`Builder::most_views`] | the limits of `docs/transom.toml` |
//! | what your page may do | [`Builder::page_policy`] | files of its own origin, and frames of views |
//! | what is kept | [`Builder::data`], [`Builder::remember`] | nothing, when the process ends |
//! | what is written down | [`Builder::audit`] and [`audit`] | nothing |
//! | where frames live | [`sandbox::Naming`] | – |
//!
//! `docs/security.md` of the repository says what a host like this promises, what it does not, and which test keeps each promise.
//! The protocol itself is the crate [`transom`], which knows no socket and no clock.

#![warn(missing_debug_implementations)]

mod adding;
mod address;
mod allowance;
pub mod audit;
mod consent;
mod context;
mod conversation;
mod crowd;
pub mod decisions;
#[doc(hidden)]
pub mod demo;
mod digest;
pub mod documents;
mod driver;
/// What page and process say to one another. Public for the tests and fuzz targets of this repository; no part of the API.
#[doc(hidden)]
pub mod envelope;
mod fallback;
mod form;
mod grants;
mod host;
mod kept;
mod log;
mod making;
mod metrics;
mod operators;
mod page;
#[cfg(test)]
mod page_types;
pub mod place;
mod relay;
mod runs;
pub mod sandbox;
mod secret;
mod serve;
mod server;
pub mod timeline;
pub mod upstream;
pub mod words;

pub use adding::{AddError, Addition, Answer, Doorkeeper};
pub use conversation::{Model, ModelKind, ModelRefused};
pub use driver::AWAY;
pub use form::Form;
pub use grants::{MissingGrants, MissingNearby, MissingPermissions, permissions};
pub use host::{BuildError, Builder, Host};
pub use kept::private_folder;
pub use log::{Line, LineKind, Log};
pub use making::Agreement;
pub use operators::Operators;
pub use page::{PageKey, PagePolicy, SourceAmongFrames};
pub use secret::ShortToken;
pub use serve::serve;
pub use server::{Remark, ServerState, ShownTool, SignIn, Standing};
pub use timeline::Recording;

// The README's example, and the guide's, compiled with the others of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/host.md")]
struct Guide;
