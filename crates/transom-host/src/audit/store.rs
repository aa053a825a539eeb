//! The file: how it is opened, what is in it, and what can be wrong with it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    ConnectOptions as _, Row as _, SqliteConnection, query,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous},
};

use super::chain::{Detail, Hash, Head, Row};

/// How the log is kept.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What a row survives once its effect may happen.
    pub durability: Durability,
    /// The most pages of the file; for tests of a full disk.
    pub(super) pages: Option<u32>,
    /// How long another writer is waited for; for tests of a lock.
    pub(super) patience: Option<Duration>,
    /// Whether nothing can be written; for tests of a medium that became read-only.
    pub(super) read_only: bool,
}

#[cfg(test)]
impl Options {
    /// A disk that is soon full.
    pub(crate) fn small() -> Self {
        Self { pages: Some(48), ..Self::default() }
    }

    /// The writer waits for no other process.
    pub(crate) fn hasty() -> Self {
        Self { patience: Some(Duration::from_millis(50)), ..Self::default() }
    }

    /// A medium that can only be read.
    pub(crate) fn read_only() -> Self {
        Self { read_only: true, ..Self::default() }
    }
}

/// What a row survives once its effect may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however sudden. A power failure may cost the last rows, never the chain.
    #[default]
    Process,
    /// A power failure too, at the price of waiting for the disk.
    Power,
}

/// Why the log cannot be kept or read.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Another process writes and does not let go.
    #[error("the audit {path} is locked by another program")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// There is no room left.
    #[error("the audit {path} cannot grow: the disk is full")]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// It may not be written.
    #[error("the audit {path} cannot be written: it is read-only")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It was written by a newer version of this program.
    #[error(
        "the audit {path} is of version {found}, and this program knows versions up to {VERSION}"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// It is not an audit of ours, or it is damaged.
    #[error("{path} is not an audit of transom: {why}")]
    NotAnAudit {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: String,
    },
    /// Anything else.
    #[error("the audit {path} cannot be used: {why}")]
    Other {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Whoever keeps the rows in place of the file could not.
    #[error("the audit cannot be kept: {why}")]
    NotKept {
        /// Why, in their words.
        why: String,
    },
    /// It was closed.
    #[error("the audit is closed")]
    Closed,
}

/// Opens the file to write, made and brought up to date if need be.
pub(super) async fn open(path: &Path, options: &Options) -> Result<SqliteConnection, AuditError> {
    let wrong = |error| AuditError::from(path, error);
    private(path).map_err(|error| AuditError::io(path, &error))?;
    let synchronous = match options.durability {
        Durability::Process => SqliteSynchronous::Normal,
        Durability::Power => SqliteSynchronous::Full,
    };
    let mut connect = connect(path)
        // A commit writes whole pages beside the file, and a few rows seldom fill a page of the usual 4 KiB. A file that
        // exists keeps its pages.
        .page_size(1024)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        // Not in the middle of a commit that a call waits for: see `sweep`.
        .pragma("wal_autocheckpoint", "0")
        .create_if_missing(true);
    if let Some(pages) = options.pages {
        connect = connect.pragma("max_page_count", pages.to_string());
    }
    if let Some(patience) = options.patience {
        connect = connect.busy_timeout(patience);
    }
    let mut connection = connect.connect().await.map_err(wrong)?;
    migrate(path, &mut connection).await?;
    if options.read_only {
        query("PRAGMA query_only = ON").execute(&mut connection).await.map_err(wrong)?;
    }
    Ok(connection)
}

/// Opens the file to sweep.
pub(super) async fn open_to_sweep(path: &Path) -> Result<SqliteConnection, AuditError> {
    let connect = connect(path).thread_name(|_| SWEEPER.to_owned());
    connect.connect().await.map_err(|error| AuditError::from(path, error))
}

/// Moves what was written beside the file into it, as far as no reader is in the way. Returns how many pages were written
/// beside it since it was last begun anew.
pub(super) async fn sweep(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let row = query("PRAGMA wal_checkpoint(PASSIVE)").fetch_one(connection).await?;
    row.try_get("log")
}

/// Opens the file to read.
pub(super) async fn open_to_read(path: &Path) -> Result<SqliteConnection, AuditError> {
    let wrong = |error| AuditError::from(path, error);
    std::fs::metadata(path).map_err(|error| AuditError::io(path, &error))?;
    let mut connection = connect(path).read_only(true).connect().await.map_err(wrong)?;
    match version(path, &mut connection).await? {
        0 => Err(AuditError::NotAnAudit { path: path.to_owned(), why: "it is empty".to_owned() }),
        _ => Ok(connection),
    }
}

