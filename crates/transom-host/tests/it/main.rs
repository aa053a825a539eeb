//! One test binary for the crate; each module is a promise.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod documents;
mod pins;
mod ports;
mod sandbox;
mod stable;
mod store;
