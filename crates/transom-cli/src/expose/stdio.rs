//! The client that started us: one JSON-RPC message a line.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    sync::{broadcast, mpsc, oneshot},
};

use super::hub::Ask;

/// Passes messages on until standard input ends.
pub(super) async fn serve(
    asks: mpsc::Sender<Ask>,
    mut heard: broadcast::Receiver<Value>,
) -> Result<()> {
    let (write, mut lines) = mpsc::channel::<Value>(64);
    let writer = tokio::spawn(async move {
        let mut out = tokio::io::stdout();
        while let Some(message) = lines.recv().await {
            out.write_all(format!("{message}\n").as_bytes()).await?;
            out.flush().await?;
        }
        std::io::Result::Ok(())
    });
    let told = write.clone();
    let listener = tokio::spawn(async move {
        loop {
            match heard.recv().await {
                Ok(message) => drop(told.send(message).await),
                // One that lags behind misses notifications, and no answers.
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    });
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = input.next_line().await.context("standard input cannot be read")? {
        if line.trim().is_empty() {
            continue;
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            let error = json!({ "code": -32700, "message": "a line that is no JSON" });
            let _ = write.send(json!({ "jsonrpc": "2.0", "id": null, "error": error })).await;
            continue;
        };
        if message.get("method").is_none() || message.get("id").is_none() {
            let _ = asks.send(Ask::Tell(message)).await;
            continue;
        }
        let (id, write, asks) = (message["id"].clone(), write.clone(), asks.clone());
        let (reply, answer) = oneshot::channel();
        // In order: what is asked later reaches the page later.
        if asks.send(Ask::Request(message, reply)).await.is_err() {
            break;
        }
        tokio::spawn(async move {
            if let Ok(mut answer) = answer.await {
                answer["jsonrpc"] = "2.0".into();
                answer["id"] = id;
                let _ = write.send(answer).await;
            }
        });
    }
    drop((asks, write));
    listener.abort();
    // What was answered before is still written.
    let _ = tokio::time::timeout(LAST, writer).await;
    Ok(())
}

/// How long answers that are on their way are waited for once the client has gone.
const LAST: std::time::Duration = std::time::Duration::from_secs(2);
