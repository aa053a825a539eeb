//! One JSON-RPC message: parsed and printed, nothing remembered.
//!
//! Parsing borrows. `params`, `result` and `error.data` stay the bytes they were, so a megabyte that
//! only passes through is never turned into a tree. What does not parse gets no answer (W-8); what is
//! printed has exactly the members the reference allows (W-5).

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Error as _, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    printed::{Ambiguous, push_string, reads_as},
    quoted::Quoted,
    scan,
};

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

/// A request id. Numbers and strings are different ids even when they look alike (W-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer that a browser can hold exactly.
    Number(i64),
    /// Any string of at most [`MAX_ID_BYTES`].
    String(Box<str>),
}

/// How much of a message is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
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
    #[error("not JSON that we read, at line {line} column {column}")]
    Syntax {
        /// Where reading stopped.
        line: usize,
        /// Where reading stopped.
        column: usize,
    },
    /// Not an object: a batch, a string, a number (W-1, W-2).
    #[error("expected an object")]
    NotAnObject,
    /// Somebody else's message: no `"jsonrpc": "2.0"`. Ignored without a word.
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
    /// An answer nobody can use, to a request that can be named: whoever waits for it is told.
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
    /// use transom::rpc::{Limits, Malformed, Message};
    ///
    /// let text = r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#;
    /// // A null id is not "no id": taking it for a notification would leave somebody waiting.
    /// assert_eq!(Message::parse(text, Limits::default()).unwrap_err(), Malformed::BadId);
    /// ```
    pub fn parse(text: &'a str, limits: Limits) -> Result<Self, Malformed> {
        Self::parse_strictly(text, limits).map(|(message, _)| message)
    }

    /// Reads one message, and tells of a member beside its own that a lenient reader would take for one of them:
    /// `Method`, for a reader that ignores capital letters. It is not part of what is read.
    pub fn parse_strictly(
        text: &'a str,
        limits: Limits,
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
        let mut envelope: Envelope<'a> = serde_json::from_str(text)
            .map_err(|error| Malformed::Syntax { line: error.line(), column: error.column() })?;
        let twin = envelope.twin.take();
        envelope.read().map(|message| (message, twin))
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

impl Default for Limits {
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
pub fn unwrap_string(text: &str, limits: Limits) -> Option<String> {
    if text.len() > limits.bytes || !text.trim_ascii_start().starts_with('"') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The top-level members, each present or absent; extra ones are dropped
/// (docs/reference/mcp-apps.md §4.2).
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// An extra one that somebody would take for one of these.
    twin: Option<Ambiguous>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let envelope: Envelope<'de> = deserializer.deserialize_map(EnvelopeVisitor)?;
        Ok(envelope)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(Name(name)) = map.next_key()? {
            let member = match &*name {
                "jsonrpc" => &mut envelope.jsonrpc,
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                other => {
                    envelope.twin = envelope.twin.take().or_else(|| twin(other));
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if member.is_some() {
                return Err(A::Error::custom("a member stands twice"));
            }
            *member = Some(map.next_value()?);
        }
        Ok(envelope)
    }
}

/// A member's name, borrowed unless it is written with escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

fn twin(name: &str) -> Option<Ambiguous> {
    let of = MEMBERS.into_iter().find(|member| reads_as(name, member))?;
    Some(Ambiguous::Twin { of, got: Quoted::new(name) })
}

/// The members of an error, whatever they hold.
#[derive(Deserialize)]
struct ErrorParts<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    code: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    message: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    data: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    fn read(self) -> Result<Message<'a>, Malformed> {
        if self.jsonrpc.and_then(string).as_deref() != Some("2.0") {
            return Err(Malformed::Foreign);
        }
        let id = self.id.map(|raw| Id::read(raw).ok_or(Malformed::BadId)).transpose()?;
        match (self.method, id) {
            (Some(_), _) if self.result.is_some() || self.error.is_some() => {
                Err(Malformed::Shapeless)
            }
            (Some(method), id) => {
                let method = string(method).ok_or(Malformed::BadMethod)?;
                let params = self.params;
                if params.is_some_and(|params| !is_object(params)) {
                    return Err(Malformed::BadParams);
                }
                Ok(match id {
                    Some(id) => Message::Request(Request { id, method, params }),
                    None => Message::Notification(Notification { method, params }),
                })
            }
            (None, Some(id)) => answered(id, self.result, self.error),
            (None, None) => Err(Malformed::Shapeless),
        }
    }
}

fn answered<'a>(
    id: Id,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
) -> Result<Message<'a>, Malformed> {
    let outcome = match (result, error) {
        (Some(result), None) if is_object(result) => Ok(result),
        (Some(_), None) => {
            return Err(Malformed::BadAnswer { id, reason: "a result that is not an object" });
        }
        (None, Some(error)) => match ErrorObject::read(error) {
            Some(error) => Err(error),
            None => return Err(Malformed::BadAnswer { id, reason: "an error we cannot read" }),
        },
        (Some(_), Some(_)) => {
            return Err(Malformed::BadAnswer { id, reason: "both a result and an error" });
        }
        (None, None) => {
            return Err(Malformed::BadAnswer { id, reason: "neither a result nor an error" });
        }
    };
    Ok(Message::Response(Response { id, outcome }))
}

fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Keeps `null` apart from absent: `Option` would read both as `None`.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(deserializer).map(Some)
}

fn call(id: Option<&Id>, method: &str, params: Option<&RawValue>) -> String {
    let mut text = String::with_capacity(64 + method.len() + params.map_or(0, |p| p.get().len()));
    text.push_str(r#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        text.push_str(r#","id":"#);
        push_id(&mut text, id);
    }
    text.push_str(r#","method":"#);
    push_string(&mut text, method);
    if let Some(params) = params {
        text.push_str(r#","params":"#);
        text.push_str(params.get());
    }
    text.push('}');
    text
}

fn answer(id: &Id, result: &RawValue) -> String {
    let mut text = String::with_capacity(64 + result.get().len());
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    push_id(&mut text, id);
    text.push_str(r#","result":"#);
    text.push_str(result.get());
    text.push('}');
    text
}

fn refuse(id: &Id, error: &ErrorObject<'_>) -> String {
    let data = error.data.map_or("", RawValue::get);
    let mut text = String::with_capacity(96 + error.message.len() + data.len());
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    push_id(&mut text, id);
    text.push_str(r#","error":{"code":"#);
    text.push_str(&error.code.to_string());
    text.push_str(r#","message":"#);
    push_string(&mut text, &error.message);
    if error.data.is_some() {
        text.push_str(r#","data":"#);
        text.push_str(data);
    }
    text.push_str("}}");
    text
}

fn push_id(text: &mut String, id: &Id) {
    match id {
        Id::Number(number) => text.push_str(&number.to_string()),
        Id::String(string) => push_string(text, string),
    }
}

/// The method is not known, or nobody here handles it (W-9).
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The params of a known method do not fit.
pub const INVALID_PARAMS: i64 = -32602;
/// A handler failed, or a peer's error could not be read.
pub const INTERNAL_ERROR: i64 = -32603;
/// Denied, or failed for a reason the words give.
pub const DENIED: i64 = -32000;

const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// The longest string id: an id is kept while its call runs.
pub const MAX_ID_BYTES: usize = 1024;
/// The largest integer that a browser holds exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Message<'_>, Malformed> {
        Message::parse(text, Limits::default())
    }

    /// What a text reads as, printed again, or why it does not.
    fn reads(text: &str) -> Result<String, Malformed> {
        parse(text).map(|message| message.print())
    }

    #[test]
    fn what_reads_and_what_it_prints() {
        #[rustfmt::skip]
        let table = [
            // W-5: the four shapes.
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#, r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#),
            (r#"{"jsonrpc":"2.0","method":"m","params":{"a":[1, 2]}}"#, r#"{"jsonrpc":"2.0","method":"m","params":{"a":[1, 2]}}"#),
            (r#"{"jsonrpc":"2.0","id":0,"result":{"x":1e3}}"#, r#"{"jsonrpc":"2.0","id":0,"result":{"x":1e3}}"#),
            (r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no","data":[ 1 ]}}"#, r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no","data":[ 1 ]}}"#),
            // Any order, any white space.
            ("\n { \"method\" : \"m\" , \"jsonrpc\" : \"2.0\" } \t", r#"{"jsonrpc":"2.0","method":"m"}"#),
            // docs/reference/mcp-apps.md §4.2 "Extra top-level keys": dropped, and never
            // printed (W-5).
            (r#"{"jsonrpc":"2.0","channel":"ui","method":"m","type":{"deep":[]}}"#, r#"{"jsonrpc":"2.0","method":"m"}"#),
            // W-3: ids keep their type.
            (r#"{"jsonrpc":"2.0","id":"0","method":"m"}"#, r#"{"jsonrpc":"2.0","id":"0","method":"m"}"#),
            (r#"{"jsonrpc":"2.0","id":-7,"method":"m"}"#, r#"{"jsonrpc":"2.0","id":-7,"method":"m"}"#),
            (r#"{"jsonrpc":"2.0","id":9007199254740991,"method":"m"}"#, r#"{"jsonrpc":"2.0","id":9007199254740991,"method":"m"}"#),
            (r#"{"jsonrpc":"2.0","id":"\u0041\n","method":"m"}"#, r#"{"jsonrpc":"2.0","id":"A\n","method":"m"}"#),
            // Escaped names are the names they spell.
            (r#"{"jsonrpc":"\u0032.0","\u006dethod":"tools\/call"}"#, r#"{"jsonrpc":"2.0","method":"tools/call"}"#),
            // An error that says little still answers.
            (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":""}}"#),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1e99,"message":7}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":""}}"#),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":"x","extra":1}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":"x"}}"#),
        ];
        for (text, printed) in table {
            assert_eq!(reads(text), Ok(printed.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_refused_and_why() {
        let bad = |id, reason| Malformed::BadAnswer { id: Id::Number(id), reason };
        #[rustfmt::skip]
        let table = [
            // W-2: no batches. W-1: no strings.
            ("[]", Malformed::NotAnObject),
            (r#"[{"jsonrpc":"2.0","method":"m"}]"#, Malformed::NotAnObject),
            (r#""{}""#, Malformed::NotAnObject),
            ("", Malformed::NotAnObject),
            ("null", Malformed::NotAnObject),
            // W-8: not ours.
            ("{}", Malformed::Foreign),
            (r#"{"jsonrpc":2.0,"method":"m"}"#, Malformed::Foreign),
            (r#"{"jsonrpc":"1.0","method":"m"}"#, Malformed::Foreign),
            (r#"{"type":"MCP_MESSAGE","payload":{}}"#, Malformed::Foreign),
            // W-3.
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, Malformed::BadId),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, Malformed::BadId),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, Malformed::BadId),
            (r#"{"jsonrpc":"2.0","id":{},"result":{}}"#, Malformed::BadId),
            (r#"{"jsonrpc":"2.0","id":9007199254740992,"method":"m"}"#, Malformed::BadId),
            (r#"{"jsonrpc":"2.0","id":-99999999999999999999,"method":"m"}"#, Malformed::BadId),
            // W-4.
            (r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#, Malformed::BadParams),
            (r#"{"jsonrpc":"2.0","method":"m","params":null}"#, Malformed::BadParams),
            (r#"{"jsonrpc":"2.0","id":1,"method":{}}"#, Malformed::BadMethod),
            (r#"{"jsonrpc":"2.0"}"#, Malformed::Shapeless),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, Malformed::Shapeless),
            // W-6.
            (r#"{"jsonrpc":"2.0","id":1}"#, bad(1, "neither a result nor an error")),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, bad(1, "a result that is not an object")),
            (r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, bad(1, "a result that is not an object")),
            (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, bad(1, "an error we cannot read")),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"result":{}}"#, bad(1, "both a result and an error")),
            // Twice the same member: which one counts is anybody's guess.
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, Malformed::Syntax { line: 1, column: 28 }),
            (r#"{"jsonrpc":"2.0","method":"m"} x"#, Malformed::Syntax { line: 1, column: 32 }),
            (r#"{"jsonrpc":"2.0","method":"m""#, Malformed::Syntax { line: 1, column: 29 }),
        ];
        for (text, why) in table {
            assert_eq!(reads(text), Err(why), "{text}");
        }
    }

    #[test]
    fn a_twin_of_a_member_is_told_and_not_read() {
        #[rustfmt::skip]
        let table = [
            (r#"{"jsonrpc":"2.0","method":"m"}"#, None),
            (r#"{"jsonrpc":"2.0","method":"m","channel":1,"methods":2}"#, None),
            (r#"{"jsonrpc":"2.0","method":"m","Method":"n"}"#, Some(("method", "Method"))),
            (r#"{"jsonrpc":"2.0","method":"m","\u0050arams":{}}"#, Some(("params", "Params"))),
            (r#"{"jsonrpc":"2.0","method":"m","params\u0000x":{}}"#, Some(("params", "params\0x"))),
            (r#"{"jsonrpc":"2.0","method":"m","JSONRPC":"1.0"}"#, Some(("jsonrpc", "JSONRPC"))),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"re\u017fult":{}}"#, Some(("result", "re\u{17f}ult"))),
        ];
        for (text, expected) in table {
            let (message, twin) = Message::parse_strictly(text, Limits::default()).unwrap();
            let expected = expected.map(|(of, got)| Ambiguous::Twin { of, got: Quoted::new(got) });
            assert_eq!(twin, expected, "{text}");
            assert!(message.method().is_none_or(|method| method == "m"), "{text}");
        }
    }

    #[test]
    fn a_long_string_id_is_refused() {
        let id = |length: usize| {
            format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(length))
        };
        assert!(parse(&id(MAX_ID_BYTES)).is_ok());
        assert_eq!(parse(&id(MAX_ID_BYTES + 1)).unwrap_err(), Malformed::BadId);
    }

    #[test]
    fn size_is_limited_before_anything_is_read() {
        let limits = Limits { bytes: 10, depth: 100 };
        let error = Message::parse("not json at all", limits).unwrap_err();
        assert_eq!(error, Malformed::TooLarge { size: 15, limit: 10 });
    }

    #[test]
    fn depth_is_limited_wherever_it_hides() {
        let limits = Limits { bytes: 1 << 20, depth: 5 };
        let nested = |member: &str, depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            format!(r#"{{"jsonrpc":"2.0","method":"m","{member}":{{"a":{open}{close}}}}}"#)
        };
        for member in ["params", "ignored"] {
            assert!(Message::parse(&nested(member, 3), limits).is_ok(), "{member}");
            let error = Message::parse(&nested(member, 4), limits).unwrap_err();
            assert_eq!(error, Malformed::TooDeep { limit: 5 }, "{member}");
        }
        // A million levels cost a scan, not a stack.
        let error = parse(&nested("params", 1_000_000)).unwrap_err();
        assert_eq!(error, Malformed::TooDeep { limit: 100 });
    }

    #[test]
    fn params_borrow_from_the_text() {
        let text = r#"{"jsonrpc":"2.0","method":"m","params":{"big":"…"}}"#;
        let Ok(Message::Notification(Notification { method: Cow::Borrowed(_), params })) =
            parse(text)
        else {
            panic!("a notification with a borrowed method");
        };
        let params = params.unwrap().get();
        assert!(text.as_bytes().as_ptr_range().contains(&params.as_ptr()));
    }

    #[test]
    fn a_stringified_message_is_unwrapped_once() {
        let limits = Limits::default();
        assert_eq!(unwrap_string(r#" "{\"a\":1}" "#, limits).as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(unwrap_string("{}", limits), None);
        assert_eq!(unwrap_string(r#""half"#, limits), None);
    }
}
