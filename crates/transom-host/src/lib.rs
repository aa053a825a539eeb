//! An embeddable host for MCP Apps: connects to MCP servers, shows their views in real isolation, and
//! judges every message between them.

mod consent;
pub mod demo;
pub mod documents;
pub mod envelope;
mod host;
mod log;
mod page;
pub mod sandbox;
mod secret;
mod server;
mod session;
pub mod upstream;

pub use host::{BuildError, Builder, Host};
pub use log::{Line, Log};
