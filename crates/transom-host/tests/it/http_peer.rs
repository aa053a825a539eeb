//! A web server of our own, which says exactly what a test wants, byte by byte.

use std::{collections::HashMap, future::Future, sync::Arc};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use transom_host::upstream::{Endpoint, Target};

/// One request, and the connection to answer it on.
pub(crate) struct Exchange {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
    stream: BufReader<TcpStream>,
}

/// A web server for as long as this value lives.
pub(crate) struct WebServer {
    pub(crate) port: u16,
    task: JoinHandle<()>,
}

impl WebServer {
    /// Answers every request with the script.
    pub(crate) async fn start<F>(script: impl Fn(Exchange) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(script);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let script = Arc::clone(&script);
                tokio::spawn(async move {
                    if let Some(exchange) = Exchange::read(stream).await {
                        script(exchange).await;
                    }
                });
            }
        });
        Self { port, task }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::new(format!("http://127.0.0.1:{}/mcp", self.port).parse().unwrap())
    }

    pub(crate) fn target(&self) -> Target {
        Target::Http(self.endpoint())
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Exchange {
    async fn read(stream: TcpStream) -> Option<Self> {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let mut words = line.split_whitespace();
        let (verb, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Some(Self { verb, path, headers, body, stream })
    }

    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Writes bytes as they are.
    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref()).await;
        let _ = self.stream.flush().await;
    }

    /// Answers with a status, headers of the test's choice, and a body.
    pub(crate) async fn respond(&mut self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        self.write(format!(
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ))
        .await;
    }

    /// Answers the request with a result, as JSON.
    pub(crate) async fn answer(&mut self, result: Value) {
        self.answer_with("", result).await;
    }

    /// Answers with further headers.
    pub(crate) async fn answer_with(&mut self, headers: &str, result: Value) {
        let body = json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result});
        let headers = format!("Content-Type: application/json\r\n{headers}");
        self.respond("200 OK", &headers, &body.to_string()).await;
    }

    /// Begins an event stream.
    pub(crate) async fn stream(&mut self) {
        self.write(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n",
        )
        .await;
    }

    /// Sends one event.
    pub(crate) async fn event(&mut self, id: &str, message: &Value) {
        self.write(format!("id: {id}\nevent: message\ndata: {message}\n\n")).await;
    }

    /// The answer to the request, as a message.
    pub(crate) fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    /// Plays the greeting up to 2025-11-25, and refuses a standing stream. Gives back the exchange if it
    /// is about something else.
    pub(crate) async fn greeted(mut self, session: &str) -> Option<Self> {
        match (&*self.verb, self.method()) {
            ("GET" | "DELETE", _) => self.respond("405 Method Not Allowed", "", "").await,
            (_, "server/discover") => self.respond("400 Bad Request", "", "what?").await,
            (_, "initialize") => {
                let result = json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "peer", "version": "1"}});
                let header = format!("Mcp-Session-Id: {session}\r\n");
                self.answer_with(if session.is_empty() { "" } else { &header }, result).await;
            }
            (_, "notifications/initialized" | "notifications/cancelled") => {
                self.respond("202 Accepted", "", "").await;
            }
            _ => return Some(self),
        }
        None
    }
}
