//! The whole gate: a view's call comes in on the WebSocket, is judged, goes to a server and its answer out again.
//!
//! The load comes from a process of its own, so that on two cores it has the other one. The server is a stub in
//! this process, which answers at once. Four questions:
//!
//! - how many calls a second pass,
//! - how long one takes while half of the bar passes,
//! - whether a call costs more with a thousand views beside it, or after half a million others,
//! - how much memory a thousand idle views take.
//!
//! A call is counted once, although it is two messages on the socket and two to the server.

use std::{
    io::{Read as _, Write as _},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream},
    net::TcpListener,
    runtime::Builder,
};
use transom::{
    host::{Limits, Rate, ServerLimits},
    origin::Origin,
    wire::MIME,
};
use transom_host::{
    Host,
    sandbox::Naming,
    upstream::{InProcess, Target},
};

#[path = "gate/load.rs"]
mod load;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, role, port, token] = &*arguments
        && role == "load"
    {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        return runtime.block_on(load::serve(port.parse().expect("a port"), token));
    }
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    let page = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = page.local_addr().expect("bound").port();
    let origin = Origin::parse(&format!("http://localhost:{port}")).expect("an origin");
    let host = Host::builder(vec![origin], Naming::Localhost { port: 1 })
        .limits(limits())
        .server_limits(server_limits())
        .server("stub", Target::InProcess(InProcess::new("stub", start)))
        .build()
        .expect("a host");
    let router = host.page_router();
    let page = axum::serve::ListenerExt::tap_io(page, |stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::spawn(async move { axum::serve(page, router).await });
    let token = host.token();
    let asking = tokio::task::spawn_blocking(move || ask_all(port, &token));
    asking.await.expect("no panic");
    host.close().await;
}

/// Tells the load what to do, one thing after the other, and prints what came of it.
fn ask_all(port: u16, token: &str) {
    let program = std::env::current_exe().expect("this program");
    let child = Command::new(program)
        .args(["load", &port.to_string(), token])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("a child");
    let (mut orders, mut answers) =
        (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let mut ask = |order: Value| -> Value {
        writeln!(orders, "{order}").expect("it listens");
        let mut line = vec![];
        let mut byte = [0];
        while answers.read(&mut byte).expect("it answers") == 1 && byte[0] != b'\n' {
            line.push(byte[0]);
        }
        serde_json::from_slice(&line).expect("JSON")
    };
    ask(json!({ "open": BUSY }));
    ask(json!({ "flood": 1.0 }));
    let calls = |answer: &Value| answer["perSecond"].as_f64().unwrap_or_default();
    let early = median((0..ROUNDS).map(|_| calls(&ask(json!({ "flood": 1.0 })))).collect());
    println!("calls a second: {early:.0} (bar 20000: {})", met(early >= 20_000.0));
    let paced = ask(json!({ "pace": 10_000, "for": 5.0 }));
    let p99 = paced["p99"].as_f64().unwrap_or(f64::MAX);
    println!(
        "at 10000 a second: median {:.2} ms, p99 {p99:.2} ms, longest {:.2} ms (bar p99 2 ms: {})",
        paced["p50"].as_f64().unwrap_or_default(),
        paced["max"].as_f64().unwrap_or_default(),
        met(p99 < 2.0)
    );
    let mut passed = 0.0;
    while passed < 500_000.0 {
        passed += ask(json!({ "flood": 2.0 }))["calls"].as_f64().expect("a number");
    }
    let late = median((0..ROUNDS).map(|_| calls(&ask(json!({ "flood": 1.0 })))).collect());
    println!("after half a million calls: {:.2} × the cost of before", early / late);
    let before = resident();
    ask(json!({ "idle": IDLE }));
    let after = resident();
    println!(
        "{IDLE} idle views: {after:.0} MB resident, {:.0} MB of it theirs (bar 100 MB: {})",
        after - before,
        met(after < 100.0)
    );
    let beside = median((0..ROUNDS).map(|_| calls(&ask(json!({ "flood": 1.0 })))).collect());
    println!("beside {IDLE} idle views: {:.2} × the cost without", late / beside);
    drop(orders);
    let _ = child.wait();
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn met(holds: bool) -> &'static str {
    if holds { "met" } else { "MISSED" }
}

/// Megabytes of this process.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

/// What is measured is what a call costs, not when it is refused.
fn limits() -> Limits {
    let endless = Rate { per_second: 1e9, burst: 1e9 };
    Limits { messages: endless, bytes: endless, ..Limits::default() }
}

fn server_limits() -> ServerLimits {
    let endless = Rate { per_second: 1e9, burst: 1e9 };
    ServerLimits { messages: endless, bytes: endless, ..ServerLimits::default() }
}

/// The stub: one tool with a view, which answers at once.
fn start() -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move {
        let (reader, mut writer) = tokio::io::split(theirs);
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message.get("id").is_none() {
                continue;
            }
            let result = answer(&message);
            let line =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", message["id"]);
            if writer.write_all(line.as_bytes()).await.is_err() || writer.flush().await.is_err() {
                return;
            }
        }
    });
    ours
}

fn answer(message: &Value) -> Value {
    let view = "ui://stub/view.html";
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "serverInfo": { "name": "stub", "version": "1" },
            "capabilities": { "tools": {}, "resources": {} },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "echo", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true },
            "_meta": { "ui": { "resourceUri": view } },
        }] }),
        "resources/list" => {
            json!({ "resources": [{ "uri": view, "name": "view", "mimeType": MIME }] })
        }
        "resources/read" => {
            json!({ "contents": [{ "uri": view, "mimeType": MIME, "text": "<p>hello" }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "echo" }] }),
        _ => json!({}),
    }
}

/// Views that call.
const BUSY: usize = 8;
/// Views that do not.
const IDLE: usize = 1_000;
const ROUNDS: usize = 5;
