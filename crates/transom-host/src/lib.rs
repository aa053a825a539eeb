//! An embeddable host for MCP Apps: connects to MCP servers, shows their views in real isolation, and
//! judges every message between them.

pub mod audit;
mod consent;
mod context;
pub mod decisions;
pub mod demo;
pub mod documents;
pub mod envelope;
mod fallback;
mod grants;
mod host;
mod kept;
mod log;
mod page;
pub mod sandbox;
mod secret;
mod server;
mod session;
pub mod upstream;

pub use grants::{MissingGrants, MissingNearby, MissingPermissions, PERMISSIONS, permissions};
pub use host::{Agreement, BuildError, Builder, Host};
pub use log::{Line, Log};
pub use server::{Remark, ServerState, SignIn, Standing};
