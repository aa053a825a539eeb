//! Why a request has no response.

use std::fmt;

/// A request that was refused, or that came to nothing: a code for programs, and words that name no host (FSE-15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) words: &'static str,
}

/// The codes of ERR-2, as far as a server gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Network,
    Blocked,
    TooLarge,
    BadRequest,
    Timeout,
    Protocol,
}

impl Failure {
    pub(crate) fn blocked(words: &'static str) -> Self {
        Self { code: Code::Blocked, words }
    }

    pub(crate) fn bad_request(words: &'static str) -> Self {
        Self { code: Code::BadRequest, words }
    }

    pub(crate) fn too_large(words: &'static str) -> Self {
        Self { code: Code::TooLarge, words }
    }

    pub(crate) fn protocol(words: &'static str) -> Self {
        Self { code: Code::Protocol, words }
    }

    pub(crate) fn timeout() -> Self {
        Self { code: Code::Timeout, words: "the backend took too long" }
    }

    /// The backend failed. Why is for the log of the server alone (ERR-11).
    pub(crate) fn network(detail: &dyn fmt::Display) -> Self {
        tracing::warn!(target: "transom::http", "a request failed: {detail}");
        Self { code: Code::Network, words: "the backend could not be reached" }
    }
}

impl Code {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Blocked => "blocked",
            Self::TooLarge => "too_large",
            Self::BadRequest => "bad_request",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
        }
    }
}
