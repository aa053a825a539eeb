//! The other end of a server in this process: lines in, lines out, and one function that answers.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

/// Answers requests, one after the other, until the reader ends. Whatever is no request is passed over.
///
/// For servers of our own: a line has no limit here.
pub async fn answer_lines<A>(
    reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    mut answer: impl FnMut(Value) -> A,
) where
    A: Future<Output = Result<Value, (i64, &'static str)>>,
{
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = message.get("id").filter(|_| message["method"].is_string()).cloned() else {
            continue;
        };
        let answer = match answer(message).await {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err((code, words)) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": words } })
            }
        };
        let written = writer.write_all(format!("{answer}\n").as_bytes()).await;
        // What a pipe holds back would keep the other side waiting.
        if written.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}
