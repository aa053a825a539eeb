//! What must hold for any input: fuzzed by `fuzz/`, and replayed on its corpus by every test run.

pub(crate) mod csp;
pub(crate) mod message;
pub(crate) mod partial;
pub(crate) mod routes;
pub(crate) mod session;
pub(crate) mod value;
