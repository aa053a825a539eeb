//! What the peer did wrong, and the code it is answered with.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    printed::Ambiguous,
    rpc::{self, DENIED, INVALID_PARAMS, METHOD_NOT_FOUND, Malformed},
};

pub use crate::quoted::Quoted;

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
    /// A request of a method that this side does not have (W-9).
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
    /// Something that different readers would read differently.
    #[error("{place}: {why}")]
    Ambiguous {
        /// The method, or what else it stands in.
        place: &'static str,
        /// What could be read in two ways.
        why: Ambiguous,
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
    #[error(transparent)]
    OverLimit(#[from] Over),
}

/// More or faster than a limit lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("over the limit of {most} {limit}{of}")]
pub struct Over {
    /// Which limit.
    pub limit: Limit,
    /// Whose it is.
    pub of: Holder,
    /// How much it lets through.
    pub most: u64,
}

/// The rule that a request was denied by, in words a view's author understands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Denial {
    /// H-11: the tool's visibility does not include the app.
    #[error("tool {0} is not visible to apps")]
    NotVisible(Quoted),
    /// H-10: the tool's visibility does not include the model, and a page opens views in the model's place.
    #[error("{0} is a tool for its views alone")]
    ForViews(Quoted),
    /// H-12, H-15: no such tool on the server this view came from.
    #[error("tool {0} is not a tool of this view's server")]
    NotThisServer(Quoted),
    /// FSE-5: the tool makes HTTP requests, and declares no route that takes this one.
    #[error("the tool declares no route for {0}")]
    NoRoute(Quoted),
    /// The tool makes HTTP requests, and the arguments are none that every reader reads the same.
    #[error("the arguments are not those of an HTTP request: {0}")]
    NoRequest(&'static str),
    /// HST-4, HST-5: a handle of another view, or of this one before it was loaded anew.
    #[error("this view was not given that {0}")]
    NoHandle(Quoted),
    /// The operator's policy says no.
    #[error("the policy does not allow {0}")]
    Policy(Quoted),
    /// The person said no.
    #[error("refused by the user: {0}")]
    Refused(Quoted),
    /// The person said no a moment ago, and is not asked again yet.
    #[error("refused by the user a moment ago: {0}")]
    Again(Quoted),
    /// The person did not answer the question in time.
    #[error("no decision")]
    NoDecision,
    /// H-15: the tool is not any more what the person said yes to.
    #[error("tool {0} changed while the user was asked")]
    Changed(Quoted),
    /// H-90: an address that is not opened for any view.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Messages a second.
    Messages,
    /// Bytes a second.
    Bytes,
    /// The size of one message.
    Size,
    /// Requests of one method a second.
    Method,
    /// The size of the params of one method.
    Params,
    /// New documents, or the same one starting over.
    Instances,
    /// Requests not yet answered.
    Calls,
    /// Questions a person has not yet decided.
    Questions,
    /// Bytes of requests that wait for a person.
    Held,
    /// Bytes of messages that wait for the page to take them.
    Queued,
    /// Views that are open.
    Views,
    /// The size of one result of an app's tool (H-117).
    Result,
    /// Files in one download.
    Files,
    /// New questions in a while, those that were taken back included.
    Asking,
}

/// Who shares a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// One view alone.
    View,
    /// All views of one server.
    Server,
    /// All views of the host.
    Host,
}

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
            Self::BadParams { .. } | Self::Ambiguous { .. } => Some(INVALID_PARAMS),
            Self::Unexpected { .. } | Self::Denied(_) | Self::OverLimit(_) => Some(DENIED),
        }
    }

    /// What the error carries for programs: why it was refused, in a word that does not change.
    pub fn data(&self) -> Option<Box<RawValue>> {
        match self {
            Self::Denied(denial) => Some(rpc::raw(&Data::new(denial.name()))),
            Self::Ambiguous { .. } => Some(rpc::raw(&Data::new("ambiguous"))),
            Self::OverLimit(Over { limit, of, most }) => Some(rpc::raw(&Data {
                limit: Some(limit.name()),
                of: Some(of.name()),
                most: Some(*most),
                ..Data::new("limit")
            })),
            _ => None,
        }
    }
}

