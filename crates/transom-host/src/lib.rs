//! An embeddable host for MCP Apps: connects to MCP servers, shows their views in real isolation, and
//! judges every message between them.

#![warn(missing_debug_implementations)]

pub mod audit;
mod consent;
mod context;
mod crowd;
pub mod decisions;
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
pub mod place;
pub mod sandbox;
mod secret;
mod serve;
mod server;
pub mod upstream;
pub mod words;

pub use grants::{MissingGrants, MissingNearby, MissingPermissions, PERMISSIONS, permissions};
pub use host::{Agreement, BuildError, Builder, Host};
pub use kept::private_folder;
pub use log::{Line, LineKind, Log};
pub use serve::serve;
pub use server::{Remark, ServerState, SignIn, Standing};
