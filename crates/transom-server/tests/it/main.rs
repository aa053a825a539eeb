//! One test binary for the crate; each module is a promise.

mod bad_input;
mod beside;
mod board;
mod client;
mod clients;
#[cfg(feature = "fetch")]
mod corpus;
mod dev;
mod every_method;
mod fallback;
#[cfg(feature = "fetch")]
mod http;
#[cfg(feature = "fetch")]
mod property;
mod readme;
mod refusals;
mod rendered;
mod serve;
mod types;
mod wire;
