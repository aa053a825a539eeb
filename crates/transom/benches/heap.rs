//! What an idle session weighs: heap bytes over a thousand of them, its own struct included.

#![expect(clippy::disallowed_macros, reason = "it prints what it measured")]

use std::{sync::Arc, time::Duration};

use transom::host::{ServerLimits, Session, Setup, Share};

#[allow(dead_code, unreachable_pub, reason = "shared by the benchmarks, each uses a part")]
mod common;

// Counting costs time, so this one is apart from those that measure it.
#[global_allocator]
static HEAP: dhat::Alloc = dhat::Alloc;

fn main() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let (setup, opening) = (Arc::new(Setup::default()), common::opening());
    let mut share = Share::new(Duration::ZERO, ServerLimits::default());
    let mut sessions = Vec::with_capacity(1_000);
    let before = dhat::HeapStats::get().curr_bytes;
    sessions.extend((0..1_000).map(|_| common::open(&setup, &opening, &mut share)));
    let after = dhat::HeapStats::get().curr_bytes;
    let bytes = (after - before) / sessions.len() + size_of::<Session>();
    let verdict = if bytes <= BAR { "met" } else { "MISSED" };
    println!("heap of an idle session: {bytes} B, bar {BAR} B: {verdict}");
}

const BAR: usize = 8 << 10;
