//! Servers in this process; and one that is lines in, lines out, and one function that answers.

use std::{fmt, future::Future, sync::Arc};

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream,
};

/// A server in this process, started anew for every connection.
#[derive(Clone)]
pub struct InProcess {
    name: Arc<str>,
    start: Arc<dyn Fn() -> DuplexStream + Send + Sync>,
}

impl InProcess {
    /// A server that `start` starts and gives the other end of.
    pub fn new(
        name: impl Into<Arc<str>>,
        start: impl Fn() -> DuplexStream + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), start: Arc::new(start) }
    }

    /// A server that talks over a stream, as rmcp's do: `serve` is given one for every connection, and serves until it ends.
    ///
    /// ```
    /// use rmcp::{ServerHandler, ServiceExt as _};
    /// use transom_host::upstream::{InProcess, Options, Target, Upstream};
    ///
    /// #[derive(Clone)]
    /// struct Clock;
    ///
    /// impl ServerHandler for Clock {}
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = InProcess::serving("clock", |stream| async move {
    ///     if let Ok(running) = Clock.serve(stream).await {
    ///         let _ = running.waiting().await;
    ///     }
    /// });
    /// let upstream = Upstream::connect(Target::InProcess(clock), Options::default()).await?;
    /// assert!(upstream.tools().iter().next().is_none());
    /// upstream.close().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn serving<F>(
        name: impl Into<Arc<str>>,
        serve: impl Fn(DuplexStream) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::new(name, move || {
            let (ours, theirs) = tokio::io::duplex(ROOM);
            tokio::spawn(serve(theirs));
            ours
        })
    }

    /// What its owner calls it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn start(&self) -> DuplexStream {
        (self.start)()
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InProcess").field(&self.name).finish()
    }
}

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

/// How many bytes wait between a server in this process and us before its writer does.
const ROOM: usize = 1 << 20;
