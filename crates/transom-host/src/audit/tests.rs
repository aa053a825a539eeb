//! The log in a real file: written, touched, full, locked, and from another time.

use std::path::{Path, PathBuf};

use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use transom::{
    host::{Ruling, Which},
    rpc::Id,
};

use super::*;

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    Place { _folder: folder, path }
}

fn record(about: &str) -> Record {
    let which = Which::View { id: Id::Number(7), call: Some(3) };
    Record::judged(&which, Some("tools/call"), about, 12, &Ruling::Allowed).of("demo", "v1")
}

/// A log of a start, some verdicts and a stop.
async fn written(path: &Path, verdicts: usize) -> Head {
    let audit = Audit::open(path, &Options::default()).await.unwrap();
    for n in 0..verdicts {
        audit.note(record(&format!("tool {n}")));
    }
    audit.close().await.unwrap()
}

async fn verify(path: &Path, head: Option<Hash>) -> Result<Head, Broken> {
    Reader::open(path).await.unwrap().verify(head).await.unwrap()
}

async fn rows(path: &Path) -> Vec<Row> {
    let mut reader = Reader::open(path).await.unwrap();
    let mut rows = vec![];
    loop {
        let page = reader.next().await.unwrap();
        if page.is_empty() {
            return rows;
        }
        rows.extend(page.into_iter().map(Result::unwrap));
    }
}

