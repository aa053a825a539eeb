//! What a browser comes back with after a person signed in.

use std::fmt;

use rmcp::transport::auth::AuthorizationManager;
use tokio::{sync::oneshot, time::Instant};

use super::NotSignedIn;

/// What the browser came back with. Neither is a secret of ours; both come from a stranger.
#[derive(Clone, PartialEq, Eq)]
pub struct Return {
    /// Which invitation it belongs to.
    pub state: String,
    /// What can be changed for a token, or why there is nothing.
    pub code: Result<String, String>,
    /// Who it says that it comes from (RFC 9207).
    pub issuer: Option<String>,
}

impl Return {
    /// Reads the query of the address that the browser came back to. None, if it cannot be ours.
    pub fn parse(query: &str) -> Option<Self> {
        if query.len() > MAX_RETURN {
            return None;
        }
        let [mut state, mut code, mut issuer, mut error, mut words] = [const { None }; 5];
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let place = match &*key {
                "state" => &mut state,
                "code" => &mut code,
                "iss" => &mut issuer,
                "error" => &mut error,
                "error_description" => &mut words,
                _ => continue,
            };
            // Two of a kind: whoever checked one of them may have looked at the other.
            if place.replace(value.into_owned()).is_some() {
                return None;
            }
        }
        let code = match (code, error) {
            (Some(code), None) => Ok(code),
            (None, Some(error)) => {
                Err(words.map_or_else(|| error.clone(), |words| format!("{error}: {words}")))
            }
            _ => return None,
        };
        Some(Self { state: state?, code, issuer })
    }
}

impl fmt::Debug for Return {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Return(…)")
    }
}

/// An invitation whose browser has not come back yet.
pub(super) struct Pending {
    pub(super) state: String,
    pub(super) since: Instant,
    pub(super) manager: AuthorizationManager,
    pub(super) outcome: oneshot::Sender<Result<(), NotSignedIn>>,
}

impl Pending {
    /// Takes the same time for every wrong answer of the right length.
    pub(super) fn is(&self, state: &str) -> bool {
        let (ours, theirs) = (self.state.as_bytes(), state.as_bytes());
        let difference = ours.iter().zip(theirs).fold(0, |all, (a, b)| all | (a ^ b));
        !ours.is_empty() && ours.len() == theirs.len() && difference == 0
    }
}

pub(super) const MAX_RETURN: usize = 16 << 10;
