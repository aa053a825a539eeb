//! The calls of one connection, and what the server asked of us: a value, without a pipe or a clock.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tokio::task::AbortHandle;
use transom::{
    calls::{Calls, NotServed, Patience, Serving},
    rpc::Id,
    wire::method,
};

use super::{CallError, Era, Loss, NotCalled, Outcome, call::Waiter};

/// What is open on one connection.
#[derive(Debug)]
pub(super) struct Desk {
    calls: Calls<Open>,
    serving: Serving<Option<AbortHandle>>,
    lost: Option<Arc<Loss>>,
    limit: usize,
}

/// One open call.
#[derive(Debug)]
struct Open {
    waiter: Waiter,
    kind: Kind,
    era: Era,
    /// The HTTP exchange that carries it.
    exchange: Option<AbortHandle>,
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first words, which may not be taken back.
    Greeting,
    /// Finding out whether the server is alive: begun after so many messages were heard.
    Ping {
        /// How many.
        heard: u64,
    },
    /// Anything else.
    Plain,
}

/// A call that was taken off the desk before its answer.
#[derive(Debug)]
pub(super) struct Dropped {
    pub(super) id: u64,
    pub(super) kind: Kind,
    pub(super) era: Era,
}

impl Desk {
    pub(super) fn new(limit: usize) -> Self {
        Self { calls: Calls::default(), serving: Serving::new(MAX_SERVING), lost: None, limit }
    }

    /// Opens a call made now.
    pub(super) fn open(
        &mut self,
        now: Duration,
        patience: Patience,
        (kind, era): (Kind, Era),
        waiter: Waiter,
    ) -> Result<u64, NotCalled> {
        if self.lost.is_some() {
            return Err(NotCalled::NotConnected);
        }
        // Our own questions must get through when a caller has used up everything.
        if kind == Kind::Plain && self.calls.len() >= self.limit {
            return Err(NotCalled::Busy);
        }
        Ok(self.calls.open(now, patience, Open { waiter, kind, era, exchange: None }))
    }

    /// Notes which exchange carries a call.
    pub(super) fn carried_by(&mut self, id: u64, exchange: AbortHandle) {
        if let Some(open) = self.calls.get_mut(id) {
            open.exchange = Some(exchange);
        }
    }

    /// Settles a call; a doubled, late or invented answer finds nothing.
    pub(super) fn settle(&mut self, id: u64, outcome: Outcome) -> bool {
        let Some(open) = self.calls.settle(id) else { return false };
        open.waiter.settle(outcome);
        true
    }

    /// Passes progress on, and gives the call more time. A server that was not asked for progress gets none by it.
    pub(super) fn progress(&mut self, now: Duration, id: u64, params: &RawValue) -> bool {
        if !self.calls.get(id).is_some_and(|open| open.waiter.hears_progress()) {
            return false;
        }
        let open = self.calls.progress(now, id);
        open.map(|open| open.waiter.progress(params)).is_some()
    }

    /// Takes a call back.
    pub(super) fn cancel(&mut self, id: u64) -> Option<Dropped> {
        let open = self.calls.settle(id)?;
        Some(open.drop(id, CallError::Cancelled))
    }

    /// Fails one call whose time is up.
    pub(super) fn expire(&mut self, now: Duration) -> Option<Dropped> {
        let (id, open) = self.calls.expire(now)?;
        Some(open.drop(id, CallError::Timeout))
    }

    /// Fails everything: the server is gone. Only the first reason counts.
    pub(super) fn lose(&mut self, loss: Arc<Loss>) -> bool {
        if self.lost.is_some() {
            return false;
        }
        for (id, open) in self.calls.drain() {
            open.drop(id, CallError::Lost(Arc::clone(&loss)));
        }
        for (_, task) in self.serving.drain() {
            task.inspect(AbortHandle::abort);
        }
        self.lost = Some(loss);
        true
    }

    /// Whether a call still waits for its answer.
    pub(super) fn is_open(&self, id: u64) -> bool {
        self.calls.get(id).is_some()
    }

