//! What views cost a server that already runs on rmcp: the same server bare and wrapped, asked in turns by a
//! real client over a duplex, so that a noisy machine is noisy for both. Prints a table, then criterion's
//! statistics; asserts nothing.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use rmcp::model::*;
use rmcp::service::{RequestContext, RunningService, serve_directly};
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;
use tokio::runtime::Runtime;
use transom_server::{Audience, ViewDef, Views, WithViews, link_meta};

/// Fifty tools, half of them with a view, and an answer that is ready.
#[derive(Clone)]
struct Server {
    tools: Vec<Tool>,
    answer: CallToolResult,
}

impl Server {
    fn new() -> Self {
        let schema = json!({ "type": "object", "properties": { "team": { "type": "string" } } });
        let schema = schema.as_object().cloned().expect("an object");
        let tool = |at: usize| {
            let mut tool = Tool::new(format!("tool_{at}"), "Does one thing", schema.clone());
            tool.meta = match at % 4 {
                0 => Some(link_meta(Some(URI), Audience::Both)),
                1 => Some(link_meta(Some(URI), Audience::App)),
                _ => None,
            };
            tool
        };
        let mut answer = CallToolResult::success(vec![ContentBlock::text("3 open incidents")]);
        answer.structured_content = Some(json!({ "team": "db", "open": [1, 2, 3] }));
        Self { tools: (0..50).map(tool).collect(), answer }
    }

    fn wrapped() -> WithViews<Self> {
        let def = ViewDef::new(URI).html("<!doctype html><title>Board</title>");
        Views::wrap(Self::new()).declare(def).build().expect("it is sound")
    }
}

impl ServerHandler for Server {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.answer.clone().into())
    }
}

type Client = RunningService<RoleClient, ()>;

async fn connect(server: impl ServerHandler) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let running = server.serve(theirs).await.expect("the server accepts the client");
        let _ = running.waiting().await;
    });
    ().serve(ours).await.expect("the client is accepted")
}

async fn call(client: &Client) {
    let call = CallToolRequestParams::new("tool_0");
    black_box(client.call_tool(call).await.expect("it answers"));
}

/// Once through the handler alone: what is between the wire and the wire.
async fn list(server: &impl ServerHandler, context: RequestContext<RoleServer>) {
    black_box(server.list_tools(None, context).await.expect("it answers"));
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime without threads needs only memory");
    let (bare, wrapped) = (Server::new(), runtime.block_on(async { Server::wrapped() }));
    let clients =
        runtime.block_on(async { (connect(bare.clone()).await, connect(wrapped.clone()).await) });
    let peer = runtime.block_on(async {
        let hello = InitializeRequestParams::new(capabilities(), Implementation::new("bench", "1"));
        let nowhere = (tokio::io::empty(), tokio::io::sink());
        serve_directly(Server::new(), nowhere, Some(hello)).peer().clone()
    });
    let context = || RequestContext::new(RequestId::Number(1), peer.clone());

    let (with, without) =
        compare(&runtime, 2_000, async || call(&clients.1).await, async || call(&clients.0).await);
    let ratio = with.as_secs_f64() / without.as_secs_f64();
    println!("tools/call, wrapped / bare: {ratio:.3}, bar 1.05: {}", verdict(ratio <= 1.05));
    let (with, without) = compare(
        &runtime,
        4_000,
        async || list(&wrapped, context()).await,
        async || list(&bare, context()).await,
    );
    let added = with.saturating_sub(without).as_secs_f64() * 1e6;
    let words = "tools/list of 50, added by the wrapper";
    println!("{words}: {added:.1} µs, bar 10 µs: {}", verdict(added <= 10.0));

    let mut criterion = Criterion::default().configure_from_args();
    let mut each = |name: &str, work: &dyn Fn()| {
        criterion.bench_function(name, |bencher| bencher.iter(work));
    };
    each("call/bare", &|| runtime.block_on(call(&clients.0)));
    each("call/wrapped", &|| runtime.block_on(call(&clients.1)));
    each("list of 50/bare", &|| runtime.block_on(list(&bare, context())));
    each("list of 50/wrapped", &|| runtime.block_on(list(&wrapped, context())));
    criterion.final_summary();
}

/// The medians over eleven turns of how long `a` and `b` take, each once.
fn compare(
    runtime: &Runtime,
    rounds: u32,
    a: impl AsyncFn(),
    b: impl AsyncFn(),
) -> (Duration, Duration) {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for _ in 0..11 {
        of_a.push(runtime.block_on(time(rounds, &a)));
        of_b.push(runtime.block_on(time(rounds, &b)));
    }
    of_a.sort();
    of_b.sort();
    (of_a[5] / rounds, of_b[5] / rounds)
}

async fn time(rounds: u32, work: &impl AsyncFn()) -> Duration {
    let start = Instant::now();
    for _ in 0..rounds {
        work().await;
    }
    start.elapsed()
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

/// A client that shows views: nothing is hidden from it, and everything is looked at.
fn capabilities() -> ClientCapabilities {
    let settings = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
    let settings = settings.as_object().cloned().expect("an object");
    let mut capabilities = ClientCapabilities::default();
    capabilities.extensions = Some([("io.modelcontextprotocol/ui".to_owned(), settings)].into());
    capabilities
}

const URI: &str = "ui://incidents/board";
