//! The whole gate: a view's call comes in on the WebSocket, is judged, goes to a server and its answer out again.
//!
//! The load comes from a process of its own, on the other core where there is a `taskset` to say so. The server is a
//! stub in this process, which answers at once. Asked without an audit and with one:
//!
//! - how many calls a second pass,
//! - how long one takes while half of the bar passes,
//! - whether a call costs more when more views call, or with a long log behind it,
//! - how much memory a thousand idle views take.
//!
//! Asked for `excess` alone, it prints only what the gate adds to the 99th percentile of a bare socket while it writes an audit.
//!
//! A call is counted once, although it is two messages on the socket and two to the server, and three rows.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader as BufRead, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use axum::{
    Router,
    extract::ws::{Message, WebSocket, WebSocketUpgrade},
    response::Response,
    routing::any,
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
    audit::{Audit, Options},
    sandbox::Naming,
    upstream::{InProcess, Target},
};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[path = "gate/load.rs"]
mod load;
#[path = "gate/machine.rs"]
mod machine;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, role, port, token] = &*arguments
        && role == "load"
    {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        pin("1");
        return runtime.block_on(load::serve(port.parse().expect("a port"), token));
    }
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    pin("0");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.sqlite");
    let audit = Audit::open(&path, &Options::default()).await.expect("an audit");
    if std::env::args().any(|word| word == "excess") {
        return serve(Some(audit), ask_excess).await;
    }
    serve(None, ask_all).await;
    serve(Some(audit), ask_all).await;
}

/// What a host is asked: where it listens, with which token, and with which audit.
type Asking = fn(u16, &str, Option<&Audit>);

/// Measures one host, from its first call to its end.
async fn serve(audit: Option<Audit>, ask: Asking) {
    let page = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = page.local_addr().expect("bound").port();
    let origin = Origin::parse(&format!("http://localhost:{port}")).expect("an origin");
    let builder = Host::builder(vec![origin], Naming::Localhost { port: 1 })
        .limits(limits())
        .server_limits(server_limits())
        .server("stub", Target::InProcess(InProcess::new("stub", start)));
    let builder = audit.iter().fold(builder, |builder, audit| builder.audit(audit.clone()));
    let host = builder.build().expect("a host");
    let router = host.page_router();
    let router = router.merge(Router::new().route("/bare", any(bare)));
    tokio::spawn(transom_host::serve(page, router));
    let token = host.token();
    let asking = tokio::task::spawn_blocking(move || ask(port, &token, audit.as_ref()));
    asking.await.expect("no panic");
    host.close().await;
}

