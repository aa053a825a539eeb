//! Reads a log that another process may be writing, and removes what is old.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use sqlx::{Connection as _, Row as _, SqliteConnection, query};

use super::{
    chain::{Broken, Hash, Head, Row, Verifier},
    record::Record,
    store::{self, AuditError, Options},
    writer::chained,
};
use crate::decisions::Remembered;

/// A log as it was at one moment, read from its beginning.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    connection: SqliteConnection,
    anchor: Head,
    last: u64,
}

impl Reader {
    /// Opens the log in a file.
    pub async fn open(path: &Path) -> Result<Self, AuditError> {
        let wrong = |error| AuditError::from(path, error);
        let mut connection = store::open_to_read(path).await?;
        // One view of the file from here on, whoever writes meanwhile.
        query("BEGIN").execute(&mut connection).await.map_err(wrong)?;
        let anchor = store::anchor(&mut connection).await.map_err(wrong)?;
        Ok(Self { path: path.to_owned(), connection, anchor, last: 0 })
    }

    /// What the first row follows.
    pub fn anchor(&self) -> Head {
        self.anchor
    }

    /// Some of the rows that come next, by their numbers; none at the end.
    ///
    /// Each on its own: one that cannot be read is no reason not to read the others.
    pub async fn next(&mut self) -> Result<Vec<Result<Row, Broken>>, AuditError> {
        let sql =
            "SELECT seq, body, detail, salt, hash FROM log WHERE seq > ? ORDER BY seq LIMIT ?";
        let last = i64::try_from(self.last).unwrap_or(i64::MAX);
        let found = query(sql).bind(last).bind(PAGE).fetch_all(&mut self.connection).await;
        let found = found.map_err(|error| AuditError::from(&self.path, error))?;
        let mut rows = Vec::with_capacity(found.len());
        for row in found {
            let seq = u64::try_from(row.try_get("seq").unwrap_or(0i64)).unwrap_or_default();
            self.last = seq;
            let why = |error: sqlx::Error| Broken::Unreadable { seq, why: error.to_string() };
            rows.push(store::read(&row).map_err(why));
        }
        Ok(rows)
    }

    /// Goes along the whole log: its head, or the first thing that is wrong with it.
    pub async fn verify(mut self, head: Option<Hash>) -> Result<Result<Head, Broken>, AuditError> {
        if let Some(broken) = self.before_the_beginning().await? {
            return Ok(Err(broken));
        }
        let mut verifier = Verifier::new(self.anchor, head);
        loop {
            let rows = self.next().await?;
            if rows.is_empty() {
                return Ok(verifier.end());
            }
            for row in rows {
                if let Err(broken) = row.and_then(|row| verifier.take(&row)) {
                    return Ok(Err(broken));
                }
            }
        }
    }

    /// A row where none can be: `next` begins with number 1.
    async fn before_the_beginning(&mut self) -> Result<Option<Broken>, AuditError> {
        let first = query("SELECT min(seq) AS seq FROM log").fetch_one(&mut self.connection).await;
        let first = first.map_err(|error| AuditError::from(&self.path, error))?;
        let first: Option<i64> = first.try_get("seq").unwrap_or_default();
        let why = || "a number that no row has".to_owned();
        Ok(first.filter(|first| *first < 1).map(|_| Broken::Unreadable { seq: 0, why: why() }))
    }
}

/// Removes the rows from before a time, in milliseconds since 1970, and writes down that it did. The
/// hash of the last of them stays, so that the others can be verified as before. Returns how many.
pub async fn prune(path: &Path, before: u64) -> Result<u64, AuditError> {
    std::fs::metadata(path)
        .map_err(|error| AuditError::Other { path: path.to_owned(), why: error.to_string() })?;
    let mut connection = store::open(path, &Options::default()).await?;
    let mut removed = 0;
    loop {
        let some = prune_in(&mut connection, before).await;
        let some = some.map_err(|error| AuditError::from(path, error))?;
        removed += some;
        if some < STEP.unsigned_abs() {
            break;
        }
        // Whoever waits to write is served before the next step.
        tokio::time::sleep(BREATH).await;
    }
    connection.close().await.map_err(|error| AuditError::from(path, error))?;
    Ok(removed)
}

/// Removes rows that are older than so many days, unless the log was touched: what shows that must stay.
pub async fn retain(path: &Path, days: u32) -> Result<Result<u64, Broken>, AuditError> {
    if let Err(broken) = Reader::open(path).await?.verify(None).await? {
        return Ok(Err(broken));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let before = now.saturating_sub(Duration::from_secs(u64::from(days) * 86_400));
    prune(path, u64::try_from(before.as_millis()).unwrap_or(u64::MAX)).await.map(Ok)
}

/// Writes down that decisions were forgotten.
pub async fn forgot(path: &Path, decisions: &[Remembered]) -> Result<(), AuditError> {
    let mut connection = store::open(path, &Options::default()).await?;
    let record = |gone: &Remembered| Record::forgot(&gone.subject).of_server(&gone.server);
    let records: Vec<Record> = decisions.iter().map(record).collect();
    let outcome = append(&mut connection, &records).await;
    outcome.map_err(|error| AuditError::from(path, error))?;
    connection.close().await.map_err(|error| AuditError::from(path, error))
}

async fn append(connection: &mut SqliteConnection, records: &[Record]) -> Result<(), sqlx::Error> {
    query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let head = store::head(connection).await?;
    store::insert(connection, &chained(head, records)?).await?;
    query("COMMIT").execute(&mut *connection).await.map(drop)
}

/// Removes as many as the writer, which waits meanwhile, can bear.
async fn prune_in(connection: &mut SqliteConnection, before: u64) -> Result<u64, sqlx::Error> {
    query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let anchor = store::anchor(connection).await?;
    // The first that stays; if all are old, the last one does: the log never seems never written.
    let first: i64 = sqlx::query_scalar(
        "SELECT coalesce((SELECT min(seq) FROM log WHERE json_extract(body, '$.at') >= ?), max(seq), 0)
         FROM log",
    )
    .bind(i64::try_from(before).unwrap_or(i64::MAX))
    .fetch_one(&mut *connection)
    .await?;
    let most = i64::try_from(anchor.seq).unwrap_or(i64::MAX).saturating_add(STEP + 1);
    let first = first.min(most);
    let through = query("SELECT seq, hash FROM log WHERE seq = ?").bind(first - 1);
    let Some(row) = through.fetch_optional(&mut *connection).await? else {
        query("ROLLBACK").execute(&mut *connection).await?;
        return Ok(0);
    };
    let through = store::head_of(&row)?;
    let head = store::head(connection).await?;
    let rows = chained(head, &[Record::pruned(through)])?;
    query("UPDATE anchor SET seq = ?, hash = ?")
        .bind(first - 1)
        .bind(&through.hash.0[..])
        .execute(&mut *connection)
        .await?;
    query("DELETE FROM log WHERE seq < ?").bind(first).execute(&mut *connection).await?;
    store::insert(connection, &rows).await?;
    query("COMMIT").execute(&mut *connection).await?;
    Ok(through.seq - anchor.seq)
}

/// How many rows are removed in one transaction, and how long others may write in between.
const STEP: i64 = 10_000;
const BREATH: Duration = Duration::from_millis(20);
/// How many rows are read at once.
const PAGE: i64 = 500;
