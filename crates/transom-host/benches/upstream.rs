//! A large tool result through the upstream client, against reading it into a `RawValue` envelope.
//!
//! Both sides read the same bytes from the same kind of pipe, on one thread: the bar is what our client
//! adds. Printed as ratios of interleaved rounds, of their medians and of their fastest; the bar is 1.5
//! and holds for the fastest, which a busy machine disturbs least.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream},
    runtime::Builder,
};
use transom_host::upstream::{
    CallOptions, Era, InProcess, Memo, Options, Remembered, Request, Target, Upstream,
};

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut worst: f64 = 0.0;
    for era in [Era::Greeting, Era::Stateless] {
        let mut bench = runtime.block_on(Bench::new(era));
        let mut rounds = vec![];
        for _ in 0..ROUNDS {
            rounds.push(runtime.block_on(bench.round()));
        }
        let (mut ours, mut envelope): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
        ours.sort_unstable();
        envelope.sort_unstable();
        let ratio = |at: usize| ours[at].as_secs_f64() / envelope[at].as_secs_f64();
        let (median, fastest) = (ratio(ROUNDS / 2), ratio(0));
        worst = worst.max(fastest);
        println!(
            "{era:?}: upstream {:?}, envelope {:?}; ratio of medians {median:.2}, of the fastest {fastest:.2} (bar {BAR})",
            ours[ROUNDS / 2],
            envelope[ROUNDS / 2],
        );
    }
    assert!(worst <= BAR, "ratio {worst:.2} is over the bar");
}

/// The same server behind the client and behind a bare reader.
struct Bench {
    upstream: Upstream,
    bare: BufReader<DuplexStream>,
    request: Request,
}

impl Bench {
    async fn new(era: Era) -> Self {
        let memo = Arc::new(Remembered::default());
        memo.remember("in-process large", era);
        let target = Target::InProcess(InProcess::new("large", start));
        let options = Options { memo, ..Options::default() };
        let upstream = Upstream::connect(target, options).await.expect("it connects");
        assert_eq!(upstream.server().era, era);
        Self { upstream, bare: BufReader::new(start()), request: Request::new("large") }
    }

    /// Both once, in turn; the client first every other time.
    async fn round(&mut self) -> (Duration, Duration) {
        static TURN: AtomicU64 = AtomicU64::new(0);
        if TURN.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            let ours = self.ours().await;
            (ours, self.envelope().await)
        } else {
            let envelope = self.envelope().await;
            (self.ours().await, envelope)
        }
    }

    async fn ours(&self) -> Duration {
        let began = Instant::now();
        let call = self.upstream.call(&self.request, CallOptions::default()).expect("connected");
        let result = call.outcome().await.expect("a result");
        assert!(result.get().len() > LEAST);
        began.elapsed()
    }

    async fn envelope(&mut self) -> Duration {
        let began = Instant::now();
        let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"large\"}\n";
        self.bare.get_mut().write_all(request).await.expect("it reads");
        let mut line = String::new();
        self.bare.read_line(&mut line).await.expect("it writes");
        let envelope: Envelope = serde_json::from_str(&line).expect("an answer");
        assert!(envelope.result.get().len() > LEAST);
        began.elapsed()
    }
}

#[derive(Deserialize)]
struct Envelope {
    result: Box<RawValue>,
}

/// A server that answers everything at once, and `large` with 1.4 MB of rows.
fn start() -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    tokio::spawn(async move {
        let mut lines = BufReader::new(theirs);
        let large = rows();
        let mut line = String::new();
        while lines.read_line(&mut line).await.is_ok_and(|size| size > 0) {
            let message: Message = serde_json::from_str(&line).expect("the client writes JSON");
            if let Some(id) = message.id {
                let result = if message.method == "large" { &large } else { GREETING };
                let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
                lines.get_mut().write_all(answer.as_bytes()).await.expect("the client reads");
            }
            line.clear();
        }
    });
    ours
}

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    method: String,
}

fn rows() -> String {
    let row = |n: usize| {
        format!(
            r#"{{"id":{n},"name":"Müller & Söhne {n}","amount":{n}.25,"tags":["a","b"],"open":true,"note":"line {n} of many"}}"#
        )
    };
    let rows: Vec<String> = (0..12_300).map(row).collect();
    format!(
        r#"{{"content":[{{"type":"text","text":"rows"}}],"structuredContent":{{"rows":[{}]}}}}"#,
        rows.join(",")
    )
}

const GREETING: &str = r#"{"protocolVersion":"2025-11-25","supportedVersions":["2026-07-28"]}"#;
const ROUNDS: usize = 200;
const LEAST: usize = 1_400_000;
const BAR: f64 = 1.5;
