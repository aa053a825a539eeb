//! What a view wants done, or heard.

use serde_json::value::RawValue;

use crate::{rpc::Id, wire::InitializeResult};

/// Something the view wants done, or heard.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Output {
    /// Send this text to the host.
    Send(String),
    /// The handshake is complete. What was missing in the host's answer is empty.
    Opened(Box<InitializeResult>),
    /// The tool's arguments so far; good for a preview and nothing else (V-09).
    Partial(Box<RawValue>),
    /// The tool's arguments.
    Input(Box<RawValue>),
    /// The tool's result.
    Result(Box<RawValue>),
    /// There will be no result.
    Cancelled {
        /// Why, if the host says.
        reason: Option<String>,
    },
    /// The surroundings changed; [`View::context`](super::View::context) has all of them (V-11).
    ContextChanged,
    /// One of the server's lists changed.
    ListChanged {
        /// The notification's method.
        method: &'static str,
    },
    /// A call made progress.
    Progress {
        /// The call.
        call: u64,
        /// How far it has come.
        progress: f64,
        /// What it says.
        message: Option<String>,
    },
    /// A call was answered.
    Answer {
        /// The call.
        call: u64,
        /// What came of it.
        outcome: Result<Box<RawValue>, CallError>,
    },
    /// The host calls one of this view's tools; answer with [`View::answer`](super::View::answer) (V-17).
    ToolCalled {
        /// What to answer to.
        request: Id,
        /// The tool.
        name: String,
        /// Its arguments, a JSON object.
        arguments: Box<RawValue>,
    },
    /// The host wants to know this view's tools; answer with [`View::answer`](super::View::answer) (V-17).
    ToolsListed {
        /// What to answer to.
        request: Id,
    },
    /// The host does not want an answer any more.
    Forgotten {
        /// The request that is not to be answered.
        request: Id,
    },
    /// The view is about to be taken away: save, then answer with [`View::answer`](super::View::answer) (V-23).
    TearDown {
        /// What to answer to.
        request: Id,
        /// Why, if the host says.
        reason: Option<String>,
    },
    /// It is over; nothing comes after.
    Closed(Reason),
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The host answered with an error; -32601 means that it does not offer this (V-34).
    #[error("{message} ({code})")]
    Refused {
        /// The code.
        code: i64,
        /// The words.
        message: String,
    },
    /// The host said `isError` where the spec has an error (V-25).
    #[error("the host did not do it")]
    NotDone,
    /// No answer in time.
    #[error("no answer in time")]
    TimedOut,
    /// The session ended first.
    #[error("the session ended")]
    Closed,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The host would not talk.
    Refused,
    /// The host did not answer `ui/initialize`.
    Silence,
    /// The view ended it.
    Closed,
}