/// Somebody who can write the file, and knows how.
async fn touch(path: &Path, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    for trigger in ["DROP TRIGGER log_is_not_changed", "DROP TRIGGER log_is_not_cut"] {
        sqlx::query(trigger).execute(&mut connection).await.unwrap();
    }
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn what_is_written_can_be_read_and_goes_on_after_a_restart() {
    let place = place();
    let first = written(&place.path, 3).await;
    assert_eq!(first.seq, 5, "start, three verdicts, stop");
    let second = written(&place.path, 700).await;
    assert_eq!(second.seq, 5 + 702);
    assert_eq!(
        verify(&place.path, Some(first.hash)).await,
        Ok(second),
        "an old head is still there"
    );
    let rows = rows(&place.path).await;
    assert!(
        rows[1].body.contains(r#""kind":"verdict","server":"demo","view":"v1""#),
        "{}",
        rows[1].body
    );
    assert!(!rows[1].body.contains("tool 0"), "what it was about stands in the detail");
    let Detail::Whole { text, .. } = &rows[1].detail else { panic!("whole") };
    assert_eq!(text, r#"{"about":"tool 0","id":"7"}"#);
}

#[tokio::test]
async fn what_was_touched_is_found_and_named() {
    #[rustfmt::skip]
    let table = [
        ("UPDATE log SET body = replace(body, 'allowed', 'refused') WHERE seq = 4", Broken::Changed { seq: 4 }),
        ("UPDATE log SET detail = '{}' WHERE seq = 3",                              Broken::Changed { seq: 3 }),
        ("DELETE FROM log WHERE seq = 5",                          Broken::Missing { expected: 5, found: 6 }),
        ("DELETE FROM log WHERE seq = 5; UPDATE log SET seq = seq - 1 WHERE seq > 5", Broken::Changed { seq: 5 }),
        ("UPDATE log SET seq = 100 WHERE seq = 3; UPDATE log SET seq = 3 WHERE seq = 4; UPDATE log SET seq = 4 WHERE seq = 100", Broken::Changed { seq: 3 }),
        ("DELETE FROM log WHERE seq > 8",                                           Broken::Cut { last: 8 }),
        ("DELETE FROM log WHERE seq < 4; UPDATE anchor SET seq = 3, hash = zeroblob(32)", Broken::Changed { seq: 4 }),
        ("UPDATE anchor SET seq = 3, hash = (SELECT hash FROM log WHERE seq = 3); DELETE FROM log WHERE seq < 4", Broken::Beheaded { seq: 3 }),
        ("INSERT INTO log SELECT -5, body, detail, salt, hash FROM log WHERE seq = 2", Broken::Unreadable { seq: 0, why: "a number that no row has".into() }),
    ];
    for (sql, broken) in table {
        let place = place();
        let head = written(&place.path, 10).await;
        touch(&place.path, sql).await;
        assert_eq!(verify(&place.path, Some(head.hash)).await, Err(broken), "{sql}");
    }
}

#[tokio::test]
async fn the_file_itself_refuses_changes() {
    let place = place();
    written(&place.path, 3).await;
    let options = SqliteConnectOptions::new().filename(&place.path);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    for sql in ["UPDATE log SET body = ''", "DELETE FROM log"] {
        let error = sqlx::query(sql).execute(&mut connection).await.unwrap_err().to_string();
        assert!(error.contains("append-only"), "{sql}: {error}");
    }
}

#[tokio::test]
async fn two_programs_may_write_one_log() {
    let place = place();
    let one = Audit::open(&place.path, &Options::default()).await.unwrap();
    let other = Audit::open(&place.path, &Options::default()).await.unwrap();
    for n in 0..50 {
        one.note(record(&format!("one {n}")));
        other.write(record(&format!("other {n}"))).await.unwrap();
    }
    one.close().await.unwrap();
    let head = other.close().await.unwrap();
    assert_eq!(head.seq, 104);
    assert_eq!(verify(&place.path, None).await, Ok(head));
}

#[tokio::test]
async fn old_rows_go_and_the_others_can_still_be_verified() {
    let place = place();
    let old = written(&place.path, 5).await;
    assert_eq!(prune(&place.path, 0).await.unwrap(), 0, "nothing is that old");
    assert_eq!(verify(&place.path, None).await, Ok(old));
    // All are old: the last one stays, and the row that says so.
    assert_eq!(prune(&place.path, u64::MAX).await.unwrap(), 6);
    let rows_left = rows(&place.path).await;
    assert_eq!(rows_left.iter().map(|row| row.seq).collect::<Vec<_>>(), [7, 8]);
    assert!(rows_left[1].body.contains(r#""kind":"pruned","through":6"#), "{}", rows_left[1].body);
    let head = verify(&place.path, Some(old.hash)).await.unwrap();
    // And again, and on.
    assert_eq!(prune(&place.path, u64::MAX).await.unwrap(), 1);
    let later = written(&place.path, 2).await;
    assert_eq!(verify(&place.path, Some(head.hash)).await, Ok(later));
}

#[tokio::test]
async fn a_full_disk_stops_everything_that_waits() {
    let place = place();
    written(&place.path, 1).await;
    let audit = Audit::open(&place.path, &Options::small()).await.unwrap();
    let mut failed = None;
    for n in 0..1_000 {
        if let Err(error) = audit.write(record(&format!("{n} {}", "x".repeat(1_000)))).await {
            failed = Some((n, error));
            break;
        }
    }
    let (n, error) = failed.expect("twelve pages hold no thousand rows");
    assert!(matches!(error, AuditError::Full { .. }), "{error}");
    assert!(audit.write(record("after")).await.is_err(), "and nothing comes after");
    assert!(audit.close().await.is_err());
    // What was written before is there and whole, and not one row more.
    let head = verify(&place.path, None).await.unwrap();
    assert_eq!(head.seq, 4 + n);
}

#[tokio::test]
async fn what_cannot_be_used_says_why_at_the_start() {
    let opened = async |path: &Path| Audit::open(path, &Options::default()).await.unwrap_err();
    // Newer.
    let newer = place();
    written(&newer.path, 1).await;
    touch(&newer.path, "PRAGMA user_version = 99").await;
    let error = opened(&newer.path).await;
    assert!(matches!(error, AuditError::Newer { found: 99, .. }), "{error}");
    assert!(matches!(Reader::open(&newer.path).await, Err(AuditError::Newer { found: 99, .. })));
    // Not ours.
    let text = place();
    std::fs::write(&text.path, "hello ".repeat(1_000)).unwrap();
    let error = opened(&text.path).await;
    assert!(matches!(error, AuditError::NotAnAudit { .. }), "{error}");
    let foreign = place();
    let options = SqliteConnectOptions::new().filename(&foreign.path).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("CREATE TABLE theirs (x)").execute(&mut connection).await.unwrap();
    let error = opened(&foreign.path).await;
    assert!(error.to_string().contains("another program's database"), "{error}");
    // No folder, or one where nobody may write.
    let error = opened(&text.path.join("below/audit.db")).await;
    assert!(matches!(error, AuditError::Other { .. }), "{error}");
    if cfg!(target_os = "linux") {
        let error = opened(Path::new("/proc/self/audit.db")).await;
        assert!(matches!(error, AuditError::ReadOnly { .. } | AuditError::Other { .. }), "{error}");
    }
    // Nothing to read.
    assert!(Reader::open(&text.path.with_file_name("none.db")).await.is_err());
}

#[tokio::test]
async fn a_lock_that_is_not_let_go_is_an_error_at_the_start() {
    let place = place();
    written(&place.path, 1).await;
    let options = SqliteConnectOptions::new().filename(&place.path);
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let error = Audit::open(&place.path, &Options::default()).await.unwrap_err();
    assert!(matches!(error, AuditError::Locked { .. }), "{error}");
    // Reading needs no lock.
    assert!(verify(&place.path, None).await.is_ok());
}

#[tokio::test]
async fn a_medium_that_can_only_be_read_is_an_error_at_the_start() {
    let place = place();
    let before = written(&place.path, 1).await;
    let error = Audit::open(&place.path, &Options::read_only()).await.unwrap_err();
    assert!(matches!(error, AuditError::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("it is read-only"), "{error}");
    assert_eq!(verify(&place.path, None).await, Ok(before));
}

#[tokio::test]
async fn what_is_old_goes_while_somebody_writes_and_not_if_somebody_touched_it() {
    let place = place();
    let audit = Audit::open(&place.path, &Options::default()).await.unwrap();
    for n in 0..300 {
        audit.note(record(&format!("tool {n}")));
    }
    audit.write(record("last")).await.unwrap();
    assert_eq!(retain(&place.path, 1).await.unwrap(), Ok(0), "nothing is a day old");
    let removed = retain(&place.path, 0).await.unwrap().unwrap();
    assert!(removed > 0, "{removed}");
    audit.write(record("after")).await.unwrap();
    let head = audit.close().await.unwrap();
    assert_eq!(verify(&place.path, None).await, Ok(head));
    touch(&place.path, "UPDATE log SET body = '{}' WHERE seq = (SELECT max(seq) FROM log)").await;
    assert!(retain(&place.path, 0).await.unwrap().is_err(), "what shows it stays");
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place();
    let audit = Audit::open(&place.path, &Options::default()).await.unwrap();
    for name in ["audit.db", "audit.db-wal"] {
        let mode = std::fs::metadata(place.path.with_file_name(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    audit.close().await.unwrap();
}

#[tokio::test]
async fn what_is_written_beside_the_file_gets_into_it_while_the_log_is_open() {
    let place = place();
    let audit = Audit::open(&place.path, &Options::default()).await.unwrap();
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    let empty = size(&place.path);
    let mut beside = place.path.clone().into_os_string();
    beside.push("-wal");
    for round in 0..12 {
        for n in 0..5_000 {
            audit.note(record(&format!("tool {round} {n}")));
        }
        audit.write(record("the last")).await.unwrap();
    }
    while size(&place.path) == empty {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let head = audit.close().await.unwrap();
    assert!(!Path::new(&beside).exists(), "nothing is left beside it");
    assert_eq!(verify(&place.path, Some(head.hash)).await.unwrap(), head);
}

#[tokio::test]
async fn who_was_away_while_others_wrote_and_removed_goes_on_after_them() {
    let place = place();
    let away = Audit::open(&place.path, &Options::default()).await.unwrap();
    written(&place.path, 5).await;
    assert!(prune(&place.path, u64::MAX).await.unwrap() > 5, "its own last row is gone too");
    for n in 0..40 {
        away.note(record(&format!("later {n}")));
    }
    let head = away.close().await.unwrap();
    assert_eq!(verify(&place.path, Some(head.hash)).await, Ok(head));
}
