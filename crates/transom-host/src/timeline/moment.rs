//! One moment of the timeline, as it is read: by the page, in a file, and by whoever replays one.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Something that happened, on one line of a trace. Which members it has depends on its kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[non_exhaustive]
pub struct Moment {
    /// Its number, from 1; one that is missing was not kept.
    #[serde(default)]
    pub n: u64,
    /// When, in microseconds since the timeline began.
    #[serde(default)]
    pub at: u64,
    /// What kind of thing.
    #[serde(default)]
    #[cfg_attr(test, ts(as = "Kind"))]
    pub kind: String,
    /// The server that it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(test, ts(as = "Option<String>", optional))]
    pub server: String,
    /// The view that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Of a message: who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Party>,
    /// Of a message: who was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Party>,
    /// Of a message or a document: its size in bytes, as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number", optional))]
    pub size: Option<u64>,
    /// Of a verdict: the id that the view gave its request, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The call of the view that it is about, as the gate counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number", optional))]
    pub call: Option<u64>,
    /// Of a call that goes on to the server: its id there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number", optional))]
    pub server_id: Option<u64>,
    /// Of a verdict: the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Of a verdict: what the request is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Of a verdict: what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Why, or what, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Of a view that opens: its tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Of a view that opens: the address of its document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Of a view that opens: the hash of its document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Of a view that opens: its policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Of a message: how many secrets were taken out of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number", optional))]
    pub redacted: Option<u64>,
    /// Of a message: that this is only its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub cut: bool,
    /// The text of a message that is no JSON on one line, or is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A message. It stands last on its line, so that its text can be had without printing it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown", optional))]
    pub message: Option<Box<RawValue>>,
}

/// What kinds of moments there are. A later version may have others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Kind {
    /// A message passed on a wire.
    Message,
    /// The gate judged a request of a view.
    Verdict,
    /// A request of a view goes on to its server.
    Sent,
    /// A view opens.
    Opened,
    /// It is ready.
    Ready,
    /// It ended.
    Closed,
    /// It was kept from something.
    Blocked,
    /// A message of it was carried no further, before the gate.
    Dropped,
}

/// Who speaks on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Party {
    /// A view.
    View,
    /// The host.
    Gate,
    /// A server.
    Server,
}

/// What the gate says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It may be done.
    Allowed,
    /// It may not.
    Refused,
    /// A person is asked.
    Asked,
    /// It was taken back before a person had decided.
    Withdrawn,
}

impl Kind {
    /// Its name in a trace.
    pub fn word(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Verdict => "verdict",
            Self::Sent => "sent",
            Self::Opened => "opened",
            Self::Ready => "ready",
            Self::Closed => "closed",
            Self::Blocked => "blocked",
            Self::Dropped => "dropped",
        }
    }
}

impl Moment {
    /// An empty one.
    pub fn of(kind: Kind) -> Self {
        Self { kind: kind.word().to_owned(), ..Self::default() }
    }

    /// Whether it is a message on this way.
    pub fn is_said(&self, from: Party, to: Party) -> bool {
        self.kind == Kind::Message.word() && self.from == Some(from) && self.to == Some(to)
    }

    /// The text of its message, if all of it is there.
    pub fn said(&self) -> Option<&str> {
        match (&self.message, &self.text) {
            (Some(message), _) => Some(message.get()),
            (None, Some(text)) if !self.cut => Some(text),
            _ => None,
        }
    }
}
