//! Every file of the fuzz corpus, as an ordinary test.

#[path = "../../../../fuzz/replay.rs"]
mod files;

use crate::property;
use files::replay;

#[test]
fn csp() {
    replay("csp", property::csp::check);
}

#[test]
fn message() {
    replay("message", property::message::check);
}

#[test]
fn partial() {
    replay("partial", property::partial::check);
}

#[test]
fn routes() {
    replay("routes", property::routes::check);
}

#[test]
fn session() {
    replay("session", property::session::check);
}

#[test]
fn value() {
    replay("value", property::value::check);
}
