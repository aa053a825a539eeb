//! The stdio transport: one message a line, over a child's pipes or a pair of our own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use super::{
    Loss, Rubbish,
    child::{Child, LastWords},
    life::Life,
    lines::{Line, Lines},
};

/// Messages that wait to be written.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<String>,
    waiting: Arc<AtomicUsize>,
    limit: usize,
}

/// The other end of an [`Outbox`].
#[derive(Debug)]
pub(super) struct Unsent {
    queue: mpsc::UnboundedReceiver<String>,
    waiting: Arc<AtomicUsize>,
}

/// As much waits already as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Outbox {
    /// An outbox of at most so many bytes.
    pub(super) fn new(limit: usize) -> (Self, Unsent) {
        let (queue, unsent) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let unsent = Unsent { queue: unsent, waiting: Arc::clone(&waiting) };
        (Self { queue, waiting, limit }, unsent)
    }

    /// Puts a message in, unless the server does not read what is there.
    pub(super) fn push(&self, text: String) -> Result<(), Full> {
        let size = text.len() + OVERHEAD;
        if self.waiting.load(Ordering::Relaxed) > self.limit {
            return Err(Full);
        }
        self.waiting.fetch_add(size, Ordering::Relaxed);
        // When the connection is over, the writer takes out no more; then all calls have failed.
        let _ = self.queue.send(text);
        Ok(())
    }
}

impl Unsent {
    /// Waits for the next message; there is none after the outbox is gone.
    pub(super) async fn next(&mut self) -> Option<String> {
        let text = self.queue.recv().await?;
        self.waiting.fetch_sub(text.len() + OVERHEAD, Ordering::Relaxed);
        Some(text)
    }

    /// The next message, if there is one already.
    fn now(&mut self) -> Option<String> {
        let text = self.queue.try_recv().ok()?;
        self.waiting.fetch_sub(text.len() + OVERHEAD, Ordering::Relaxed);
        Some(text)
    }

    /// Takes no more; what is there can still be had.
    pub(super) fn close(&mut self) {
        self.queue.close();
    }
}

/// Writes messages until there are no more, then closes the pipe.
pub(super) async fn write(
    mut pipe: impl AsyncWrite + Unpin,
    mut unsent: Unsent,
    mut closing: oneshot::Receiver<()>,
) {
    let mut open = true;
    loop {
        let text = tokio::select! {
            biased;
            _ = &mut closing, if open => {
                open = false;
                unsent.close();
                continue;
            }
            text = unsent.next() => text,
        };
        let Some(mut text) = text else { break };
        text.push('\n');
        // What waits goes out with it: a system call for each small message is most of what it costs.
        while text.len() < TOGETHER
            && let Some(next) = unsent.now()
        {
            text.push_str(&next);
            text.push('\n');
        }
        if let Err(error) = pipe.write_all(text.as_bytes()).await {
            // Its end is told by the reader, which may still find its last answers.
            tracing::debug!(%error, "the server takes no more input");
            break;
        }
        let _ = pipe.flush().await;
    }
}

/// Reads messages until there are no more.
pub(super) async fn read(pipe: impl AsyncRead + Unpin, life: &Arc<Life>) -> Option<Loss> {
    let limit = life.limits().message;
    let mut lines = Lines::new(pipe, limit);
    loop {
        match lines.next().await {
            Ok(Some(Line::Whole(line))) => receive(life, line),
            Ok(Some(Line::TooLong { answers })) => {
                life.rubbish(answers, Rubbish::TooLong { limit });
            }
            Ok(None) => return None,
            Err(error) => return Some(Loss::Io(error)),
        }
    }
}

fn receive(life: &Arc<Life>, line: &[u8]) {
    let line = line.trim_ascii();
    if line.is_empty() {
        return;
    }
    match std::str::from_utf8(line) {
        Ok(text) => life.receive(text, None),
        Err(_) => {
            life.stray_line(&String::from_utf8_lossy(&line[..line.len().min(STRAY)]));
            life.rubbish(super::salvage::answered(line), Rubbish::NotText);
        }
    }
}

/// Reads an in-process server to its end.
pub(super) async fn attend(pipe: impl AsyncRead + Unpin, life: Arc<Life>) {
    let loss = read(pipe, &life).await;
    life.end(loss.unwrap_or(Loss::Ended { status: None, words: None }));
}

/// Reads a child to its end, and says how it ended.
pub(super) async fn attend_child(
    pipe: impl AsyncRead + Unpin,
    mut status: watch::Receiver<Option<String>>,
    words: LastWords,
    life: Arc<Life>,
) {
    let read = read(pipe, &life);
    let exited = async {
        let _ = status.wait_for(Option::is_some).await;
        // What it wrote before its end is still in the pipe; what it left running may keep the pipe
        // open for ever.
        tokio::time::sleep(SETTLING).await;
    };
    let loss = tokio::select! {
        loss = read => loss,
        () = exited => None,
    };
    let _ = timeout(SETTLING, status.wait_for(Option::is_some)).await;
    let status = status.borrow().clone();
    let loss = match loss {
        Some(loss) => loss,
        None => Loss::Ended { status, words: words.get(SETTLING).await },
    };
    life.end(loss);
}

/// Keeps a child until it ends or is to be ended.
pub(super) async fn keep(
    mut child: Child,
    ending: oneshot::Receiver<Duration>,
    status: watch::Sender<Option<String>>,
) {
    tokio::select! {
        exit = child.wait() => {
            let words = exit.map_or_else(|error| error.to_string(), |exit| exit.to_string());
            status.send_replace(Some(words));
        }
        Ok(each) = ending => child.end(each).await,
    }
}

/// How many bytes are written at a time, if more than one message waits.
const TOGETHER: usize = 32 << 10;
/// What a waiting message costs beside its bytes.
const OVERHEAD: usize = 64;
/// How long the news of a child's end and the last of its output wait for each other.
const SETTLING: Duration = Duration::from_millis(300);

/// How much of a line that is not even text is looked at.
const STRAY: usize = 256;
