//! An embeddable host for MCP Apps.
