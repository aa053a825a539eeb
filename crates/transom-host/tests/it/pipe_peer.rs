//! A server of our own on a pair of pipes, which says exactly what a test wants.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::mpsc,
};
use transom_host::upstream::{InProcess, Options, Target, Upstream};

/// The server's end of the pipes.
pub(crate) struct Peer {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

/// A server that plays a script, each time it is started with the number of times before.
pub(crate) fn server<F>(script: impl Fn(Peer, u32) -> F + Send + Sync + 'static) -> Target
where
    F: Future<Output = ()> + Send + 'static,
{
    let starts = AtomicU32::new(0);
    Target::InProcess(InProcess::new("peer", move || {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        tokio::spawn(script(Peer::new(theirs), starts.fetch_add(1, Ordering::Relaxed)));
        ours
    }))
}

/// Connects to a server that greets, lists no tools, and then hands itself to the test.
pub(crate) async fn connected(options: Options) -> (Upstream, Peer) {
    let (hand, mut handed) = mpsc::channel(1);
    let hand = Arc::new(hand);
    let target = server(move |mut peer, _| {
        let hand = Arc::clone(&hand);
        async move {
            peer.greet().await;
            let _ = hand.send(peer).await;
        }
    });
    let upstream = Upstream::connect(target, options).await.unwrap();
    (upstream, handed.recv().await.unwrap())
}

impl Peer {
    fn new(pipe: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(pipe);
        Self { reader: BufReader::new(reader), writer }
    }

    /// Waits for the next message; nothing when the client has left.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let size = self.reader.read_line(&mut line).await.unwrap_or(0);
        (size > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Waits for a message with this method, which must be the next one; returns it.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await.unwrap();
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// Writes a line.
    pub(crate) async fn say(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes()).await;
    }

    /// Writes bytes.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        // A client that has left does not matter to a server.
        let _ = self.writer.write_all(bytes).await;
    }

    /// Answers a request.
    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        self.say(&answer.to_string()).await;
    }

    /// Refuses a request.
    pub(crate) async fn refuse(&mut self, request: &Value, code: i64) {
        let error = json!({"code": code, "message": "no"});
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string()).await;
    }

    /// Greets as servers up to 2025-11-25 do, and lists no tools.
    pub(crate) async fn greet(&mut self) {
        self.greet_with(json!([])).await;
    }

    /// Greets, and lists these tools.
    pub(crate) async fn greet_with(&mut self, tools: Value) {
        let first = self.next().await.unwrap();
        let initialize = if first["method"] == "server/discover" {
            self.refuse(&first, -32601).await;
            self.expect("initialize").await
        } else {
            first
        };
        self.answer(
            &initialize,
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "peer", "version": "1"},
            }),
        )
        .await;
        self.expect("notifications/initialized").await;
        let list = self.expect("tools/list").await;
        self.answer(&list, json!({"tools": tools})).await;
    }

    /// Stays silent, but does not leave, until the client has left.
    pub(crate) async fn listen_on(mut self) {
        while self.next().await.is_some() {}
    }
}