/// Tells the load what to do, one thing after the other, and prints what came of it.
fn ask_all(port: u16, token: &str, audit: Option<&Audit>) {
    let mut load = Load::start(port, token);
    println!("audit {}", if audit.is_some() { "on" } else { "off" });
    load.ask(&json!({ "open": BUSY }));
    load.ask(&json!({ "flood": 1.0, "views": BUSY }));
    let Calls { per_second, cost: early } = load.calls(BUSY);
    let bar = if audit.is_some() { 10_000.0 } else { 20_000.0 };
    println!("  calls a second: {per_second:.0} (bar {bar}: {})", met(per_second >= bar));
    let half = bar / 2.0;
    let [gate, bare] = take_turns(&mut load, half);
    for (what, all) in [("the gate", &gate), ("a socket without a gate", &bare)] {
        let middle = |n: usize| median(all.iter().map(|figures| figures[n]).collect());
        println!(
            "  {what}, {half} calls a second, the middle of {ROUNDS} rounds: median {:.2} ms, p99 {:.2} ms, longest {:.2} ms",
            middle(0),
            middle(1),
            middle(2),
        );
        println!(
            "    sent late by {:.2} ms at p99; this process was ready and not running for {:.0} ms of each second",
            middle(3),
            middle(4),
        );
        if middle(5) < 1e2 {
            println!(
                "    the machine was away for {:.1} % of the time, which {:.1} % of the calls did not notice: p99 of those {:.2} ms",
                middle(5),
                middle(6),
                middle(7),
            );
        } else {
            println!(
                "    the system grants no watcher of the cores here: whether they were taken away is not known"
            );
        }
    }
    let figure = |n: usize| median(gate.iter().map(|figures| figures[n]).collect());
    println!(
        "  bar for the gate's p99, 2 ms: {}, and while the machine was there: {}",
        met(figure(1) < 2.0),
        met(figure(7) < 2.0),
    );
    if audit.is_some() {
        print_excess(&gate, &bare);
    }
    let before = resident();
    load.ask(&json!({ "open": MANY - BUSY }));
    let after = resident();
    println!(
        "  {MANY} idle views: {after:.0} MB resident, {:.0} MB of it theirs (bar 100 MB: {})",
        after - before,
        met(after < 100.0)
    );
    // By turns again: the machine is now and then a third slower for a while.
    let mut costs = CALLING.map(|_| vec![]);
    for _ in 0..ROUNDS {
        for (count, costs) in CALLING.into_iter().zip(&mut costs) {
            costs.push(load.flood(count).cost);
        }
    }
    let [few, ref more @ ..] = costs.map(median);
    println!(
        "  {BUSY} of {MANY} views that call: {:.2} × what a call costs without the others",
        few / early
    );
    for (count, cost) in CALLING[1..].iter().zip(more) {
        println!(
            "  {count} of {MANY} views that call: {:.2} × what a call of {BUSY} of them costs",
            cost / few
        );
    }
    let Some(audit) = audit else { return };
    while audit.head().seq < ROWS {
        load.ask(&json!({ "flood": 2.0, "views": BUSY }));
    }
    let full = load.calls(BUSY).cost / early;
    println!("  after {} rows: {full:.2} × what a call costs after few", audit.head().seq);
}

/// What the gate adds to a bare socket's 99th percentile while half of the bar passes and all of it is written down.
fn ask_excess(port: u16, token: &str, _: Option<&Audit>) {
    let mut load = Load::start(port, token);
    load.ask(&json!({ "open": BUSY }));
    load.ask(&json!({ "flood": 1.0, "views": BUSY }));
    let [gate, bare] = take_turns(&mut load, 5_000.0);
    print_excess(&gate, &bare);
}

/// The figures of one round: median, 99th percentile, longest, late at p99, waited, absence, untouched, and their 99th percentile.
type Round = [f64; 8];

/// So many calls a second through the gate and through a bare socket: by turns, so that what the machine does beside this
/// happens to both.
fn take_turns(load: &mut Load, pace: f64) -> [Vec<Round>; 2] {
    let (mut gate, mut bare) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        for (is_bare, all) in [(false, &mut gate), (true, &mut bare)] {
            let (_, waited) = schedule();
            let paced = load.ask(&json!({ "pace": pace, "for": 2.0, "bare": is_bare }));
            let figure = |name: &str| paced[name].as_f64().unwrap_or(f64::MAX);
            let waited = (schedule().1 - waited) * 1e3 / 2.0;
            let names = ["p50", "p99", "max", "late", "away", "spared", "sparedP99"];
            let [p50, p99, max, late, away, spared, rest] = names.map(figure);
            all.push([p50, p99, max, late, waited, away * 1e2, spared * 1e2, rest]);
        }
    }
    [gate, bare]
}

/// How much longer a call takes than on the bare socket, in those that no absence of the machine touched. Each round of the gate
/// is compared with the round of the socket that followed it.
fn print_excess(gate: &[Round], bare: &[Round]) {
    let each = gate.iter().zip(bare).map(|(gate, bare)| gate[7] - bare[7]);
    let mut each: Vec<f64> = each.collect();
    let middle = median(each.clone());
    each.sort_by(f64::total_cmp);
    let all: Vec<String> = each.iter().map(|excess| format!("{excess:.2}")).collect();
    println!(
        "  excess over the bare socket at p99, untouched calls, median of {ROUNDS}: {middle:.2} ms of {EXCESS} ({}); each: {}",
        met(middle <= EXCESS),
        all.join(", ")
    );
}

