//! Tools that fetch for a view: whether they can be made to fetch something else.
//!
//! The proof is a listener of our own on loopback: what it hears, the server was made to say.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinHandle,
};
use transom_host::upstream::Upstream;

use super::{
    calls::{Calls, call},
    lists::Listed,
};
use crate::check::finding::Unchecked;

/// One attempt, and what came of it.
#[derive(Debug)]
pub(in crate::check) struct Attempt {
    pub(in crate::check) tool: String,
    /// What was asked for, in words.
    pub(in crate::check) what: &'static str,
    /// Whether our listener heard of it.
    pub(in crate::check) heard: bool,
    /// Whether it was answered, and not refused.
    pub(in crate::check) answered: bool,
}

/// Tries to get out through every tool that fetches.
pub(super) async fn attempt(
    host: &Upstream,
    tools: &Listed,
    calls: &Calls,
    unchecked: &mut Vec<Unchecked>,
) -> Vec<Attempt> {
    let fetches = |tool: &&Value| {
        let declares = tool["_meta"].get(transom::routes::DECLARED).is_some();
        let is_named = |name: &str| name.ends_with("http_request");
        (declares || tool["name"].as_str().is_some_and(is_named))
            && tool["inputSchema"]["properties"]["url"].is_object()
    };
    let Some(tool) = tools.items.iter().find(fetches).and_then(|tool| tool["name"].as_str()) else {
        return vec![];
    };
    if calls.none {
        unchecked.push(Unchecked { rules: vec!["server-23"], why: "--no-call".to_owned() });
        return vec![];
    }
    let why =
        "where a backend's redirects lead was not tried: only the backend can send one".to_owned();
    unchecked.push(Unchecked { rules: vec!["server-23"], why });
    let Ok(ear) = Ear::listen().await else { return vec![] };
    let mut attempts = vec![];
    for (what, url) in ear.addresses() {
        ear.heard.store(false, Ordering::SeqCst);
        let result = call(host, tool, &json!({ "method": "GET", "url": url })).await;
        let answered = result.is_ok_and(|result| result["isError"] != true);
        let heard = ear.heard.load(Ordering::SeqCst);
        attempts.push(Attempt { tool: tool.to_owned(), what, heard, answered });
    }
    attempts
}

/// A listener that notes whether something connected.
struct Ear {
    port: u16,
    heard: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Ear {
    async fn listen() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let heard = Arc::new(AtomicBool::new(false));
        let noted = Arc::clone(&heard);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                noted.store(true, Ordering::SeqCst);
                let mut request = [0; 1024];
                let _ = stream.read(&mut request).await;
                let _ = stream
                    .write_all(
                        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi",
                    )
                    .await;
            }
        });
        Ok(Self { port, heard, task })
    }

    fn addresses(&self) -> [(&'static str, String); 4] {
        let place = format!("127.0.0.1:{}", self.port);
        [
            ("an absolute address", format!("http://{place}/")),
            ("an address without a scheme", format!("//{place}/")),
            ("an address behind a backslash", format!("/\\{place}/")),
            ("a path that no author would list", "/transom-check/of-unlisted-paths".to_owned()),
        ]
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.task.abort();
    }
}
