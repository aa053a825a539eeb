//! What the peer did wrong, and the code it is answered with.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::rpc::{DENIED, INVALID_PARAMS, METHOD_NOT_FOUND, Malformed};

/// The peer broke the protocol or a rule of the house. Never the caller's fault, never a bug of ours.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A text that is not a message we take.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A message that may not arrive now.
    #[error("got {got} while {state}")]
    Unexpected {
        /// Where the session stood.
        state: &'static str,
        /// What came.
        got: Quoted,
    },
    /// A request nobody here handles (W-9).
    #[error("no such method: {method}")]
    UnknownMethod {
        /// The method.
        method: Quoted,
    },
    /// The params of a known method do not fit it.
    #[error("{method}: {reason}")]
    BadParams {
        /// The method.
        method: &'static str,
        /// What was expected and what came.
        reason: Quoted,
    },
    /// An answer to a request we never made, or already settled.
    #[error("answer to unknown request {id}")]
    UnknownId {
        /// The id it named.
        id: Quoted,
    },
    /// A request with the id of another one that is still open.
    #[error("request {id} is still open")]
    DuplicateId {
        /// The id it used.
        id: Quoted,
    },
    /// Something the policy does not let this view do.
    #[error("denied: {0}")]
    Denied(#[from] Denial),
    /// More or faster than the limits let through.
    #[error("over the limit: {limit}")]
    OverLimit {
        /// Which limit.
        limit: Limit,
    },
}

/// The rule that a request was denied by, in words a view's author understands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Denial {
    /// H-11: the tool's visibility does not include the app.
    #[error("tool {0} is not visible to apps")]
    NotVisible(Quoted),
    /// H-12, H-15: no such tool on the server this view came from.
    #[error("tool {0} is not a tool of this view's server")]
    NotThisServer(Quoted),
    /// The operator's policy says no.
    #[error("the policy does not allow {0}")]
    Policy(Quoted),
    /// The person said no.
    #[error("refused by the user: {0}")]
    Refused(Quoted),
    /// The person said no a moment ago, and is not asked again yet.
    #[error("refused by the user a moment ago: {0}")]
    Again(Quoted),
    /// Nobody answered the question in time.
    #[error("no decision")]
    NoDecision,
    /// H-15: the tool is not any more what the person said yes to.
    #[error("tool {0} changed while the user was asked")]
    Changed(Quoted),
    /// H-90: an address that is not opened for anybody.
    #[error("the address is not one this host opens: {0}")]
    Address(Quoted),
    /// H-100: content of a kind this host cannot pass on.
    #[error("this host takes no {0} content here")]
    Modality(&'static str),
    /// H-114…H-119: a tool the view offers and the host does not take.
    #[error("the app's tool {0} is not taken")]
    AppTool(Quoted),
    /// V-16: sampling with tools, which this host does not offer.
    #[error("this host does not offer tools to sampling")]
    SamplingTools,
}

/// What there was too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Messages a second.
    Messages,
    /// Bytes a second.
    Bytes,
    /// New documents, or the same one starting over.
    Instances,
    /// Requests not yet answered.
    Calls,
    /// Questions a person has not yet decided.
    Questions,
    /// Bytes of requests that wait for a person.
    Held,
    /// The size of one result of an app's tool (H-117).
    Result,
}

/// A stranger's words: cut short and escaped, so that a log line stays one short line.
#[derive(Clone, PartialEq, Eq)]
pub struct Quoted(Box<str>);

impl Violation {
    /// The JSON-RPC code that a request is answered with; none where the spec forbids an answer.
    ///
    /// The only place where a fault becomes a code.
    pub fn code(&self) -> Option<i64> {
        match self {
            // W-8: malformed input gets no reply. An answer is never answered, and an error in reply
            // to a doubled id would settle the request that holds it.
            Self::Malformed(_) | Self::UnknownId { .. } | Self::DuplicateId { .. } => None,
            Self::UnknownMethod { .. } => Some(METHOD_NOT_FOUND),
            Self::BadParams { .. } => Some(INVALID_PARAMS),
            Self::Unexpected { .. } | Self::Denied(_) | Self::OverLimit { .. } => Some(DENIED),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Messages => "messages a second",
            Self::Bytes => "bytes a second",
            Self::Instances => "new instances a second",
            Self::Calls => "requests in flight",
            Self::Questions => "questions waiting for the user",
            Self::Held => "bytes waiting for the user",
            Self::Result => "size of a result",
        })
    }
}

impl Quoted {
    /// Keeps the first eighty characters.
    pub fn new(words: &str) -> Self {
        match words.char_indices().nth(QUOTE) {
            Some((end, _)) => Self(format!("{}…", &words[..end]).into()),
            None => Self(words.into()),
        }
    }

    /// The words, not escaped.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Quoted {
    fn from(words: &str) -> Self {
        Self::new(words)
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Reads the params of a known method; what does not fit it is the peer's fault.
pub(crate) fn read<'a, T: Deserialize<'a>>(
    method: &'static str,
    params: Option<&'a RawValue>,
) -> Result<T, Violation> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str(text)
        .map_err(|error| Violation::BadParams { method, reason: Quoted::new(&error.to_string()) })
}

/// How many characters of a stranger's words are kept.
const QUOTE: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_words_stay_one_short_line() {
        let words = format!("a\nb\u{202e}\"{}", "é".repeat(500));
        let printed = Violation::UnknownMethod { method: Quoted::new(&words) }.to_string();
        assert!(printed.starts_with(r#"no such method: "a\nb\u{202e}\""#), "{printed}");
        assert!(printed.ends_with("…\""), "{printed}");
        assert!(printed.chars().count() < 130, "{printed}");
        assert!(!printed.contains('\n'));
    }

    #[test]
    fn only_a_request_that_was_understood_is_answered() {
        #[rustfmt::skip]
        let table = [
            (Violation::Malformed(Malformed::Foreign), None),
            (Violation::UnknownId { id: "1".into() }, None),
            (Violation::DuplicateId { id: "1".into() }, None),
            (Violation::UnknownMethod { method: "x".into() }, Some(-32601)),
            (Violation::BadParams { method: "ui/message", reason: "x".into() }, Some(-32602)),
            (Violation::Denied(Denial::NotVisible("x".into())), Some(-32000)),
            (Violation::OverLimit { limit: Limit::Calls }, Some(-32000)),
            (Violation::Unexpected { state: "closed", got: "x".into() }, Some(-32000)),
        ];
        for (violation, code) in table {
            assert_eq!(violation.code(), code, "{violation}");
        }
    }
}
