//! One test binary for the crate; each module is a promise.

mod bad_input;
mod board;
mod clients;
mod dev;
mod every_method;
mod fallback;
#[cfg(feature = "fetch")]
mod http;
mod readme;
mod refusals;
mod rendered;
mod wire;