/// The last row, or what stands for those that were removed.
pub(super) async fn head(connection: &mut SqliteConnection) -> Result<Head, sqlx::Error> {
    let last = query("SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1");
    match last.fetch_optional(&mut *connection).await? {
        Some(row) => head_of(&row),
        None => anchor(connection).await,
    }
}

/// The last row of those that were removed.
pub(super) async fn anchor(connection: &mut SqliteConnection) -> Result<Head, sqlx::Error> {
    let row = query("SELECT seq, hash FROM anchor").fetch_one(&mut *connection).await?;
    head_of(&row)
}

/// Writes rows in one transaction, if they follow what is written: otherwise [`is_taken`] tells it, and nothing
/// has happened.
///
/// A few rows are one statement, which is a transaction by itself. Each statement is a trip to the connection's thread and
/// back, and whoever asked for an effect waits for all of them.
pub(super) async fn append(
    connection: &mut SqliteConnection,
    rows: &[Row],
) -> Result<(), sqlx::Error> {
    if SIZES.iter().any(|(size, _)| *size == rows.len()) {
        return insert(connection, rows).await;
    }
    query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    if let Err(error) = insert(connection, rows).await {
        let _ = query("ROLLBACK").execute(&mut *connection).await;
        return Err(error);
    }
    query("COMMIT").execute(&mut *connection).await?;
    Ok(())
}

/// Whether rows were not written because they do not follow what is.
pub(super) fn is_taken(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::RowNotFound)
}

/// Writes rows, which follow the head.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    rows: &[Row],
) -> Result<(), sqlx::Error> {
    let mut rest = rows;
    while !rest.is_empty() {
        // Few sizes, so that few statements are prepared, and each once.
        let size = SIZES.into_iter().find(|(size, _)| *size <= rest.len());
        let (size, statement) = size.expect("one is a size");
        let (now, later) = rest.split_at(size);
        let mut insert = query(statement);
        for row in now {
            let Detail::Whole { text, salt } = &row.detail else {
                unreachable!("what is written is whole")
            };
            let seq = i64::try_from(row.seq).expect("no log has that many rows");
            insert = insert.bind(seq).bind(&*row.body).bind(&**text);
            insert = insert.bind(&salt[..]).bind(&row.hash.0[..]);
        }
        let last = i64::try_from(now[0].seq - 1).expect("no log has that many rows");
        if insert.bind(last).execute(&mut *connection).await?.rows_affected() == 0 {
            return Err(sqlx::Error::RowNotFound);
        }
        rest = later;
    }
    Ok(())
}

/// Reads a row, as far as it is one.
pub(super) fn read(row: &SqliteRow) -> Result<Row, sqlx::Error> {
    let Head { seq, hash } = head_of(row)?;
    let salt: &[u8] = row.try_get("salt")?;
    let salt =
        salt.try_into().map_err(|_| sqlx::Error::Decode("a salt of another length".into()))?;
    let detail = Detail::Whole { text: row.try_get("detail")?, salt };
    Ok(Row { seq, body: row.try_get("body")?, detail, hash })
}

pub(super) fn head_of(row: &SqliteRow) -> Result<Head, sqlx::Error> {
    let seq: i64 = row.try_get("seq")?;
    let seq = u64::try_from(seq).map_err(|_| sqlx::Error::Decode("a negative number".into()))?;
    let hash: &[u8] = row.try_get("hash")?;
    let hash =
        hash.try_into().map_err(|_| sqlx::Error::Decode("a hash of another length".into()))?;
    Ok(Head { seq, hash: Hash(hash) })
}

/// The name of a thread that sweeps; Linux keeps no more than these fifteen letters.
pub(super) const SWEEPER: &str = "transom-sweeper";

fn connect(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(PATIENCE)
        // A file that was tampered with must not run functions of its own.
        .pragma("trusted_schema", "OFF")
}

/// Makes the file readable for its owner alone, before anything is in it.
fn private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

