//! One test binary for the crate; each module keeps a kind of promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod children;
mod corpus;
mod documents;
mod doors;
mod envelope;
mod hostile_http;
mod hostile_pipe;
mod http_peer;
mod judge;
mod locked;
mod node;
mod oauth;
mod oauth_site;
mod operators;
mod pins;
mod pipe_peer;
mod ports;
mod property;
mod published;
mod rmcp_server;
mod sandbox;
mod stable;
mod store;
mod wishes;
