//! One test binary for the crate; each module is a promise.

mod board;
mod clients;
mod wire;
