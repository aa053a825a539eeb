//! One test binary for the crate; each module is a promise.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod documents;
mod pins;
mod store;
