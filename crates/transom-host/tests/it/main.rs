//! One test binary for the crate; each module keeps a kind of promise.

mod envelope;
