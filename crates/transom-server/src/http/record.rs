//! What is written down about each call.

use std::fmt;
use std::time::Duration;

/// One call of a view, as it is written down: no query, no body, no token (FSE-14).
///
/// Every call is logged at the level `info` under the target `transom::http`; [`HttpProxy::on_record`](crate::HttpProxy::on_record)
/// gets the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRecord {
    /// For whom it was made: the person that [`HttpProxy::credentials`](crate::HttpProxy::credentials) named, or a name for the connection.
    pub app: String,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// Bytes that the view sent.
    pub sent: usize,
    /// Bytes that the backend answered with, unpacked.
    pub received: usize,
    /// Whether the backend got the request, or may have: then something may have been done, whatever was decided afterwards.
    pub reached: bool,
    /// How long it took.
    pub took: Duration,
    /// What was decided, or why nothing came of it.
    pub decision: Decision,
}

/// What was decided about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The backend was asked.
    Allowed,
    /// It was answered with a response that was kept.
    Kept,
    /// The app asked too much: it was answered 429 or, if the backend was reached, with an error that says so.
    Limited,
    /// No route opens it, or what it was redirected to, or it was no sound request.
    Refused,
    /// The backend did not answer, or not within the limits.
    Failed,
    /// The view gave it up.
    Cancelled,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Allowed => "allowed",
            Self::Kept => "kept",
            Self::Limited => "limited",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        })
    }
}

impl HttpRecord {
    /// Of a call of which nothing is known yet.
    pub(crate) fn new() -> Self {
        Self {
            app: String::new(),
            method: String::new(),
            path: String::new(),
            status: None,
            sent: 0,
            received: 0,
            reached: false,
            took: Duration::ZERO,
            decision: Decision::Refused,
        }
    }

    pub(crate) fn log(&self) {
        let Self { app, method, path, status, sent, received, reached, took, decision } = self;
        tracing::info!(
            target: "transom::http",
            app, method, path, status, sent, received, reached, took_ms = took.as_millis(), %decision, "http_request"
        );
    }
}
