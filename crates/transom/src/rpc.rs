//! One JSON-RPC message: parsed and printed, nothing remembered.
//!
//! Parsing borrows. `params`, `result` and `error.data` stay the bytes they were, so a megabyte that
//! only passes through is never turned into a tree. What does not parse gets no answer (W-8); what is
//! printed has exactly the members the reference allows (W-5).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{printed::Ambiguous, scan};

mod id;
mod print;
mod read;

pub use id::{Id, MAX_ID_BYTES};
pub(crate) use read::Name;

use print::{answer, call, refuse};
use read::{ErrorParts, Members, is_object};

/// One message, borrowed from the text it was read from.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request(Request<'a>),
    /// Wants none.
    Notification(Notification<'a>),
    /// Is one.
    Response(Response<'a>),
}

/// A call that wants an answer.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Echoed in the answer with the type it came with (W-3).
    pub id: Id,
    /// The method, unescaped.
    pub method: Cow<'a, str>,
    /// A JSON object, when present (W-4).
    pub params: Option<&'a RawValue>,
}

/// A message that wants no answer.
#[derive(Clone, Debug)]
pub struct Notification<'a> {
    /// The method, unescaped.
    pub method: Cow<'a, str>,
    /// A JSON object, when present (W-4).
    pub params: Option<&'a RawValue>,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Response<'a> {
    /// Which request it answers.
    pub id: Id,
    /// The result, always a JSON object (W-6), or the error.
    pub outcome: Result<&'a RawValue, ErrorObject<'a>>,
}

/// The `error` member of an answer.
#[derive(Clone, Debug)]
pub struct ErrorObject<'a> {
    /// The code; a missing or unreadable one reads as [`INTERNAL_ERROR`].
    pub code: i64,
    /// The words; missing ones read as empty.
    pub message: Cow<'a, str>,
    /// Whatever else the peer wanted to say.
    pub data: Option<&'a RawValue>,
}

/// How much of a message is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLimits {
    /// The longest text, in bytes.
    pub bytes: usize,
    /// The deepest nesting of objects and arrays, the message itself being 1.
    pub depth: usize,
}

/// Why a text is not a message we take. None of these is ever answered (W-8).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Longer than the limit; not looked at any further.
    #[error("message of {size} bytes, limit {limit}")]
    TooLarge {
        /// Its length.
        size: usize,
        /// What was allowed.
        limit: usize,
    },
    /// Nested deeper than the limit.
    #[error("nested deeper than {limit}")]
    TooDeep {
        /// What was allowed.
        limit: usize,
    },
    /// Not JSON, or a member stands twice.
    #[error("not JSON that can be read, at line {line} column {column}")]
    Syntax {
        /// Where reading stopped.
        line: usize,
        /// Where reading stopped.
        column: usize,
    },
    /// Not an object: a batch, a string, a number (W-1, W-2).
    #[error("expected an object")]
    NotAnObject,
    /// Another program's message: no `"jsonrpc": "2.0"`. Ignored without a word.
    #[error("not a JSON-RPC 2.0 message")]
    Foreign,
    /// An id that is null, fractional, out of range or neither number nor string (W-3).
    #[error("id is neither a string nor an integer that a browser can hold")]
    BadId,
    /// A method that is not a string.
    #[error("method is not a string")]
    BadMethod,
    /// Params that are not an object (W-4).
    #[error("params is not an object")]
    BadParams,
    /// Neither a call nor an answer, or both.
    #[error("neither a call nor an answer")]
    Shapeless,
    /// An answer that cannot be used, to a request that can be named: the call that waits for it is told.
    #[error("answer to {id} with {reason}")]
    BadAnswer {
        /// The request it was meant for.
        id: Id,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl<'a> Message<'a> {
    /// Reads one message.
    ///
    /// ```
    /// use transom::rpc::{Malformed, Message, MessageLimits};
    ///
    /// let text = r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#;
    /// // A null id is not "no id": taking it for a notification would leave its sender waiting.
    /// assert_eq!(Message::parse(text, MessageLimits::default()).unwrap_err(), Malformed::BadId);
    /// ```
    pub fn parse(text: &'a str, limits: MessageLimits) -> Result<Self, Malformed> {
        Self::parse_strictly(text, limits).map(|(message, _)| message)
    }

    /// Reads one message, and tells of a member beside its own that a lenient reader would take for one of them:
    /// `Method`, for a reader that ignores capital letters. It is not part of what is read.
    pub fn parse_strictly(
        text: &'a str,
        limits: MessageLimits,
    ) -> Result<(Self, Option<Ambiguous>), Malformed> {
        if text.len() > limits.bytes {
            return Err(Malformed::TooLarge { size: text.len(), limit: limits.bytes });
        }
        if !text.trim_ascii_start().starts_with('{') {
            return Err(Malformed::NotAnObject);
        }
        // `RawValue` is skipped without recursion and so without a limit of its own.
        if scan::deeper_than(text.as_bytes(), limits.depth) {
            return Err(Malformed::TooDeep { limit: limits.depth });
        }
        let mut members: Members<'a> = serde_json::from_str(text)
            .map_err(|error| Malformed::Syntax { line: error.line(), column: error.column() })?;
        let twin = members.twin.take();
        members.read().map(|message| (message, twin))
    }

    /// The method, for calls.
    pub fn method(&self) -> Option<&str> {
        match self {
            Self::Request(request) => Some(&request.method),
            Self::Notification(notification) => Some(&notification.method),
            Self::Response(_) => None,
        }
    }

    /// Prints the message with the members of W-5 and no others.
    pub fn print(&self) -> String {
        match self {
            Self::Request(Request { id, method, params }) => call(Some(id), method, *params),
            Self::Notification(Notification { method, params }) => call(None, method, *params),
            Self::Response(Response { id, outcome: Ok(result) }) => answer(id, result),
            Self::Response(Response { id, outcome: Err(error) }) => refuse(id, error),
        }
    }
}

impl<'a> ErrorObject<'a> {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Cow<'a, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn read(raw: &'a RawValue) -> Option<Self> {
        if !is_object(raw) {
            return None;
        }
        let parts: ErrorParts<'a> = serde_json::from_str(raw.get()).ok()?;
        Some(Self {
            code: parts.code.and_then(|raw| raw.get().parse().ok()).unwrap_or(INTERNAL_ERROR),
            message: parts.message.and_then(string).unwrap_or_default(),
            data: parts.data,
        })
    }
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self { bytes: 16 << 20, depth: 100 }
    }
}

/// Serialises one of our own values.
///
/// Panics if the value's serialisation fails, which none of this crate's types' does.
pub(crate) fn raw<T: Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("our types have string keys and finite numbers")
}

/// Reads a raw JSON string, borrowing where nothing is escaped.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw.get()).ok().map(Cow::Owned)
}

/// The text inside a message that was posted as one JSON string, for peers that stringify
/// (docs/reference/mcp-apps.md §4.2).
pub fn unwrap_string(text: &str, limits: MessageLimits) -> Option<String> {
    if text.len() > limits.bytes || !text.trim_ascii_start().starts_with('"') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The method is not known, or this side does not handle it (W-9).
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The params of a known method do not fit.
pub const INVALID_PARAMS: i64 = -32602;
/// A handler failed, or a peer's error could not be read.
pub const INTERNAL_ERROR: i64 = -32603;
/// Denied, or failed for a reason the words give.
pub const DENIED: i64 = -32000;

#[cfg(test)]
mod tests;
