//! What all views of one server use up together.

use std::time::Duration;

use super::rate::{Bucket, Rate};
use crate::violation::{Holder, Limit, Over};

/// The limits of one server: of all its views together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerLimits {
    /// Views that are open. The driver, which opens them, keeps to it.
    pub views: usize,
    /// Messages a second.
    pub messages: Rate,
    /// Bytes a second.
    pub bytes: Rate,
    /// Requests in flight.
    pub calls: usize,
    /// Questions that a person has not yet decided.
    pub questions: usize,
    /// The size of all requests that wait for a person, in bytes.
    pub held: usize,
    /// The size of all messages that pages have not taken yet, in bytes. The driver, which carries them, keeps to it.
    pub queued: usize,
}

/// What is in use at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests in flight.
    pub calls: usize,
    /// Questions that a person has not yet decided.
    pub questions: usize,
    /// Bytes of requests that wait for a person.
    pub held: usize,
    /// Bytes of messages that the page has not taken yet.
    pub queued: usize,
}

/// One server's views: what they may use up together, and what they do.
///
/// The driver gives it along with every message ([`Session::hear`](super::Session::hear)) and
/// tells it whenever a view uses more or less than before.
#[derive(Clone, Debug)]
pub struct Share {
    limits: ServerLimits,
    messages: Bucket,
    bytes: Bucket,
    used: Usage,
}

/// How much a server's other views leave to one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    used: Usage,
    limits: ServerLimits,
}

impl Share {
    /// Nothing is used yet.
    pub fn new(now: Duration, limits: ServerLimits) -> Self {
        let (messages, bytes) =
            (Bucket::full(limits.messages, now), Bucket::full(limits.bytes, now));
        Self { limits, messages, bytes, used: Usage::default() }
    }

    /// A view that used `before` uses `after` now.
    pub fn change(&mut self, before: Usage, after: Usage) {
        let move_on = |all: &mut usize, before: usize, after: usize| {
            debug_assert!(before <= *all + after, "a view gives back no more than it took");
            *all = (*all + after).saturating_sub(before);
        };
        move_on(&mut self.used.calls, before.calls, after.calls);
        move_on(&mut self.used.questions, before.questions, after.questions);
        move_on(&mut self.used.held, before.held, after.held);
        move_on(&mut self.used.queued, before.queued, after.queued);
    }

    /// What its views use now.
    pub fn used(&self) -> Usage {
        self.used
    }

    /// Its limits.
    pub fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    /// Whether a message of this size may wait for a page.
    pub fn to_queue(&self, size: usize) -> Result<(), Over> {
        within(self.used.queued.saturating_add(size), self.limits.queued, Limit::Queued)
    }

    /// Counts a message that its view's own limits let through.
    pub(super) fn take(&mut self, now: Duration, size: usize) -> Result<(), Over> {
        let ServerLimits { messages, bytes, .. } = self.limits;
        if !self.messages.take(messages, now, 1.0) {
            return Err(over(Limit::Messages, messages.most()));
        }
        if !self.bytes.take(bytes, now, size as f64) {
            return Err(over(Limit::Bytes, bytes.most()));
        }
        Ok(())
    }

    pub(super) fn room(&self) -> Room {
        Room { used: self.used, limits: self.limits }
    }
}

impl Room {
    /// Whether one more request may be in flight.
    pub(super) fn for_call(self) -> Result<(), Over> {
        within(self.used.calls + 1, self.limits.calls, Limit::Calls)
    }

    /// Whether one more question may be asked.
    pub(super) fn for_question(self) -> Result<(), Over> {
        within(self.used.questions + 1, self.limits.questions, Limit::Questions)
    }

    /// Whether a request of this size may wait for a person.
    pub(super) fn to_hold(self, size: usize) -> Result<(), Over> {
        within(self.used.held.saturating_add(size), self.limits.held, Limit::Held)
    }
}

fn within(wanted: usize, most: usize, limit: Limit) -> Result<(), Over> {
    if wanted <= most { Ok(()) } else { Err(over(limit, most as u64)) }
}

fn over(limit: Limit, most: u64) -> Over {
    Over { limit, of: Holder::Server, most }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            views: 1_000,
            messages: Rate { per_second: 10_000.0, burst: 20_000.0 },
            bytes: Rate { per_second: 64e6, burst: 256e6 },
            calls: 256,
            questions: 64,
            held: 128 << 20,
            queued: 256 << 20,
        }
    }
}
