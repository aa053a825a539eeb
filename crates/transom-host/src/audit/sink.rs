//! Rows that an application keeps itself, in place of the file.

use std::future::Future;

use super::{
    chain::{Head, Row},
    record::Record,
    store::AuditError,
    writer::{Keep, chained},
};

/// Where an application keeps the rows of the audit, in place of a file: a database that it has already, a queue, a log that is shipped.
///
/// What holds for the file holds here: a view's effect happens when its row is kept, and not before, and what cannot be kept does
/// not happen. So [`Sink::write`] returns when the rows would survive what yours must survive; one that puts them into memory
/// and returns has promised more than it keeps. Nothing is done for any view while it takes its time, and one that fails is not asked again: nothing is
/// done for any view from then on.
///
/// ```
/// use transom_host::audit::{Audit, Head, Row, Sink, SinkError};
///
/// /// Rows as lines of a file that something else ships.
/// struct Lines(std::fs::File);
///
/// impl Sink for Lines {
///     async fn write(&mut self, rows: &[Row]) -> Result<(), SinkError> {
///         use std::io::Write as _;
///         let lines: String = rows.iter().map(|row| format!("{} {} {}\n", row.seq, row.hash, row.body)).collect();
///         self.0.write_all(lines.as_bytes())?;
///         // Only now may what they tell of happen. A database of yours is awaited here.
///         Ok(self.0.sync_data()?)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("audit.log");
/// // A log that goes on takes the head that it ended with.
/// let audit = Audit::kept_by(Lines(std::fs::File::create(&path)?), Head::GENESIS).await?;
/// let last = audit.close().await?;
/// assert_eq!(last.seq, 2); // that it began, and that it ended
/// # Ok(())
/// # }
/// ```
pub trait Sink: Send + 'static {
    /// Keeps rows, all or none. They follow those that came before; each has its number and the hash of all up to it.
    fn write(&mut self, rows: &[Row]) -> impl Future<Output = Result<(), SinkError>> + Send;

    /// There are no more.
    fn close(self) -> impl Future<Output = ()> + Send
    where
        Self: Sized,
    {
        async {}
    }
}

/// Why rows cannot be kept, in words for the person at the page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SinkError(pub String);

impl From<std::io::Error> for SinkError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// The rows, made and given to whoever keeps them.
pub(super) struct Kept<S>(pub(super) S);

impl<S: Sink> Keep for Kept<S> {
    async fn commit(&mut self, head: Head, records: &[Record]) -> Result<Head, AuditError> {
        let refused = |why: String| AuditError::NotKept { why };
        let rows = chained(head, records).map_err(|error| refused(error.to_string()))?;
        self.0.write(&rows).await.map_err(|SinkError(why)| refused(why))?;
        Ok(rows.last().map_or(head, Row::head))
    }

    async fn stop(self) {
        self.0.close().await;
    }
}
