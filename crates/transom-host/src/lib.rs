//! An embeddable host for MCP Apps.
//!
//! Documents are read, reviewed and kept; each view runs on an origin of its own.

pub mod documents;
pub mod sandbox;
