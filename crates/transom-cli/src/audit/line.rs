//! An export, line by line.
//!
//! The first line says what the first row follows, the last one where the log ends. Between them stands
//! a row in each; the hash covers the text of `row` as it stands there, so it is passed on untouched.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use transom_host::audit::{Detail, Hash, Head, Row};

/// A line after the first.
pub(super) enum Line {
    Row(Row),
    End(End),
}

/// Where the log ends.
pub(super) struct End {
    pub(super) seq: u64,
    pub(super) hash: Hash,
}

#[derive(Serialize, Deserialize)]
struct Beginning {
    transom_audit: u32,
    after: Cursor,
}

#[derive(Serialize, Deserialize)]
struct Cursor {
    seq: u64,
    hash: String,
}

#[derive(Serialize, Deserialize)]
struct Ending {
    head: Cursor,
}

#[derive(Serialize, Deserialize)]
struct Written<'a> {
    seq: u64,
    #[serde(borrow)]
    row: &'a RawValue,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    detail: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail_hash: Option<String>,
    hash: String,
}

pub(super) fn beginning(anchor: Head) -> String {
    print(&Beginning { transom_audit: VERSION, after: Cursor::of(anchor) })
}

pub(super) fn end(head: Head) -> String {
    print(&Ending { head: Cursor::of(head) })
}

/// One row. A text that was changed and is no JSON any more stands as a string.
pub(super) fn of(row: &Row) -> String {
    let body = raw(&row.body);
    let (detail, salt, detail_hash) = match &row.detail {
        Detail::Whole { text, salt } => (Some(raw(text)), Some(HEXLOWER.encode(salt)), None),
        Detail::Redacted(hash) => (None, None, Some(hash.to_string())),
    };
    let hash = row.hash.to_string();
    let (seq, detail) = (row.seq, detail.as_deref());
    print(&Written { seq, row: &body, detail, salt, detail_hash, hash })
}

pub(super) fn read_beginning(text: &str) -> Option<Head> {
    let beginning: Beginning = serde_json::from_str(text).ok()?;
    (beginning.transom_audit == VERSION).then_some(())?;
    beginning.after.read()
}

pub(super) fn read(text: &str) -> Result<Line, String> {
    if let Ok(Ending { head }) = serde_json::from_str(text) {
        let head = head.read().ok_or("the head is not a hash")?;
        return Ok(Line::End(End { seq: head.seq, hash: head.hash }));
    }
    let written: Written<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let hash = Hash::parse(&written.hash).ok_or("the hash is not one")?;
    let detail = match (written.detail, written.salt, written.detail_hash) {
        (Some(detail), Some(salt), None) => {
            let salt = salt_of(&salt).ok_or("the salt is not one")?;
            Detail::Whole { text: detail.get().to_owned(), salt }
        }
        (None, None, Some(hash)) => Detail::Redacted(Hash::parse(&hash).ok_or("no hash")?),
        _ => return Err("neither a detail with its salt nor its hash".to_owned()),
    };
    Ok(Line::Row(Row { seq: written.seq, body: written.row.get().to_owned(), detail, hash }))
}

impl Cursor {
    fn of(head: Head) -> Self {
        Self { seq: head.seq, hash: head.hash.to_string() }
    }

    fn read(&self) -> Option<Head> {
        Some(Head { seq: self.seq, hash: Hash::parse(&self.hash)? })
    }
}

fn print(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("numbers, strings and JSON are JSON")
}

fn salt_of(digits: &str) -> Option<[u8; 16]> {
    HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()?.try_into().ok()
}

fn raw(text: &str) -> Box<RawValue> {
    // A line must stay one.
    let whole = RawValue::from_string(text.to_owned()).ok().filter(|_| !text.contains('\n'));
    whole.unwrap_or_else(|| serde_json::value::to_raw_value(text).expect("a string is JSON"))
}

const VERSION: u32 = 1;
