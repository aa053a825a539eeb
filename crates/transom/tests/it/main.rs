//! One test binary for the crate; each module is a promise.

mod corpus;
mod csp;
mod partial;
mod property;
