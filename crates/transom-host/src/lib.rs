//! An embeddable host for MCP Apps.

pub mod envelope;
