//! The chain: every row's hash covers the row and the hash before it, so that no row can be changed,
//! removed or moved without all that follow showing it.

use std::fmt;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use sha2::{Digest as _, Sha256};

/// One row of the log.
///
/// What would tell a reader more than that something happened stands in the detail, which the hash
/// covers by a salted hash of its own: a row without its detail can still be verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number, from 1, without a gap.
    pub seq: u64,
    /// What happened, as JSON text.
    pub body: String,
    /// To what, as JSON text, or what stands for it.
    pub detail: Detail,
    /// The hash of this row and of all before it.
    pub hash: Hash,
}

/// A row's detail, whole or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Whole.
    Whole {
        /// JSON text.
        text: String,
        /// What keeps a short text from being guessed by its hash.
        salt: [u8; 16],
    },
    /// Left out.
    Redacted(Hash),
}

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub(super) [u8; 32]);

/// A place in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of the last row; 0 before the first.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
}

/// What is wrong with a log, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// A row that is not there.
    #[error("row {expected} is missing; row {found} comes in its place")]
    Missing {
        /// The row that should come.
        expected: u64,
        /// The row that does.
        found: u64,
    },
    /// A row that is not what was written.
    #[error("row {seq} is not what was written there: it was changed, moved, or put in")]
    Changed {
        /// The row.
        seq: u64,
    },
    /// A row that cannot be read.
    #[error("row {seq} cannot be read: {why}")]
    Unreadable {
        /// The row.
        seq: u64,
        /// Why.
        why: String,
    },
    /// The log begins after rows of which no row says that they were removed.
    #[error("the log begins after row {seq}, and no row says that those before it were removed")]
    Beheaded {
        /// The last row that is not there.
        seq: u64,
    },
    /// The head that was kept elsewhere is not in the log.
    #[error("the log ends with row {last}, without the head that was kept: its tail was cut")]
    Cut {
        /// The last row that is there.
        last: u64,
    },
}

/// Goes along a log, row by row.
#[derive(Debug)]
pub struct Verifier {
    at: Head,
    anchor: Head,
    anchored: bool,
    wanted: Option<Hash>,
}

impl Row {
    /// The row that comes after `last`.
    pub(super) fn after(last: Head, body: String, text: String, salt: [u8; 16]) -> Self {
        let detail = Detail::Whole { text, salt };
        let seq = last.seq + 1;
        let hash = link(last.hash, seq, &body, detail.hash());
        Self { seq, body, detail, hash }
    }

    /// The same row without its detail.
    #[must_use]
    pub fn redacted(self) -> Self {
        let detail = Detail::Redacted(self.detail.hash());
        Self { detail, ..self }
    }

    pub(super) fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash }
    }
}

impl Detail {
    /// The hash that stands for it.
    pub fn hash(&self) -> Hash {
        match self {
            Self::Redacted(hash) => *hash,
            Self::Whole { text, salt } => {
                let mut hasher = Sha256::new();
                hasher.update(salt);
                hasher.update(text);
                Hash(hasher.finalize().into())
            }
        }
    }
}

impl Verifier {
    /// Begins after `anchor`, which is [`Head::GENESIS`] for a log with nothing removed. A `head` that
    /// was kept elsewhere must come along.
    pub fn new(anchor: Head, head: Option<Hash>) -> Self {
        let wanted = head.filter(|head| *head != anchor.hash);
        Self { at: anchor, anchor, anchored: anchor == Head::GENESIS, wanted }
    }

    /// Takes the next row.
    pub fn take(&mut self, row: &Row) -> Result<(), Broken> {
        let expected = self.at.seq + 1;
        if row.seq > expected {
            return Err(Broken::Missing { expected, found: row.seq });
        }
        let hash = link(self.at.hash, expected, &row.body, row.detail.hash());
        if row.seq != expected || hash != row.hash {
            return Err(Broken::Changed { seq: expected });
        }
        self.at = row.head();
        self.anchored |= removed(&row.body) == Some(self.anchor);
        if self.wanted == Some(row.hash) {
            self.wanted = None;
        }
        Ok(())
    }

    /// There are no more; returns the head.
    pub fn end(self) -> Result<Head, Broken> {
        if !self.anchored {
            return Err(Broken::Beheaded { seq: self.anchor.seq });
        }
        if self.wanted.is_some() {
            return Err(Broken::Cut { last: self.at.seq });
        }
        Ok(self.at)
    }
}

impl Head {
    /// Before the first row.
    pub const GENESIS: Self = Self { seq: 0, hash: Hash([0; 32]) };
}

impl Hash {
    /// Reads sixty-four hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(f)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The hash of a row. The body's length stands before it, so that no two rows hash the same bytes.
fn link(before: Hash, seq: u64, body: &str, detail: Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(DOMAIN);
    hasher.update(before.0);
    hasher.update(seq.to_be_bytes());
    hasher.update((body.len() as u64).to_be_bytes());
    hasher.update(body);
    hasher.update(detail.0);
    Hash(hasher.finalize().into())
}

/// What a row says was removed, if that is what it says.
fn removed(body: &str) -> Option<Head> {
    #[derive(serde::Deserialize)]
    struct Pruned {
        through: u64,
        hash: String,
    }
    if !body.contains(r#""kind":"pruned""#) {
        return None;
    }
    let Pruned { through, hash } = serde_json::from_str(body).ok()?;
    Some(Head { seq: through, hash: Hash::parse(&hash)? })
}

const DOMAIN: &[u8] = b"transom audit 1\n";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log(texts: &[(String, String)]) -> Vec<Row> {
        let mut head = Head::GENESIS;
        let mut rows = vec![];
        for (body, detail) in texts {
            let row = Row::after(head, body.clone(), detail.clone(), [7; 16]);
            head = row.head();
            rows.push(row);
        }
        rows
    }

