//! Requests awaiting their answer, in both directions.
//!
//! [`Calls`] holds what we asked of the peer: ids, deadlines, progress that moves them, cancellation.
//! [`Serving`] holds what a peer asked of us: which of its ids are open, so that each is answered once
//! and only by the answer that belongs to it. Neither knows what a request is about.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::rpc::Id;

/// Our own requests that the peer has not answered yet, each with what we keep about it.
///
/// Ids count up from zero and are never used twice, so a late or doubled answer finds nothing. The id
/// doubles as the progress token that goes out with the request: whatever token the view gave *us* is
/// kept beside it and never passed on (R-09, H-74).
#[derive(Debug)]
pub struct Calls<T> {
    next: u64,
    open: BTreeMap<u64, Open<T>>,
    deadlines: BTreeSet<(Duration, u64)>,
}

#[derive(Debug)]
struct Open<T> {
    kept: T,
    deadline: Duration,
    patience: Duration,
    latest: Duration,
}

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Without progress; progress starts it anew.
    pub idle: Duration,
    /// In all, however much progress there is.
    pub total: Duration,
}

/// A peer's requests that we have not answered yet.
#[derive(Debug)]
pub struct Serving<T> {
    open: BTreeMap<Id, T>,
    limit: usize,
}

/// Why a peer's request was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotServed {
    /// A request with this id is still open; answering this one would answer that one.
    DuplicateId,
    /// As many as allowed are open.
    TooMany,
}

impl<T> Calls<T> {
    /// Registers a call made now; returns its id.
    pub fn open(&mut self, now: Duration, patience: Patience, kept: T) -> u64 {
        let id = self.next;
        self.next += 1;
        let latest = now.saturating_add(patience.total);
        let deadline = now.saturating_add(patience.idle).min(latest);
        self.deadlines.insert((deadline, id));
        self.open.insert(id, Open { kept, deadline, patience: patience.idle, latest });
        id
    }

    /// Takes a call off the table: answered, cancelled or given up. The second time there is nothing.
    pub fn settle(&mut self, id: u64) -> Option<T> {
        let open = self.open.remove(&id)?;
        self.deadlines.remove(&(open.deadline, id));
        Some(open.kept)
    }

    /// Starts a call's patience anew, because it made progress; returns what is kept about it.
    pub fn progress(&mut self, now: Duration, id: u64) -> Option<&mut T> {
        let open = self.open.get_mut(&id)?;
        let deadline = now.saturating_add(open.patience).min(open.latest);
        self.deadlines.remove(&(open.deadline, id));
        self.deadlines.insert((deadline, id));
        open.deadline = deadline;
        Some(&mut open.kept)
    }

    /// Gives a call another patience, because something else is waited for now.
    pub fn renew(&mut self, now: Duration, id: u64, patience: Patience) {
        if let Some(open) = self.open.get_mut(&id) {
            self.deadlines.remove(&(open.deadline, id));
            open.latest = now.saturating_add(patience.total);
            open.patience = patience.idle;
            open.deadline = now.saturating_add(patience.idle).min(open.latest);
            self.deadlines.insert((open.deadline, id));
        }
    }

    /// Takes one call off the table whose time is up, oldest deadline first.
    pub fn expire(&mut self, now: Duration) -> Option<(u64, T)> {
        let &(deadline, id) = self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        let kept = self.settle(id).expect("every deadline belongs to an open call");
        Some((id, kept))
    }

    /// Takes every call off the table, in the order they were made.
    pub fn drain(&mut self) -> Vec<(u64, T)> {
        self.deadlines.clear();
        std::mem::take(&mut self.open).into_iter().map(|(id, open)| (id, open.kept)).collect()
    }

    /// What is kept about an open call.
    pub fn get(&self, id: u64) -> Option<&T> {
        self.open.get(&id).map(|open| &open.kept)
    }

    /// What is kept about an open call, to change it.
    pub fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        self.open.get_mut(&id).map(|open| &mut open.kept)
    }

    /// The id that the next call will get.
    pub fn next_id(&self) -> u64 {
        self.next
    }

    /// Every open call, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.open.iter().map(|(&id, open)| (id, &open.kept))
    }

    /// Every open call, oldest first, to change it.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.open.iter_mut().map(|(&id, open)| (id, &mut open.kept))
    }

    /// When the next call runs out of time.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { next: 0, open: BTreeMap::new(), deadlines: BTreeSet::new() }
    }
}

