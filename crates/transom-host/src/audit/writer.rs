//! Writes rows down, and tells when they are.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use sqlx::{Connection as _, SqliteConnection, query};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use super::{
    chain::{Head, Row},
    record::Record,
    store::{self, AuditError, Options},
    sweeper::Sweeper,
};

/// A log that is being written.
#[derive(Clone, Debug)]
pub struct Audit {
    path: Arc<Path>,
    queue: Arc<Mutex<Queue>>,
    state: watch::Receiver<State>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

#[derive(Debug)]
struct Queue {
    /// How many were ever put in.
    last: u64,
    /// None once it is closed.
    records: Option<mpsc::UnboundedSender<Record>>,
}

/// How far the writer has come.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// How many of those that were ever put in are written.
    pub(crate) written: u64,
    /// Why no more will be.
    pub(crate) failed: Option<AuditError>,
    head: Head,
}

impl Audit {
    /// Opens the log in a file, and begins to write. Needs a tokio runtime.
    ///
    /// Several programs may write the same file; each finds out what the others wrote.
    pub async fn open(path: &Path, options: &Options) -> Result<Self, AuditError> {
        let mut connection = store::open(path, options).await?;
        let head = store::head(&mut connection).await;
        let head = head.map_err(|error| AuditError::from(path, error))?;
        let sweeper = Sweeper::start(store::open_to_sweep(path).await?);
        let (records, receiver) = mpsc::unbounded_channel();
        let (told, state) = watch::channel(State { written: 0, failed: None, head });
        let writer = Writer { path: path.to_owned(), connection, head, told, sweeper };
        let task = tokio::spawn(writer.run(receiver));
        let audit = Self {
            path: path.into(),
            queue: Arc::new(Mutex::new(Queue { last: 0, records: Some(records) })),
            state,
            task: Arc::new(Mutex::new(Some(task))),
        };
        // Whether it can be written shows when it is.
        audit.write(Record::start()).await?;
        Ok(audit)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last row that is written.
    pub fn head(&self) -> Head {
        self.state.borrow().head
    }

    /// Writes what is left and that this is the end; returns the head.
    pub async fn close(&self) -> Result<Head, AuditError> {
        self.note(Record::stop());
        let last = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.records = None;
            queue.last
        };
        let outcome = self.until(last).await;
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
        outcome.map(|()| self.head())
    }

    /// Puts something in the queue; returns how many [`State::written`] must be until it is.
    pub(crate) fn note(&self, record: Record) -> u64 {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.last += 1;
        if let Some(records) = &queue.records {
            // The writer goes only when it has failed, and then says so to every call that waits.
            let _ = records.send(record);
        }
        queue.last
    }

    /// Writes something down; it is, when this returns.
    pub(crate) async fn write(&self, record: Record) -> Result<(), AuditError> {
        self.until(self.note(record)).await
    }

    /// How far the writer has come, for whoever waits for more than one thing.
    pub(crate) fn state(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// How many wait to be written.
    pub(crate) fn waiting(&self) -> u64 {
        let last = self.queue.lock().unwrap_or_else(PoisonError::into_inner).last;
        last - self.state.borrow().written.min(last)
    }

    /// Waits until so many are written.
    pub(crate) async fn until(&self, number: u64) -> Result<(), AuditError> {
        let mut state = self.state.clone();
        let done = |state: &State| state.failed.is_some() || state.written >= number;
        let Ok(state) = state.wait_for(done).await else { return Err(AuditError::Closed) };
        match &state.failed {
            Some(error) if state.written < number => Err(error.clone()),
            _ => Ok(()),
        }
    }
}

struct Writer {
    path: PathBuf,
    connection: SqliteConnection,
    /// The last row that we know of.
    head: Head,
    told: watch::Sender<State>,
    sweeper: Sweeper,
}

impl Writer {
    /// Writes all that wait in one transaction; what comes meanwhile is the next one. So rows share a
    /// transaction when there are many, and do not wait for more when there are few.
    async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Record>) {
        let mut records = Vec::with_capacity(GROUP);
        while queue.recv_many(&mut records, GROUP).await > 0 {
            let count = records.len() as u64;
            match self.commit(&records).await {
                Ok(head) => self.told.send_modify(|state| {
                    state.written += count;
                    state.head = head;
                }),
                // Whether the last transaction was written is not known; nothing comes after it.
                Err(error) => {
                    let error = AuditError::from(&self.path, error);
                    tracing::error!("{error}");
                    self.told.send_modify(|state| state.failed = Some(error));
                    return;
                }
            }
            records.clear();
            self.sweeper.wrote(count);
            if self.sweeper.take_behind()
                && let Err(error) = store::sweep(&mut self.connection).await
            {
                tracing::warn!(%error, "the audit cannot be swept");
            }
        }
        self.sweeper.stop().await;
        let _ = self.connection.close().await;
    }

    async fn commit(&mut self, records: &[Record]) -> Result<Head, sqlx::Error> {
        let rows = chained(self.head, records)?;
        match store::append(&mut self.connection, &rows).await {
            Ok(()) => self.head = rows.last().map_or(self.head, Row::head),
            // Another program has written since, and these numbers are its own.
            Err(error) if store::is_taken(&error) => self.head = self.follow(records).await?,
            Err(error) => return Err(error),
        }
        Ok(self.head)
    }

    /// Writes after whatever others wrote, while they are kept from writing more.
    async fn follow(&mut self, records: &[Record]) -> Result<Head, sqlx::Error> {
        let connection = &mut self.connection;
        query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        let head = store::head(connection).await?;
        let rows = chained(head, records)?;
        store::insert(connection, &rows).await?;
        query("COMMIT").execute(&mut *connection).await?;
        Ok(rows.last().map_or(head, Row::head))
    }
}

/// The records as rows that follow the head.
pub(super) fn chained(mut head: Head, records: &[Record]) -> Result<Vec<Row>, sqlx::Error> {
    let mut salts = vec![0; 16 * records.len()];
    getrandom::fill(&mut salts)
        .map_err(|error| sqlx::Error::Io(std::io::Error::other(error.to_string())))?;
    let rows = records.iter().zip(salts.as_chunks().0).map(|(record, salt)| {
        let (body, detail) = record.texts();
        let row = Row::after(head, body, detail, *salt);
        head = row.head();
        row
    });
    Ok(rows.collect())
}

/// The most rows of one transaction.
const GROUP: usize = 256;