/// What came of a flood.
struct Calls {
    per_second: f64,
    /// Seconds of this process for one call, which other programs of the machine do not lengthen.
    cost: f64,
}

/// How long the threads of this process have run, and how long they were ready and not running, in seconds.
fn schedule() -> (f64, f64) {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let (mut ran, mut waited) = (0.0, 0.0);
    for thread in threads {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        let mut figures = text.split_whitespace().map(|figure| figure.parse().unwrap_or(0.0) / 1e9);
        ran += figures.next().unwrap_or_default();
        waited += figures.next().unwrap_or_default();
    }
    (ran, waited)
}

/// The other process.
struct Load {
    child: Child,
    orders: ChildStdin,
    answers: BufRead<ChildStdout>,
}

impl Load {
    fn start(port: u16, token: &str) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .args(["load", &port.to_string(), token])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let orders = child.stdin.take().expect("piped");
        let answers = BufRead::new(child.stdout.take().expect("piped"));
        Self { child, orders, answers }
    }

    fn ask(&mut self, order: &Value) -> Value {
        writeln!(self.orders, "{order}").expect("it listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Calls of so many views, as many as pass in a second.
    fn flood(&mut self, views: usize) -> Calls {
        let (before, _) = schedule();
        let answer = self.ask(&json!({ "flood": 1.0, "views": views }));
        Calls {
            per_second: answer["perSecond"].as_f64().unwrap_or_default(),
            cost: (schedule().0 - before) / answer["calls"].as_f64().unwrap_or_default(),
        }
    }

    /// The middle of some such floods.
    fn calls(&mut self, views: usize) -> Calls {
        let all: Vec<Calls> = (0..ROUNDS).map(|_| self.flood(views)).collect();
        let middle = |of: fn(&Calls) -> f64| median(all.iter().map(of).collect());
        Calls { per_second: middle(|calls| calls.per_second), cost: middle(|calls| calls.cost) }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps this process on one core, if that can be had: the other one is for the other process.
fn pin(core: &str) {
    let own = std::process::id().to_string();
    let _ = Command::new("taskset").args(["-a", "-cp", core, &own]).stdout(Stdio::null()).status();
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
    Limits { messages: endless, bytes: endless, calls: usize::MAX, ..Limits::default() }
}

fn server_limits() -> ServerLimits {
    let endless = Rate { per_second: 1e9, burst: 1e9 };
    ServerLimits { messages: endless, bytes: endless, calls: usize::MAX, ..ServerLimits::default() }
}

/// What the machine and the libraries take: a socket that answers every call at once, without a gate that judges it.
async fn bare(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(async |mut socket: WebSocket| {
        let mut said: HashMap<String, u64> = HashMap::new();
        while let Some(Ok(Message::Text(text))) = socket.recv().await {
            let frame: Value = serde_json::from_str(&text).expect("JSON");
            let (view, seq, id) = (&frame["view"], &frame["seq"], &frame["message"]["id"]);
            let own = said.entry(view.to_string()).or_default();
            *own += 1;
            let answer = format!(
                r#"{{"view":{view},"seq":{own},"ack":{seq},"message":{{"jsonrpc":"2.0","id":{id},"result":{{}}}}}}"#
            );
            if socket.send(Message::Text(answer.into())).await.is_err() {
                return;
            }
        }
    })
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
const MANY: usize = 1_000;
const CALLING: [usize; 4] = [BUSY, 1, 100, MANY];
/// A long log.
const ROWS: u64 = 1_000_000;
const ROUNDS: usize = 5;
/// Half of the 1.9 ms that the gate with an audit was above a bare socket at first.
const EXCESS: f64 = 0.95;