impl Patience {
    /// The same limit with and without signs of life.
    pub fn flat(total: Duration) -> Self {
        Self { idle: total, total }
    }
}

impl<T> Serving<T> {
    /// An empty table that takes at most `limit` requests at a time.
    pub fn new(limit: usize) -> Self {
        Self { open: BTreeMap::new(), limit }
    }

    /// Whether a request with this id could be taken in now.
    pub fn admits(&self, id: &Id) -> Result<(), NotServed> {
        if self.open.contains_key(id) {
            return Err(NotServed::DuplicateId);
        }
        if self.open.len() >= self.limit {
            return Err(NotServed::TooMany);
        }
        Ok(())
    }

    /// Takes a request in.
    pub fn open(&mut self, id: Id, kept: T) -> Result<(), NotServed> {
        self.admits(&id)?;
        self.open.insert(id, kept);
        Ok(())
    }

    /// Lets a request go: it is answered now, or the peer does not wait for it any more.
    pub fn settle(&mut self, id: &Id) -> Option<T> {
        self.open.remove(id)
    }

    /// What is kept about an open request.
    pub fn get(&self, id: &Id) -> Option<&T> {
        self.open.get(id)
    }

    /// What is kept about an open request, to change it.
    pub fn get_mut(&mut self, id: &Id) -> Option<&mut T> {
        self.open.get_mut(id)
    }

    /// Lets all go, in the order of their ids.
    pub fn drain(&mut self) -> Vec<(Id, T)> {
        std::mem::take(&mut self.open).into_iter().collect()
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    const TEN: Patience = Patience { idle: secs(10), total: secs(25) };

    #[test]
    fn an_answer_settles_once() {
        let mut calls = Calls::default();
        let id = calls.open(secs(0), TEN, "a");
        assert_eq!(calls.settle(id), Some("a"));
        assert_eq!(calls.settle(id), None, "a doubled answer finds nothing");
        assert_eq!(calls.deadline(), None);
        assert_ne!(calls.open(secs(0), TEN, "b"), id, "ids are not used again");
    }

    #[test]
    fn progress_moves_the_deadline_but_not_for_ever() {
        let mut calls = Calls::default();
        let id = calls.open(secs(0), TEN, ());
        assert_eq!(calls.deadline(), Some(secs(10)));
        assert!(calls.progress(secs(8), id).is_some());
        assert_eq!(calls.deadline(), Some(secs(18)));
        assert!(calls.progress(secs(17), id).is_some());
        assert_eq!(calls.deadline(), Some(secs(25)), "the total holds");
        assert_eq!(calls.expire(secs(24)), None);
        assert_eq!(calls.expire(secs(25)), Some((id, ())));
        assert!(calls.progress(secs(25), id).is_none(), "late progress finds nothing");
        assert!(calls.is_empty());
    }

    #[test]
    fn the_oldest_deadline_expires_first() {
        let mut calls = Calls::default();
        let slow = calls.open(secs(0), Patience::flat(secs(30)), ());
        let quick = calls.open(secs(0), Patience::flat(secs(5)), ());
        assert_eq!(calls.expire(secs(60)), Some((quick, ())));
        assert_eq!(calls.expire(secs(60)), Some((slow, ())));
        assert_eq!(calls.expire(secs(60)), None);
    }

    #[test]
    fn a_patience_without_end_does_not_overflow() {
        let mut calls = Calls::default();
        calls.open(secs(9), Patience::flat(Duration::MAX), ());
        assert_eq!(calls.deadline(), Some(Duration::MAX));
    }

    #[test]
    fn a_peer_cannot_use_an_open_id_again() {
        let mut serving = Serving::new(2);
        let one = Id::Number(1);
        assert_eq!(serving.open(one.clone(), "first"), Ok(()));
        assert_eq!(serving.open(one.clone(), "second"), Err(NotServed::DuplicateId));
        assert_eq!(serving.open(Id::String("1".into()), "other"), Ok(()), "W-3: another type");
        assert_eq!(serving.open(Id::Number(2), "third"), Err(NotServed::TooMany));
        assert_eq!(serving.settle(&one), Some("first"));
        assert_eq!(serving.open(one, "again"), Ok(()), "closed ids may come back");
    }
}