    fn verify(rows: &[Row], head: Option<Hash>) -> Result<Head, Broken> {
        let mut verifier = Verifier::new(Head::GENESIS, head);
        rows.iter().try_for_each(|row| verifier.take(row))?;
        verifier.end()
    }

    fn texts() -> impl Strategy<Value = Vec<(String, String)>> {
        proptest::collection::vec(("[ -~é]{0,40}", "[ -~]{0,40}"), 2..12)
    }

    /// Turns one bit of a text round, as far as it stays a text.
    fn flip(text: &mut String, at: prop::sample::Index) -> bool {
        let mut bytes = std::mem::take(text).into_bytes();
        let some = !bytes.is_empty();
        if some {
            let at = at.index(bytes.len());
            bytes[at] ^= 1;
        }
        *text = String::from_utf8_lossy(&bytes).into_owned();
        some
    }

    proptest! {
        #[test]
        fn a_whole_log_verifies_with_and_without_its_details(texts in texts()) {
            let rows = log(&texts);
            let head = rows.last().unwrap().head();
            prop_assert_eq!(verify(&rows, Some(head.hash)), Ok(head));
            let redacted: Vec<Row> = rows.into_iter().map(Row::redacted).collect();
            prop_assert_eq!(verify(&redacted, Some(head.hash)), Ok(head));
        }

        #[test]
        fn any_changed_byte_is_found_in_its_row(
            texts in texts(), which: prop::sample::Index, at: prop::sample::Index, part in 0..4,
        ) {
            let mut rows = log(&texts);
            let which = which.index(rows.len());
            let row = &mut rows[which];
            let changed = match (part, &mut row.detail) {
                (0, _) => flip(&mut row.body, at),
                (1, Detail::Whole { text, .. }) => flip(text, at),
                (2, Detail::Whole { salt, .. }) => { salt[at.index(16)] ^= 1; true }
                _ => { row.hash.0[at.index(32)] ^= 1; true }
            };
            prop_assume!(changed);
            prop_assert_eq!(verify(&rows, None), Err(Broken::Changed { seq: which as u64 + 1 }));
        }

        #[test]
        fn a_removed_row_is_found(texts in texts(), which: prop::sample::Index, renumber: bool) {
            let mut rows = log(&texts);
            let head = rows.last().unwrap().hash;
            let which = which.index(rows.len() - 1);
            rows.remove(which);
            let seq = which as u64 + 1;
            if renumber {
                rows[which..].iter_mut().for_each(|row| row.seq -= 1);
                prop_assert_eq!(verify(&rows, None), Err(Broken::Changed { seq }));
            } else {
                let missing = Broken::Missing { expected: seq, found: seq + 1 };
                prop_assert_eq!(verify(&rows, Some(head)), Err(missing));
            }
        }

        #[test]
        fn two_swapped_rows_are_found(texts in texts(), one: prop::sample::Index, other: prop::sample::Index) {
            let mut rows = log(&texts);
            let (one, other) = (one.index(rows.len()), other.index(rows.len()));
            let (one, other) = (one.min(other), one.max(other));
            prop_assume!(one != other);
            rows.swap(one, other);
            // As an attacker would who can write into the table: with the numbers put right.
            (rows[one].seq, rows[other].seq) = (rows[other].seq, rows[one].seq);
            prop_assert_eq!(verify(&rows, None), Err(Broken::Changed { seq: one as u64 + 1 }));
        }

        #[test]
        fn a_cut_tail_is_found_by_the_head(texts in texts(), cut: prop::sample::Index) {
            let mut rows = log(&texts);
            let head = rows.last().unwrap().hash;
            rows.truncate(cut.index(rows.len()));
            let last = rows.len() as u64;
            prop_assert_eq!(verify(&rows, Some(head)), Err(Broken::Cut { last }));
            prop_assert!(verify(&rows, None).is_ok(), "and by nothing else");
        }
    }

    #[test]
    fn what_was_removed_must_have_been_written_down() {
        let texts: Vec<_> = (0..4).map(|n| (format!(r#"{{"n":{n}}}"#), String::new())).collect();
        let rows = log(&texts);
        let anchor = rows[1].head();
        let pruned = format!(r#"{{"kind":"pruned","through":2,"hash":"{}"}}"#, anchor.hash);
        let pruned = Row::after(rows[3].head(), pruned, String::new(), [0; 16]);
        for (rows, expected) in [
            (vec![&rows[2], &rows[3], &pruned], Ok(pruned.head())),
            (vec![&rows[2], &rows[3]], Err(Broken::Beheaded { seq: 2 })),
        ] {
            let mut verifier = Verifier::new(anchor, None);
            rows.into_iter().try_for_each(|row| verifier.take(row)).unwrap();
            assert_eq!(verifier.end(), expected);
        }
    }

    #[test]
    fn a_hash_reads_as_it_prints() {
        let hash = Hash::of(b"x");
        assert_eq!(Hash::parse(&hash.to_string()), Some(hash));
        for text in ["", "00", &"g".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(Hash::parse(text), None, "{text}");
        }
    }
}
