//! A trace that is written while things happen.

use std::{path::Path, sync::Arc, time::Duration};

use tokio::{
    fs::File,
    io::{self, AsyncWriteExt as _},
    sync::oneshot,
    task::JoinHandle,
};

use super::{
    Timeline,
    line::{Ending, moment},
};

/// A trace that is being written.
#[derive(Debug)]
pub struct Recording {
    stop: oneshot::Sender<()>,
    task: JoinHandle<io::Result<()>>,
}

impl Recording {
    /// Begins to write into a new file.
    pub(crate) fn begin(timeline: Arc<Timeline>, path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        timeline.look_always();
        let (stop, stopped) = oneshot::channel();
        Ok(Self { stop, task: tokio::spawn(record(timeline, file, stopped)) })
    }

    /// Writes what is left, and the end by which the trace is known to be whole.
    pub async fn finish(self) -> io::Result<()> {
        let _ = self.stop.send(());
        self.task.await.map_err(io::Error::other)?
    }
}

/// Writes everything into a file, until it is told to stop; then what is left and the end.
async fn record(
    timeline: Arc<Timeline>,
    mut file: File,
    mut stop: oneshot::Receiver<()>,
) -> io::Result<()> {
    let (mut ending, mut after) = (Ending::default(), 0);
    file.write_all(ending.lines(&timeline.head().print()).as_bytes()).await?;
    loop {
        let (kept, last) = tokio::select! {
            kept = timeline.after(after, PATIENCE) => (kept, false),
            _ = &mut stop => (timeline.ring().after(after, usize::MAX), true),
        };
        after = kept.last().map_or(after, |kept| kept.n);
        // Secrets are looked for here, where no view waits for it.
        let print = move || {
            let mut text = String::new();
            for kept in &kept {
                text.push_str(
                    &serde_json::to_string(&moment(kept, usize::MAX)).unwrap_or_default(),
                );
                text.push('\n');
            }
            text
        };
        let text = tokio::task::spawn_blocking(print).await.unwrap_or_default();
        file.write_all(ending.lines(&text).as_bytes()).await?;
        file.flush().await?;
        if last {
            file.write_all(ending.print().as_bytes()).await?;
            return file.flush().await;
        }
    }
}

/// A new file that nobody else can read: what views and servers say is in it.
fn open(path: &Path) -> io::Result<File> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(File::from_std)
}

const PATIENCE: Duration = Duration::from_secs(5);
