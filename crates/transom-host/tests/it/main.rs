//! One test binary for the crate; each module is a kind of peer.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod children;
mod hostile_http;
mod hostile_pipe;
mod http_peer;
mod node;
mod pipe_peer;
mod published;
mod rmcp_server;
mod wishes;