async fn version(path: &Path, connection: &mut SqliteConnection) -> Result<i64, AuditError> {
    let wrong = |error| AuditError::from(path, error);
    let number = |sql: &'static str| sqlx::query_scalar::<_, i64>(sql);
    let found = number("PRAGMA user_version").fetch_one(&mut *connection).await.map_err(wrong)?;
    let owner = number("PRAGMA application_id").fetch_one(&mut *connection).await.map_err(wrong)?;
    let tables = number("SELECT count(*) FROM sqlite_master");
    let tables = tables.fetch_one(&mut *connection).await.map_err(wrong)?;
    if owner != APPLICATION && (owner, found, tables) != (0, 0, 0) {
        let why = "it is another program's database".to_owned();
        return Err(AuditError::NotAnAudit { path: path.to_owned(), why });
    }
    if found > VERSION {
        return Err(AuditError::Newer { path: path.to_owned(), found });
    }
    Ok(found)
}

/// Brings the file up to this version, each step whole or not at all.
async fn migrate(path: &Path, connection: &mut SqliteConnection) -> Result<(), AuditError> {
    let wrong = |error| AuditError::from(path, error);
    // Two programs may start at once; the second finds the work done.
    query("BEGIN IMMEDIATE").execute(&mut *connection).await.map_err(wrong)?;
    let found = match version(path, connection).await {
        Ok(found) => found,
        Err(error) => {
            let _ = query("ROLLBACK").execute(&mut *connection).await;
            return Err(error);
        }
    };
    for step in &MIGRATIONS[usize::try_from(found).unwrap_or_default()..] {
        sqlx::raw_sql(*step).execute(&mut *connection).await.map_err(wrong)?;
    }
    query("COMMIT").execute(&mut *connection).await.map_err(wrong)?;
    Ok(())
}

impl AuditError {
    pub(super) fn from(path: &Path, error: sqlx::Error) -> Self {
        let path = path.to_owned();
        let code = error.as_database_error().and_then(|error| error.code());
        let code: Option<i32> = code.and_then(|code| code.parse().ok());
        // The low byte is the kind; the rest says more about it.
        match code.map(|code| code & 0xff) {
            Some(5 | 6) => Self::Locked { path },
            Some(8) => Self::ReadOnly { path },
            Some(13) => Self::Full { path },
            Some(11 | 26) => Self::NotAnAudit { path, why: error.to_string() },
            _ => Self::Other { path, why: error.to_string() },
        }
    }

    fn io(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
        let path = path.to_owned();
        match error.kind() {
            PermissionDenied | ReadOnlyFilesystem => Self::ReadOnly { path },
            StorageFull => Self::Full { path },
            _ => Self::Other { path, why: error.to_string() },
        }
    }
}

/// The version of the file that this program writes.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

/// How the file got to each version; never changed, only added to.
///
/// Rows are neither changed nor removed, but those up to the anchor: of these the chain needs nothing
/// but the hash of the last.
const MIGRATIONS: [&str; 1] = ["
    PRAGMA application_id = 1414681940;
    CREATE TABLE log (
        seq INTEGER PRIMARY KEY,
        body TEXT NOT NULL,
        detail TEXT NOT NULL,
        salt BLOB NOT NULL,
        hash BLOB NOT NULL
    ) STRICT;
    CREATE TABLE anchor (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        seq INTEGER NOT NULL,
        hash BLOB NOT NULL
    ) STRICT;
    INSERT INTO anchor VALUES (1, 0, zeroblob(32));
    CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
    CREATE TRIGGER log_is_not_cut BEFORE DELETE ON log
        WHEN OLD.seq > (SELECT seq FROM anchor)
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
    PRAGMA user_version = 1;
"];

/// `TRAT`.
const APPLICATION: i64 = 1_414_681_940;
/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A statement for one row and as many more as there are marks. They are written only if they follow the last row, or
/// what stands for those that were removed.
macro_rules! insert {
    (@row $mark:tt) => { ", (?, ?, ?, ?, ?)" };
    ($($mark:tt)*) => {
        concat!(
            "INSERT INTO log (seq, body, detail, salt, hash) SELECT * FROM (VALUES (?, ?, ?, ?, ?)",
            $(insert!(@row $mark),)*
            ") WHERE coalesce((SELECT max(seq) FROM log), (SELECT seq FROM anchor)) = ?"
        )
    };
}

/// Statements for so many rows at once, the largest first.
const SIZES: [(usize, &str); 10] = [
    (32, insert!(+ + + + + + + + + + + + + + + + + + + + + + + + + + + + + + +)),
    (16, insert!(+ + + + + + + + + + + + + + +)),
    (8, insert!(+ + + + + + +)),
    (7, insert!(+ + + + + +)),
    (6, insert!(+ + + + +)),
    (5, insert!(+ + + +)),
    (4, insert!(+ + +)),
    (3, insert!(+ +)),
    (2, insert!(+)),
    (1, insert!()),
];
