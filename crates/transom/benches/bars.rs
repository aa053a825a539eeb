//! The bars of the core, as ratios within one run: what is compared is measured in turns, so that a
//! noisy machine is noisy for both. Prints a table; asserts nothing.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "it measures and prints")]

use std::{hint::black_box, time::Instant};

use serde_json::Value;

#[allow(dead_code, unreachable_pub, reason = "shared by the benchmarks, each uses a part")]
mod common;

fn main() {
    println!("{:<44} {:>9} {:>7}", "", "measured", "bar");
    let result = common::raw(r#"{"content":[]}"#);
    for (name, text, rounds, bar) in [
        ("100 B call, whole trip / parse", common::small(), 40_000, 3.0),
        ("1 KB call, whole trip / parse", common::rows(900), 8_000, 3.0),
        ("1 MB call of rows, whole trip / parse", common::rows(1 << 20), 15, 0.35),
        ("1 MB call of one string, whole trip / parse", common::string(1 << 20), 60, 2.5),
    ] {
        let mut gate = common::ready();
        let ratio = compare(
            rounds,
            || _ = black_box(common::trip(&mut gate, &text, &result)),
            || _ = black_box(serde_json::from_slice::<Value>(text.as_bytes())),
        );
        row(name, ratio, bar);
    }
    row("the 200,000th call / the 1,000th", growth(), 1.2);
}

fn row(name: &str, ratio: f64, bar: f64) {
    println!("{name:<44} {ratio:>9.2} {bar:>7.2} {}", verdict(ratio, bar));
}

fn verdict(measured: f64, bar: f64) -> &'static str {
    if measured <= bar { "met" } else { "MISSED" }
}

/// The median over eleven turns of how long `a` takes relative to `b`.
fn compare(rounds: u32, mut a: impl FnMut(), mut b: impl FnMut()) -> f64 {
    let mut ratios: Vec<f64> =
        (0..11).map(|_| time(rounds, &mut a) / time(rounds, &mut b)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn time(rounds: u32, work: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..rounds {
        work();
    }
    start.elapsed().as_secs_f64()
}

/// A session that has handled 200,000 calls beside one that has handled a thousand.
fn growth() -> f64 {
    let result = common::raw(r#"{"content":[]}"#);
    let text = common::small();
    let aged = |calls: u32| {
        let mut gate = common::ready();
        for _ in 0..calls {
            common::trip(&mut gate, &text, &result);
        }
        gate
    };
    let (mut old, mut young) = (aged(200_000), aged(1_000));
    compare(
        20_000,
        || _ = black_box(common::trip(&mut old, &text, &result)),
        || _ = black_box(common::trip(&mut young, &text, &result)),
    )
}