    /// Whether a ping is on its way.
    pub(super) fn is_pinging(&mut self) -> bool {
        self.calls.iter_mut().any(|(_, open)| matches!(open.kind, Kind::Ping { .. }))
    }

    /// The era that a call was made in.
    pub(super) fn era_of(&self, id: u64) -> Option<Era> {
        self.calls.get(id).map(|open| open.era)
    }

    /// When the next call runs out of time.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.calls.deadline()
    }

    /// Takes in a request of the server.
    pub(super) fn serve(&mut self, id: Id) -> Result<(), NotServed> {
        self.serving.open(id, None)
    }

    /// Notes which task works on a request of the server.
    pub(super) fn served_by(&mut self, id: &Id, task: AbortHandle) {
        if let Some(slot) = self.serving.get_mut(id) {
            *slot = Some(task);
        }
    }

    /// Lets a request of the server go, answered or taken back; whether it was there.
    pub(super) fn served(&mut self, id: &Id) -> Option<Option<AbortHandle>> {
        self.serving.settle(id)
    }
}

impl Open {
    fn drop(self, id: u64, error: CallError) -> Dropped {
        self.waiter.settle(Err(error));
        self.exchange.inspect(AbortHandle::abort);
        Dropped { id, kind: self.kind, era: self.era }
    }
}

impl Kind {
    /// What a method is for.
    pub(super) fn of(method: &str) -> Self {
        match method {
            INITIALIZE | DISCOVER => Self::Greeting,
            _ => Self::Plain,
        }
    }
}

/// The first request of the greeting era.
pub(super) const INITIALIZE: &str = "initialize";
/// The question that a server of the stateless era answers about itself.
pub(super) const DISCOVER: &str = "server/discover";
/// The request whose answer is all that changes, for as long as it changes.
pub(super) const LISTEN: &str = "subscriptions/listen";
/// The question that a server of the greeting era answers by being alive.
pub(super) const PING: &str = method::PING;

/// How many requests of the server are worked on at a time.
const MAX_SERVING: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn desk(calls: usize) -> (Desk, Vec<u64>) {
        let mut desk = Desk::new(calls);
        let open = |_| open(&mut desk).unwrap();
        let ids = (0..calls).map(open).collect();
        (desk, ids)
    }

    fn open(desk: &mut Desk) -> Result<u64, NotCalled> {
        let (waiter, _) = Waiter::new(false);
        desk.open(SECOND, Patience::flat(SECOND), (Kind::Plain, Era::Greeting), waiter)
    }

    #[test]
    fn doubled_late_and_invented_answers_find_nothing() {
        let (mut desk, ids) = desk(2);
        assert!(desk.settle(ids[0], Err(CallError::Timeout)));
        assert!(!desk.settle(ids[0], Err(CallError::Timeout)), "doubled");
        assert!(!desk.settle(99, Err(CallError::Timeout)), "invented");
        assert_eq!(desk.expire(SECOND * 2).unwrap().id, ids[1]);
        assert!(!desk.settle(ids[1], Err(CallError::Timeout)), "late");
    }

    #[test]
    fn a_full_desk_takes_no_call_but_a_ping() {
        let (mut desk, _) = desk(2);
        assert_eq!(open(&mut desk), Err(NotCalled::Busy));
        let (waiter, _) = Waiter::new(false);
        let ping = (Kind::Ping { heard: 0 }, Era::Greeting);
        assert!(desk.open(SECOND, Patience::flat(SECOND), ping, waiter).is_ok());
        assert!(desk.is_pinging());
    }

    #[test]
    fn a_lost_desk_takes_nothing_and_holds_nothing() {
        let (mut desk, ids) = desk(2);
        assert!(desk.lose(Arc::new(Loss::Closed)));
        assert!(!desk.lose(Arc::new(Loss::Hung(SECOND))), "only the first reason counts");
        assert!(!desk.is_open(ids[0]));
        assert_eq!(desk.deadline(), None);
        assert_eq!(open(&mut desk), Err(NotCalled::NotConnected));
    }
}
