//! The fuzzers' corpus, replayed.

#[path = "../../../../fuzz/replay.rs"]
mod replay;

use crate::property;

#[test]
fn proxy() {
    replay::replay("proxy", property::proxy::check);
}
