//! An embeddable host for MCP Apps.
//!
//! So far it has its upstream: the client that talks to MCP servers and passes on what they say without
//! losing any of it.

pub mod upstream;
