//! The property lives with the tests, which replay the corpus.
#![no_main]

#[path = "../../crates/transom-server/tests/it/property/proxy.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
