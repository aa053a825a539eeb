//! What healing streamed arguments costs, beside parsing the same bytes once.

use criterion::{BenchmarkId, Criterion, Throughput};
use serde_json::Value;
use transom::partial::Healer;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for kilobytes in [1, 16, 256] {
        bench(&mut criterion, kilobytes);
    }
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion, kilobytes: usize) {
    let text = document(kilobytes);
    let mut group = criterion.benchmark_group("partial");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(BenchmarkId::new("push", kilobytes), |b| b.iter(|| pushed(&text)));
    let healer = pushed(&text[..text.len() * 9 / 10]);
    group.bench_function(BenchmarkId::new("healed", kilobytes), |b| b.iter(|| healer.healed()));
    let parse = || serde_json::from_str::<Value>(&text).is_ok();
    group.bench_function(BenchmarkId::new("value", kilobytes), |b| b.iter(parse));
}

/// Pushes in pieces of a model's usual size.
fn pushed(mut text: &str) -> Healer {
    let mut healer = Healer::new();
    while !text.is_empty() {
        let (fragment, rest) = text.split_at(text.len().min(4));
        healer.push(fragment).expect("the document is an object in ASCII");
        text = rest;
    }
    healer
}

/// Rows of five short fields and a paragraph, as arguments tend to be.
fn document(kilobytes: usize) -> String {
    let row = r#"{"id":1024,"name":"Ada","city":"Paris","score":0.75,"ok":true,"#;
    let row = format!("{row}\"note\":\"{}\"}}", "Half of it is prose.\\n".repeat(3));
    let rows = vec![row.as_str(); (kilobytes << 10) / row.len()];
    format!("{{\"rows\":[{}]}}", rows.join(","))
}
