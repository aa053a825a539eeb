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
    /// written beside the file would grow for as long as somebody writes.
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
        match store::sweep(&mut connection).await {
            Ok(pages) => behind.store(pages > PAGES, Ordering::Relaxed),
            // The writer fails when it cannot write; that something cannot be tidied away stops nobody.
            Err(error) => tracing::warn!(%error, "the audit cannot be swept"),
        }
    }
    let _ = connection.close().await;
}

/// After how many rows there is something to sweep; about a megabyte.
const ROWS: u64 = 4_096;
/// How many pages may lie beside the file before the writer is asked to catch up; 16 MB.
const PAGES: i64 = 4_096;
