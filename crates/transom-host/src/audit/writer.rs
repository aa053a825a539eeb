//! Writes rows down, and tells when they are.

use std::{
    future::Future,
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
    sink::{Kept, Sink},
    store::{self, AuditError, Options},
    sweeper::Sweeper,
};

/// A log that is being written.
#[derive(Clone, Debug)]
pub struct Audit {
    path: Option<Arc<Path>>,
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
        let file = File { path: path.to_owned(), connection, sweeper };
        Self::begin(file, head, Some(path.into())).await
    }

    /// Begins a log that an application keeps itself, or goes on with one after its last row; [`Head::GENESIS`] is before the first.
    /// Needs a tokio runtime.
    pub async fn kept_by(sink: impl Sink, last: Head) -> Result<Self, AuditError> {
        Self::begin(Kept(sink), last, None).await
    }

    async fn begin(
        keeper: impl Keep,
        head: Head,
        path: Option<Arc<Path>>,
    ) -> Result<Self, AuditError> {
        let (records, receiver) = mpsc::unbounded_channel();
        let (told, state) = watch::channel(State { written: 0, failed: None, head });
        let writer = Writer { keeper, head, told: Teller(Some(told)) };
        let task = tokio::spawn(writer.run(receiver));
        let audit = Self {
            path,
            queue: Arc::new(Mutex::new(Queue { last: 0, records: Some(records) })),
            state,
            task: Arc::new(Mutex::new(Some(task))),
        };
        // Whether it can be written shows when it is.
        audit.write(Record::start()).await?;
        Ok(audit)
    }

    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
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

/// Who keeps the rows.
pub(super) trait Keep: Send + 'static {
    /// Keeps them after the head, all or none; returns the last of them.
    fn commit(
        &mut self,
        head: Head,
        records: &[Record],
    ) -> impl Future<Output = Result<Head, AuditError>> + Send;

    /// Nothing waits at the moment, after so many were kept.
    fn rest(&mut self, _kept: u64) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// There are no more.
    fn stop(self) -> impl Future<Output = ()> + Send;
}

struct Writer<K> {
    keeper: K,
    /// The last row that we know of.
    head: Head,
    told: Teller,
}

/// Tells how far the writer has come. One that goes without a word has failed: whoever keeps the rows may have panicked.
struct Teller(Option<watch::Sender<State>>);

impl Teller {
    fn tell(&self, change: impl FnOnce(&mut State)) {
        self.0.as_ref().expect("until it ends").send_modify(change);
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        if let Some(told) = &self.0 {
            let why = "whoever keeps its rows has ended".to_owned();
            told.send_modify(|state| state.failed = Some(AuditError::NotKept { why }));
        }
    }
}

impl<K: Keep> Writer<K> {
    /// Writes all that wait in one transaction; what comes meanwhile is the next one. So rows share a
    /// transaction when there are many, and do not wait for more when there are few.
    async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Record>) {
        let mut records = Vec::with_capacity(GROUP);
        while queue.recv_many(&mut records, GROUP).await > 0 {
            let count = records.len() as u64;
            match self.keeper.commit(self.head, &records).await {
                Ok(head) => {
                    self.head = head;
                    self.told.tell(|state| {
                        state.written += count;
                        state.head = head;
                    });
                }
                // Whether the last transaction was written is not known; nothing comes after it.
                Err(error) => {
                    tracing::error!("{error}");
                    self.told.tell(|state| state.failed = Some(error));
                    self.told.0 = None;
                    return;
                }
            }
            records.clear();
            self.keeper.rest(count).await;
        }
        self.keeper.stop().await;
        self.told.0 = None;
    }
}

/// The file, of which there is one writer in this process.
struct File {
    path: PathBuf,
    connection: SqliteConnection,
    sweeper: Sweeper,
}

impl Keep for File {
    async fn commit(&mut self, head: Head, records: &[Record]) -> Result<Head, AuditError> {
        let committed = self.append(head, records).await;
        committed.map_err(|error| AuditError::from(&self.path, error))
    }

    async fn rest(&mut self, kept: u64) {
        self.sweeper.wrote(kept);
        if self.sweeper.take_behind()
            && let Err(error) = store::sweep(&mut self.connection).await
        {
            tracing::warn!(%error, "the audit cannot be swept");
        }
    }

    async fn stop(self) {
        self.sweeper.stop().await;
        let _ = self.connection.close().await;
    }
}

impl File {
    async fn append(&mut self, head: Head, records: &[Record]) -> Result<Head, sqlx::Error> {
        let rows = chained(head, records)?;
        match store::append(&mut self.connection, &rows).await {
            Ok(()) => Ok(rows.last().map_or(head, Row::head)),
            // Another program has written since, and these numbers are its own.
            Err(error) if store::is_taken(&error) => self.follow(records).await,
            Err(error) => Err(error),
        }
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
