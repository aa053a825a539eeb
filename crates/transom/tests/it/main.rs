//! One test binary for the crate; each module keeps a kind of promise.

#![expect(clippy::disallowed_methods, reason = "fixtures are files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_macros, reason = "a failing world prints its trace")]

mod corpus;
mod csp;
mod handles;
mod limits;
mod mcp_ui;
mod partial;
mod property;
mod reprint;
mod routes;
mod stories;
mod value;
mod verdicts;
mod walk;
mod wire_fixtures;
mod world;
