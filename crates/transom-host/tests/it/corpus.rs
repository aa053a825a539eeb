//! Every file of the fuzz corpus, as an ordinary test.

#[path = "../../../../fuzz/replay.rs"]
mod files;

use crate::property;
use files::replay;

#[test]
fn envelope() {
    replay("envelope", property::envelope::check);
}

#[test]
fn salvage() {
    replay("salvage", property::salvage::check);
}

#[test]
fn scan() {
    replay("scan", property::scan::check);
}

#[test]
fn sse() {
    replay("sse", property::sse::check);
}
