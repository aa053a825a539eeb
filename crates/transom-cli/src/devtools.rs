//! As much of the browser's own protocol as it takes to open a page and click on it.

use anyhow::{Context as _, Result, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

/// A connection to a browser.
pub(crate) struct Devtools {
    socket: WebSocketStream<TcpStream>,
    next: u64,
}

impl Devtools {
    /// Connects to a browser on this machine.
    pub(crate) async fn connect(port: u16, path: &str) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let (socket, _) = client_async(format!("ws://127.0.0.1:{port}{path}"), stream).await?;
        Ok(Self { socket, next: 1 })
    }

    /// Asks for something and waits for the answer. Whatever else the browser says is not heard.
    pub(crate) async fn call(
        &mut self,
        method: &str,
        params: Value,
        session: Option<&str>,
    ) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.socket.send(Message::text(message.to_string())).await?;
        while let Some(message) = self.socket.next().await {
            let Message::Text(text) = message? else { continue };
            let mut answer: Value =
                serde_json::from_str(&text).context("the browser spoke no JSON")?;
            if answer["id"] != id {
                continue;
            }
            if let Some(words) = answer["error"]["message"].as_str() {
                bail!("the browser refused {method}: {words}");
            }
            return Ok(answer["result"].take());
        }
        bail!("the browser went away during {method}")
    }
}
