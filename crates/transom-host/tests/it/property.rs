//! What must hold for any input: fuzzed by `fuzz/`, and replayed on its corpus by every test run.

pub(crate) mod envelope;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod sse;
