//! A server over HTTP, as `--http` serves it: who is refused, and how it ends.

use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::{ServerHandler, tool_handler, tool_router};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use transom_server::{HttpServer, Shown, Views, WithViews};

use crate::board::Card;

/// A server whose one tool ends when the test says so.
#[derive(Clone, Default)]
struct Slow {
    begun: Arc<Notify>,
    end: Arc<Notify>,
}

#[tool_router]
impl Slow {
    /// Waits.
    #[transom_server::tool(view = Card)]
    async fn wait(&self) -> Shown<()> {
        self.begun.notify_one();
        self.end.notified().await;
        Shown::new("waited", ())
    }
}

#[tool_handler(name = "slow")]
impl ServerHandler for Slow {}

struct Running {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

async fn start(server: WithViews<Slow>) -> Running {
    let http = HttpServer::bind(([127, 0, 0, 1], 0).into()).await.expect("loopback has ports");
    let http = http.name("board.example");
    let address = http.address();
    let (end, until) = oneshot::channel();
    let task = tokio::spawn(http.serve(server, async { until.await.unwrap_or_default() }));
    Running { address, end, task }
}

fn slow() -> (Slow, WithViews<Slow>) {
    let slow = Slow::default();
    let server = Views::wrap(slow.clone()).view::<Card>().build().expect("it is sound");
    (slow, server)
}

/// One request, sent and not answered yet.
async fn send(address: SocketAddr, head: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let length = body.len();
    let request = format!(
        "{head}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.expect("it is read");
    stream
}

async fn answer(mut stream: TcpStream) -> String {
    let mut said = Vec::new();
    // A server that refuses a body may close before it has read all of it.
    let _ = stream.read_to_end(&mut said).await;
    String::from_utf8_lossy(&said).into_owned()
}

fn call(method: &str, params: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let comma = if params.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{meta}}}}}"#)
}

#[tokio::test]
async fn pages_and_names_of_others_are_refused() {
    let running = start(slow().1).await;
    let port = running.address.port();
    let list = call("tools/list", "");
    let huge = "x".repeat((4 << 20) + 1);
    #[rustfmt::skip]
    let table = [
        // who asks                                                             with what       gets
        (format!("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nMcp-Method: tools/list"),      &list, "200"),
        (format!("POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nMcp-Method: tools/list"),      &list, "200"),
        ("POST /mcp HTTP/1.1\r\nHost: board.example\r\nMcp-Method: tools/list".to_owned(),       &list, "200"),
        (format!("POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nMcp-Method: tools/list\r\nOrigin: http://localhost:{port}"), &list, "200"),
        (format!("POST /mcp HTTP/1.1\r\nHost: stranger.example:{port}"),                         &list, "403"),
        ("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:1".to_owned(),                                   &list, "403"),
        (format!("POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: https://stranger.example"), &list, "403"),
        (format!("POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: null"),                &list, "403"),
        (format!("POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:1"),  &list, "403"),
        (format!("POST / HTTP/1.1\r\nHost: localhost:{port}"),                                   &list, "404"),
        (format!("POST /mcp HTTP/1.1\r\nHost: localhost:{port}"),                                &huge, "413"),
    ];
    for (head, body, expected) in table {
        let said = answer(send(running.address, &head, body).await).await;
        let status = said.get(9..12).unwrap_or_default();
        assert_eq!(status, expected, "{head}\n{said}");
    }
}

#[tokio::test]
async fn an_end_waits_for_calls_and_takes_no_others() {
    let (slow, server) = slow();
    let Running { address, end, task } = start(server).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost:{}\r\nMcp-Method: tools/call\r\nMcp-Name: wait",
        address.port()
    );
    let body = call("tools/call", r#""name":"wait","arguments":{}"#);
    let waiting = send(address, &head, &body).await;
    slow.begun.notified().await;
    end.send(()).expect("it runs");
    // Once it takes nobody in any more, it is ending.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!task.is_finished(), "a call is running");
    slow.end.notify_one();
    assert!(answer(waiting).await.contains("waited"));
    task.await.expect("it ends");
}
