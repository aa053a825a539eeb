//! The id of a request.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};
use serde_json::value::RawValue;

use crate::quoted::Quoted;

/// A request id. Numbers and strings are different ids even when they look alike (W-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer that a browser can hold exactly.
    Number(i64),
    /// Any string of at most [`MAX_ID_BYTES`].
    String(Box<str>),
}

impl Id {
    /// Reads an id: an integer that a browser can hold, or a string that is not too long.
    pub fn read(raw: &RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// The number of a request of ours that an answer names. The reference takes `"0"` for an answer
    /// to `0` (W-3), so some peers will send it.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(*number).ok(),
            Self::String(text) => text.parse().ok(),
        }
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            // An id is a stranger's word, and a log line stays one short line.
            Self::String(text) => Quoted::new(text).fmt(f),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a short string or an integer within 2^53")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Id, E> {
        let safe = number.unsigned_abs() <= MAX_SAFE_INTEGER;
        safe.then_some(Id::Number(number))
            .ok_or_else(|| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Id, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Id, E> {
        let short = text.len() <= MAX_ID_BYTES;
        short.then(|| Id::String(text.into())).ok_or_else(|| E::invalid_length(text.len(), &self))
    }
}

/// The longest string id: an id is kept while its call runs.
pub const MAX_ID_BYTES: usize = 1024;
/// The largest integer that a browser holds exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
