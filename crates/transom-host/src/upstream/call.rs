//! One call in flight, as whoever made it sees it.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use transom::calls::Patience;

use super::{CallError, life::Life};

/// How a call is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallOptions {
    /// Whether the server is asked to tell how it gets on.
    pub progress: bool,
    /// How long it may take; the upstream's patience, unless said otherwise.
    pub patience: Option<Patience>,
}

/// A call in flight. Dropping it takes it back.
#[derive(Debug)]
pub struct Call {
    id: u64,
    life: Arc<Life>,
    progress: Option<mpsc::Receiver<Box<RawValue>>>,
    outcome: oneshot::Receiver<Outcome>,
    over: bool,
}

/// News of a call.
#[derive(Debug)]
pub enum Update {
    /// The params of a `notifications/progress`, as the server wrote them.
    Progress(Box<RawValue>),
    /// The result as the server wrote it, or why there is none. Nothing comes after.
    Done(Outcome),
}

/// The result of a call, as the server wrote it, or why there is none.
pub type Outcome = Result<Box<RawValue>, CallError>;

/// The other end of a [`Call`].
#[derive(Debug)]
pub(super) struct Waiter {
    progress: Option<mpsc::Sender<Box<RawValue>>>,
    outcome: oneshot::Sender<Outcome>,
}

impl Call {
    /// A waiter, and the call it belongs to once there is a number.
    pub(super) fn prepare(progress: bool) -> (Waiter, impl FnOnce(u64, Arc<Life>) -> Self) {
        let (outcome, settled) = oneshot::channel();
        let (news, heard) = progress.then(|| mpsc::channel(WAITING)).unzip();
        let waiter = Waiter { progress: news, outcome };
        let call = |id, life| Self { id, life, progress: heard, outcome: settled, over: false };
        (waiter, call)
    }

    /// Its number, which is also its progress token.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Waits for news, in the order they came; there are none after [`Update::Done`].
    ///
    /// May be dropped while waiting without losing any.
    pub async fn next(&mut self) -> Option<Update> {
        if self.over {
            return None;
        }
        if let Some(progress) = &mut self.progress
            && let Some(params) = progress.recv().await
        {
            return Some(Update::Progress(params));
        }
        let outcome = (&mut self.outcome).await;
        self.over = true;
        // The waiter is dropped unsettled only together with the whole connection.
        Some(Update::Done(outcome.unwrap_or(Err(CallError::Cancelled))))
    }

    /// Waits for the result.
    pub async fn outcome(mut self) -> Outcome {
        self.progress = None;
        match self.next().await {
            Some(Update::Done(outcome)) => outcome,
            _ => Err(CallError::Cancelled),
        }
    }

    /// Takes the call back and tells the server why.
    pub fn cancel(mut self, reason: &str) {
        self.life.cancel(self.id, reason);
        self.over = true;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.over {
            self.life.cancel(self.id, "no longer wanted");
        }
    }
}

impl Waiter {
    /// Settles the call. Nobody may be waiting any more.
    pub(super) fn settle(self, outcome: Outcome) {
        let _ = self.outcome.send(outcome);
    }

    /// Passes progress on. A listener that is too slow loses the newest: the next one says more.
    pub(super) fn progress(&self, params: &RawValue) {
        if let Some(progress) = &self.progress {
            let _ = progress.try_send(params.to_owned());
        }
    }
}

/// How much progress waits for a slow listener.
const WAITING: usize = 64;
