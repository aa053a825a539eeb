//! What can go wrong with a server, by whose fault it is.
//!
//! [`Refusal`] is an answer like any other. [`Rubbish`] is the server's fault, [`NotCalled`] the
//! caller's, [`Loss`] and [`HttpError`] are the world's. [`CallError`] and [`ConnectError`] say which of
//! them ended a call or an attempt to connect.

use std::{fmt, sync::Arc, time::Duration};

use reqwest::StatusCode;
use serde_json::value::RawValue;
use transom::{
    rpc::{ErrorObject, Malformed},
    violation::Quoted,
};

use super::UnsetVariable;

/// An error that the server answered with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// Its code.
    pub code: i64,
    /// Its words.
    pub message: String,
    /// Whatever else it said.
    pub data: Option<Box<RawValue>>,
}

/// What a server sent in the place of a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rubbish {
    /// Text that is no message.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Bytes that are no text.
    #[error("expected UTF-8, got other bytes")]
    NotText,
    /// More than we take. How much more is not known: it was not kept.
    #[error("a message longer than {limit} bytes")]
    TooLong {
        /// What was allowed.
        limit: usize,
    },
}

/// Why a call was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCalled {
    /// The server is away.
    #[error("the server is not connected")]
    NotConnected,
    /// As many calls as allowed are in flight, or the server does not read what we write.
    #[error("too much is waiting for the server already")]
    Busy,
}

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Loss {
    /// The program ended, or closed its output.
    #[error("the server ended{}{}", Clause(", ", .status), Clause("; its last words: ", .words))]
    Ended {
        /// How, if it was a program and has ended.
        status: Option<String>,
        /// The end of what it wrote to its standard error.
        words: Option<Quoted>,
    },
    /// It let a call run out of time and then did not answer a ping.
    #[error("the server did not answer a ping within {0:?}")]
    Hung(Duration),
    /// Reading from it or writing to it failed.
    #[error("talking to the server failed")]
    Io(#[source] std::io::Error),
    /// Its address cannot be reached.
    #[error("the server cannot be reached")]
    Unreachable(#[source] HttpError),
    /// We ended it.
    #[error("the connection was closed")]
    Closed,
}

/// What the network said; which library we asked is not part of it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct NetworkError(pub(super) reqwest::Error);

/// What a server said aside, in a header or in the body of a failure: for whoever runs it, since it may hold paths and
/// secrets. It is the cause of an error, and never a part of its words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Aside(pub Quoted);

/// Why an HTTP exchange failed. Its words are fit for a view; what the server said aside is its cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// No connection could be made.
    #[error("no connection to the server")]
    Connect(#[source] NetworkError),
    /// The connection broke.
    #[error("the connection to the server broke")]
    Broken(#[source] NetworkError),
    /// The server wants to know who is asking.
    #[error("the server asks for OAuth: it answered 401 Unauthorized")]
    Unauthorized {
        /// Its `WWW-Authenticate` header.
        #[source]
        challenge: Option<Aside>,
    },
    /// It points elsewhere. We follow no server to another origin.
    #[error("the server answered {status} and points elsewhere, which is not followed")]
    Redirect {
        /// The status.
        status: StatusCode,
        /// Where to.
        #[source]
        location: Aside,
    },
    /// The session is gone, and so is the one that took its place.
    #[error("the server forgot the session twice")]
    SessionLost,
    /// A status that means no.
    #[error("the server answered {status}")]
    Status {
        /// The status.
        status: StatusCode,
        /// The beginning of what it said.
        #[source]
        words: Option<Aside>,
    },
    /// Neither JSON nor an event stream.
    #[error("the server's answer is neither JSON nor an event stream")]
    ContentType {
        /// What came.
        #[source]
        got: Aside,
    },
    /// The stream ended before the answer, and could not be taken up again.
    #[error("the event stream ended before the answer")]
    NoAnswer,
    /// A body or event that is no message.
    #[error(transparent)]
    Rubbish(#[from] Rubbish),
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    #[error("the server answered with error {}: {}", .0.code, Quoted::new(&.0.message))]
    Refused(Refusal),
    /// The server wants answers before it goes on, and this host has no person to give them. Holds its whole result.
    #[error("the server wants further input, which is not offered here")]
    InputRequired(Box<RawValue>),
    /// The answer is no answer.
    #[error("the server's answer cannot be used")]
    Rubbish(#[from] Rubbish),
    /// No answer within the time there was.
    #[error("no answer from the server in time")]
    Timeout,
    /// We took it back.
    #[error("the call was cancelled")]
    Cancelled,
    /// The server went away.
    #[error("the server went away during the call")]
    Lost(#[source] Arc<Loss>),
    /// The HTTP exchange failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// It was not even made.
    #[error(transparent)]
    NotCalled(#[from] NotCalled),
}

/// Why there is no connection to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The configuration names a variable that is not set.
    #[error(transparent)]
    Variable(#[from] UnsetVariable),
    /// The configuration has a header that cannot be sent.
    #[error("the header {0} cannot be sent")]
    Header(Quoted),
    /// The program cannot be started.
    #[error("cannot start {program}")]
    Spawn {
        /// The program.
        program: Quoted,
        /// Why not.
        #[source]
        error: std::io::Error,
    },
    /// No HTTP client could be made.
    #[error("cannot prepare HTTP")]
    Client(#[source] NetworkError),
    /// The greeting failed.
    #[error("the server did not answer the handshake")]
    Greeting(#[from] CallError),
    /// It speaks a version that we do not.
    #[error("the server speaks version {got}, we speak 2024-11-05 to 2026-07-28")]
    Version {
        /// Its version.
        got: Quoted,
    },
}

impl ConnectError {
    /// Whether the server asks for OAuth.
    pub fn wants_oauth(&self) -> bool {
        matches!(self, Self::Greeting(CallError::Http(HttpError::Unauthorized { .. })))
    }

    /// The error, what caused it, and what a person can do about it, in one line.
    pub fn advice(&self) -> String {
        let words = story(self);
        match self.remedy() {
            Some(remedy) => format!("{words}; {remedy}"),
            None => words,
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        use std::io::ErrorKind::{NotFound, PermissionDenied};
        Some(match self {
            Self::Variable(_) => "set it, or take it out of the configuration",
            Self::Spawn { error, .. } if error.kind() == NotFound => {
                "is it installed, and its folder in PATH?"
            }
            Self::Spawn { error, .. } if error.kind() == PermissionDenied => {
                "is it a program, and may you run it?"
            }
            Self::Greeting(CallError::Timeout) => {
                "does it speak MCP over standard input and output, or at this address?"
            }
            Self::Greeting(CallError::Http(error)) => return error.remedy(),
            Self::Greeting(CallError::Lost(loss)) => match &**loss {
                Loss::Unreachable(error) => return error.remedy(),
                _ => return None,
            },
            _ => return None,
        })
    }
}

impl CallError {
    /// The error that a view gets to see: the server's own answer, or ours in words.
    ///
    /// An answer is meant for whoever asked. What a program wrote to its standard error, how it ended, and
    /// what stands in the body of a failed HTTP exchange is meant for whoever runs it, and may hold paths
    /// and secrets: that is a cause of the error, and in [`CallError::story`] alone.
    pub fn to_error(&self) -> ErrorObject<'_> {
        let Self::Refused(Refusal { code, message, data }) = self else {
            return ErrorObject::new(transom::rpc::DENIED, self.to_string());
        };
        ErrorObject { code: *code, message: message.as_str().into(), data: data.as_deref() }
    }

    /// What failed, for a log that holds no text of a server's: an error may repeat what was asked for.
    pub fn outline(&self) -> String {
        match self {
            Self::Refused(Refusal { code, .. }) => format!("the server answered with error {code}"),
            other => other.to_string(),
        }
    }

    /// The error and what caused it, in one line.
    pub fn story(&self) -> String {
        story(self)
    }
}

/// An error and what caused it, in one line.
pub(super) fn story(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(": ");
        words.push_str(&error.to_string());
        cause = error.source();
    }
    words
}

impl From<ErrorObject<'_>> for Refusal {
    fn from(error: ErrorObject<'_>) -> Self {
        let data = error.data.map(ToOwned::to_owned);
        Self { code: error.code, message: error.message.into_owned(), data }
    }
}

impl HttpError {
    fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Self::Connect(_) => "is the server running, and is this its address?",
            Self::Unauthorized { .. } => {
                "sign in on the page of transom run, or give it a token, as in headers = { Authorization = \"Bearer ${TOKEN}\" }"
            }
            Self::Status { status: StatusCode::NOT_FOUND, .. } => {
                "is the path right? Many servers answer at /mcp"
            }
            _ => return None,
        })
    }

    /// Says what failed without saying where: an address may hold a token.
    pub(super) fn of(error: reqwest::Error) -> Self {
        let connecting = error.is_connect();
        let error = NetworkError(error.without_url());
        if connecting { Self::Connect(error) } else { Self::Broken(error) }
    }
}

/// Words with something before them, if there are any.
struct Clause<'a, T>(&'static str, &'a Option<T>);

impl<T: fmt::Display> fmt::Display for Clause<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(words) => write!(f, "{}{words}", self.0),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_last_words_are_for_people_and_not_for_its_views() {
        let aside = || Aside(Quoted::new("hush"));
        let hush = || Some(aside());
        let words = Some(Quoted::new("hush"));
        let ended = Loss::Ended { status: Some("hush".to_owned()), words };
        let location = Aside(Quoted::new("https://a.test/hush"));
        let status = StatusCode::FOUND;
        let errors = [
            CallError::Lost(Arc::new(ended)),
            CallError::Lost(Arc::new(Loss::Io(std::io::Error::other("hush")))),
            HttpError::Status { status, words: hush() }.into(),
            HttpError::Unauthorized { challenge: hush() }.into(),
            HttpError::Redirect { status, location }.into(),
            HttpError::ContentType { got: aside() }.into(),
        ];
        for error in errors {
            let seen = error.to_error();
            assert!(!seen.message.contains("hush") && seen.data.is_none(), "{error:?}");
            assert!(seen.message.contains("the server"), "{}", seen.message);
            // Whoever prints it says no more: only its story has all.
            assert!(!error.to_string().contains("hush"), "{error}");
            assert!(error.story().contains("hush"), "people read it: {}", error.story());
        }
        // What it answered is for whoever asked.
        let refusal = Refusal { code: -32_602, message: "no such city".to_owned(), data: None };
        let refused = CallError::Refused(refusal);
        assert_eq!(refused.to_error().message, "no such city");
        assert!(!refused.outline().contains("city"), "{}", refused.outline());
    }
}
