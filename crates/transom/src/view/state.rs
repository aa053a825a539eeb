//! The view's end of a session, as a table: every move it may make.

use std::time::Duration;

use super::Reason;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    Asking { deadline: Duration },
    Ready,
    Closed,
}

/// What happens to a view, reduced to what matters for its state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    Accepted,
    Refused,
    Close,
    Tick(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Initialized,
    Close(Reason),
}

impl State {
    /// Every move a view may make.
    pub(super) fn step(self, event: Event) -> (Self, Option<Move>) {
        match (self, event) {
            (Self::Asking { .. }, Event::Accepted) => (Self::Ready, Some(Move::Initialized)),
            (Self::Asking { .. }, Event::Refused) => {
                (Self::Closed, Some(Move::Close(Reason::Refused)))
            }
            (Self::Asking { deadline }, Event::Tick(now)) if deadline <= now => {
                (Self::Closed, Some(Move::Close(Reason::Silence)))
            }
            (Self::Asking { .. } | Self::Ready, Event::Close) => {
                (Self::Closed, Some(Move::Close(Reason::Closed)))
            }
            (state, _) => (state, None),
        }
    }
}