/// The `data` of an error.
#[derive(Serialize)]
struct Data {
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
}

impl Data {
    fn new(reason: &'static str) -> Self {
        Self { reason, limit: None, of: None, most: None }
    }
}

impl Denial {
    /// In one word, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotVisible(_) => "not-visible",
            Self::ForViews(_) => "for-views",
            Self::NotThisServer(_) => "not-this-server",
            Self::Policy(_) => "policy",
            Self::Refused(_) | Self::Again(_) => "refused",
            Self::NoRoute(_) => "no-route",
            Self::NoRequest(_) => "no-request",
            Self::NoHandle(_) => "no-handle",
            Self::NoDecision => "no-decision",
            Self::Changed(_) => "changed",
            Self::Address(_) => "address",
            Self::Modality(_) => "modality",
            Self::AppTool(_) => "app-tool",
            Self::SamplingTools => "sampling-tools",
        }
    }
}

impl Limit {
    /// In one word, for programs; where there is a setting for it, under its name there.
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Bytes => "bytes",
            Self::Size => "message-size",
            Self::Method => "method",
            Self::Params => "method-size",
            Self::Instances => "instances",
            Self::Calls => "calls",
            Self::Questions => "questions",
            Self::Held => "held",
            Self::Queued => "queued",
            Self::Views => "views",
            Self::Result => "result",
            Self::Files => "files",
            Self::Asking => "asking",
        }
    }
}

impl Holder {
    /// In one word, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Server => "server",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::View => "",
            Self::Server => ", for all views of one server",
            Self::Host => ", for all views",
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Messages => "messages a second",
            Self::Bytes => "bytes a second",
            Self::Size => "bytes for one message",
            Self::Method => "requests of this method a second",
            Self::Params => "bytes for the params of this method",
            Self::Instances => "new instances at once",
            Self::Calls => "requests in flight",
            Self::Questions => "questions waiting for the user",
            Self::Held => "bytes waiting for the user",
            Self::Queued => "bytes waiting for the page",
            Self::Views => "open views",
            Self::Result => "bytes for a result",
            Self::Files => "files in one download",
            Self::Asking => "new questions a minute",
        })
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
            (Violation::Ambiguous { place: "tools/call", why: Ambiguous::HalfCharacter }, Some(-32602)),
            (Violation::Denied(Denial::NotVisible("x".into())), Some(-32000)),
            (Over { limit: Limit::Calls, of: Holder::View, most: 1 }.into(), Some(-32000)),
            (Violation::Unexpected { state: "closed", got: "x".into() }, Some(-32000)),
        ];
        for (violation, code) in table {
            assert_eq!(violation.code(), code, "{violation}");
        }
    }

    #[test]
    fn a_refusal_says_why_in_words_and_for_programs() {
        let over = |of| Violation::from(Over { limit: Limit::Messages, of, most: 1_000 });
        #[rustfmt::skip]
        let table = [
            (over(Holder::View), "over the limit of 1000 messages a second",
                Some(r#"{"reason":"limit","limit":"messages","of":"view","most":1000}"#)),
            (over(Holder::Server), "over the limit of 1000 messages a second, for all views of one server",
                Some(r#"{"reason":"limit","limit":"messages","of":"server","most":1000}"#)),
            (Denial::NoDecision.into(), "denied: no decision", Some(r#"{"reason":"no-decision"}"#)),
            (Violation::UnknownMethod { method: "x".into() }, "no such method: \"x\"", None),
        ];
        for (violation, words, data) in table {
            assert_eq!(violation.to_string(), words);
            assert_eq!(violation.data().as_deref().map(RawValue::get), data, "{words}");
        }
    }
}
