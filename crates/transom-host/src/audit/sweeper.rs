//! Moves rows from where they are written first into the file itself, beside the writer and not in its way: that takes
//! the disk some milliseconds, and effects wait for each commit.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use sqlx::{Connection as _, SqliteConnection};
use tokio::{sync::mpsc, task::JoinHandle};

use super::store;

/// Sweeps when it is told that enough was written.
#[derive(Debug)]
pub(super) struct Sweeper {
    due: mpsc::Sender<()>,
    /// Whether what is written never stops for long enough to be caught up with.
    behind: Arc<AtomicBool>,
    rows: u64,
    task: JoinHandle<()>,
}

impl Sweeper {
    /// Begins, with a connection of its own.
    pub(super) fn start(connection: SqliteConnection) -> Self {
        #[cfg(target_os = "linux")]
        stand_back();
        // One that waits is enough: it will sweep all there is.
        let (due, orders) = mpsc::channel(1);
        let behind = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(sweep(connection, orders, Arc::clone(&behind)));
        Self { due, behind, rows: 0, task }
    }

    /// So many rows were written.
    pub(super) fn wrote(&mut self, rows: u64) {
        self.rows += rows;
        if self.rows >= ROWS && self.due.try_send(()).is_ok() {
            self.rows = 0;
        }
    }

    /// Whether the writer must catch up itself, now that it writes nothing and most is done; told once. Otherwise what is
    /// written beside the file would grow for as long as rows are written.
    pub(super) fn take_behind(&self) -> bool {
        self.behind.swap(false, Ordering::Relaxed)
    }

    /// Ends, and lets go of the file.
    pub(super) async fn stop(self) {
        drop(self.due);
        let _ = self.task.await;
    }
}

async fn sweep(
    mut connection: SqliteConnection,
    mut due: mpsc::Receiver<()>,
    behind: Arc<AtomicBool>,
) {
    while due.recv().await.is_some() {
        let mut swept = store::sweep(&mut connection).await;
        if swept.as_ref().is_ok_and(|pages| *pages > PAGES) {
            // And what was written meanwhile: then next to nothing is left for the writer.
            swept = store::sweep(&mut connection).await;
        }
        match swept {
            Ok(pages) => behind.store(pages > PAGES, Ordering::Relaxed),
            // The writer fails when it cannot write; a failure to tidy up stops nothing.
            Err(error) => tracing::warn!(%error, "the audit cannot be swept"),
        }
    }
    let _ = connection.close().await;
}

/// Gives the threads that sweep a third of the share that others have of a core. Where there are few, whoever waits for a
/// commit otherwise waits for them as well, some milliseconds each time; and with less than that they fall behind.
#[cfg(target_os = "linux")]
fn stand_back() {
    use rustix::process::{Pid, getpriority_process, setpriority_process};

    let Ok(own) = getpriority_process(None) else { return };
    for thread in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        let id = thread.file_name().to_str().and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
        if name.trim_end() == store::SWEEPER && id.is_some() {
            // Where this is not allowed, they do without.
            let _ = setpriority_process(id, own + NICE);
        }
    }
}

#[cfg(target_os = "linux")]
const NICE: i32 = 5;
/// After how many rows there is something to sweep; about a megabyte, but up to 24 beside the file: each commit writes
/// whole pages there, for however few rows.
const ROWS: u64 = 4_096;
/// How many pages may lie beside the file before the writer is asked to catch up, while all calls wait; 64 MB. A quarter of it
/// was reached with every sweep when many small commits came, and one call in thirty took milliseconds more.
const PAGES: i64 = 16_384;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{Pid, getpriority_process};

    use super::*;
    use crate::audit::{Audit, Options};

    #[tokio::test]
    async fn who_sweeps_stands_back() {
        let folder = tempfile::tempdir().unwrap();
        let audit =
            Audit::open(&folder.path().join("audit.db"), &Options::default()).await.unwrap();
        let mut shares = vec![];
        for thread in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
            let name = std::fs::read_to_string(thread.path().join("comm")).unwrap();
            let id = Pid::from_raw(thread.file_name().to_str().unwrap().parse().unwrap());
            shares.push((name.trim_end() == store::SWEEPER, getpriority_process(id).unwrap()));
        }
        let own = getpriority_process(None).unwrap();
        assert!(shares.contains(&(true, (own + NICE).min(19))), "{shares:?}");
        assert!(shares.contains(&(false, own)), "{shares:?}");
        audit.close().await.unwrap();
    }
}
