//! The id of a request, which is also the shape of a progress token.

use serde::de::{Unexpected, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A string or an integer; its type is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestId {
    /// An integer that JavaScript can hold; a larger one is neither read nor printed.
    Number(i64),
    /// Any string.
    String(String),
}

/// What the requester wants its progress notifications to be marked with.
pub type ProgressToken = RequestId;

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) if is_safe(*number) => serializer.serialize_i64(*number),
            Self::Number(number) => Err(S::Error::custom(format_args!("{number} is beyond 2^53"))),
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer within 2^53")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<RequestId, E> {
        if !is_safe(number) {
            return Err(E::invalid_value(Unexpected::Signed(number), &self));
        }
        Ok(RequestId::Number(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<RequestId, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RequestId, E> {
        Ok(RequestId::String(text.to_owned()))
    }
}

fn is_safe(number: i64) -> bool {
    number.unsigned_abs() <= SAFE_INTEGER
}

/// Beyond this, JavaScript no longer tells neighbouring integers apart.
const SAFE_INTEGER: u64 = (1 << 53) - 1;
