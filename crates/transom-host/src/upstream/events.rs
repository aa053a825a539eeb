//! What a server tells without being asked, and what becomes of it.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::broadcast::{self, error::RecvError};
use transom::host::List;

use super::Loss;

/// Something that happened to a server or that it said by itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// One of its lists changed. For tools, the new list is already there.
    ListChanged(List),
    /// A log line: the params of its `notifications/message`.
    Log(Arc<RawValue>),
    /// Any other notification, in the order they came.
    Notification {
        /// The method.
        method: Arc<str>,
        /// The params.
        params: Option<Arc<RawValue>>,
    },
    /// It went away; what was in flight has failed. It is being started again.
    Down(Arc<Loss>),
    /// It is there again, with nothing left of what it knew.
    Restarted,
    /// It went away and is not started again.
    Gone(Arc<Loss>),
    /// This many events were lost on a listener that was too slow; any list may have changed.
    Missed(u64),
}

/// One listener's events, oldest first. Each listener gets all of them.
#[derive(Debug)]
pub struct Events(broadcast::Receiver<Event>);

impl Events {
    pub(super) fn new(receiver: broadcast::Receiver<Event>) -> Self {
        Self(receiver)
    }

    /// Waits for the next event; there is none after the upstream is closed.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(count)) => Some(Event::Missed(count)),
            Err(RecvError::Closed) => None,
        }
    }
}

/// How many events wait for a slow listener.
pub(super) const WAITING: usize = 256;
