//! Messages per second through the host session, beside the cost of parsing the same bytes.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::Value;

#[allow(dead_code, unreachable_pub, reason = "shared by the benchmarks, each uses a part")]
mod common;

fn session(criterion: &mut Criterion) {
    let result = common::raw(r#"{"content":[]}"#);
    let messages = [
        ("100 B", common::small()),
        ("1 KB", common::rows(900)),
        ("1 MB rows", common::rows(1 << 20)),
        ("1 MB string", common::string(1 << 20)),
    ];
    for (name, text) in messages {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(1));
        let mut gate = common::ready();
        group.bench_function("session", |bencher| {
            bencher.iter(|| common::trip(&mut gate, &text, &result));
        });
        group.bench_function("value", |bencher| {
            bencher.iter(|| serde_json::from_slice::<Value>(text.as_bytes()).expect("JSON"));
        });
        group.finish();
    }
}

criterion_group!(benches, session);
criterion_main!(benches);
