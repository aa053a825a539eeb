//! One test binary for the crate; each module is a promise.
