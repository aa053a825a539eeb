//! The MCP Apps protocol as values.
//!
//! No socket, clock, file, thread or log: messages and the time go in, messages and decisions come out.

pub mod calls;
pub mod csp;
pub mod host;
pub mod origin;
pub mod partial;
pub mod permissions;
pub mod policy;
pub mod printed;
pub mod quoted;
mod reach;
pub mod rpc;
mod scan;
pub mod view;
pub mod violation;
pub mod wire;
