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
//! # What to decide
//!
//! | you decide | with | unless you do |
//! |---|---|---|
//! | what views may do | [`Builder::policy`], [`Builder::server_with`] and [`Agreement`] | reading is allowed, the rest is asked about |
//! | what they may use up | [`Builder::limits`], [`Builder::server_limits`], [`Builder::most_views`] | the limits of `docs/transom.toml` |
//! | what is kept | [`Builder::data`], [`Builder::remember`] | nothing, when the process ends |
//! | what is written down | [`Builder::audit`] and [`audit`] | nothing |
//! | where frames live | [`sandbox::Naming`] | – |
//!
//! `docs/security.md` of the repository says what a host like this promises, what it does not, and which test keeps each promise.
//! The protocol itself is the crate [`transom`], which knows no socket and no clock.

#![warn(missing_debug_implementations)]

mod allowance;
pub mod audit;
mod consent;
mod context;
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
mod page;
#[cfg(test)]
mod page_types;
pub mod place;
mod relay;
pub mod sandbox;
mod secret;
mod serve;
mod server;
pub mod upstream;
pub mod words;

pub use driver::AWAY;
pub use form::Form;
pub use grants::{MissingGrants, MissingNearby, MissingPermissions, permissions};
pub use host::{Agreement, BuildError, Builder, Host};
pub use kept::private_folder;
pub use log::{Line, LineKind, Log};
pub use page::PageKey;
pub use serve::serve;
pub use server::{Remark, ServerState, ShownTool, SignIn, Standing};

// The README's example, and the guide's, compiled with the others of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/host.md")]
struct Guide;
