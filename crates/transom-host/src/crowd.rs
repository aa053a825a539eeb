//! Who stands at a door: strangers, of whom the oldest goes when there are too many, and those who have shown the key.
//!
//! ```text
//! enter ──▶ stranger ──shows the key──▶ known ──drop──▶ gone
//!              └──one too many comes after it──▶ told to leave
//! ```

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// All connections of one listener.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    standing: Arc<Mutex<Standing>>,
    most: Most,
}

/// How many there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    pub(crate) strangers: usize,
    pub(crate) known: usize,
}

/// One of them. The place is free again when the last clone is gone.
#[derive(Clone, Debug)]
pub(crate) struct Visitor(Arc<Seat>);

#[derive(Debug)]
struct Seat {
    id: u64,
    crowd: Crowd,
}

#[derive(Debug, Default)]
struct Standing {
    next: u64,
    /// In the order in which they came. Dropping what is kept of one tells it to leave.
    strangers: BTreeMap<u64, oneshot::Sender<()>>,
    known: BTreeMap<u64, oneshot::Sender<()>>,
}

impl Crowd {
    pub(crate) fn new(most: Most) -> Self {
        Self { standing: Arc::default(), most }
    }

    /// Takes a connection in, if need be in place of the stranger who has been there the longest: whoever opens connections
    /// and says nothing must not keep the next one out. What is returned beside ends when this one has to leave.
    pub(crate) fn enter(&self) -> (Visitor, oneshot::Receiver<()>) {
        let (stay, leave) = oneshot::channel();
        let mut standing = self.standing();
        while standing.strangers.len() >= self.most.strangers {
            standing.strangers.pop_first();
        }
        let id = standing.next;
        standing.next += 1;
        standing.strangers.insert(id, stay);
        drop(standing);
        (Visitor(Arc::new(Seat { id, crowd: self.clone() })), leave)
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visitor {
    /// Notes that it has shown the key, so that no stranger takes its place; false if there are too many of those, or
    /// it was told to leave before.
    pub(crate) fn is_let_in(&self) -> bool {
        let Seat { id, crowd } = &*self.0;
        let mut standing = crowd.standing();
        if standing.known.contains_key(id) {
            return true;
        }
        if standing.known.len() >= crowd.most.known {
            return false;
        }
        let Some(stay) = standing.strangers.remove(id) else { return false };
        standing.known.insert(*id, stay);
        true
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut standing = self.crowd.standing();
        standing.strangers.remove(&self.id);
        standing.known.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use oneshot::error::TryRecvError;

    use super::*;

    fn told_to_leave(leave: &mut oneshot::Receiver<()>) -> bool {
        leave.try_recv() == Err(TryRecvError::Closed)
    }

    #[test]
    fn the_oldest_stranger_makes_room_and_who_was_let_in_stays() {
        let crowd = Crowd::new(Most { strangers: 2, known: 2 });
        let (page, mut page_leaves) = crowd.enter();
        assert!(page.is_let_in() && page.is_let_in());
        let (first, mut first_leaves) = crowd.enter();
        let (_second, mut second_leaves) = crowd.enter();
        assert!(!told_to_leave(&mut first_leaves));
        let (_third, _) = crowd.enter();
        assert!(told_to_leave(&mut first_leaves) && !told_to_leave(&mut second_leaves));
        assert!(!first.is_let_in(), "it was told to leave");
        for _ in 0..100 {
            crowd.enter();
        }
        assert!(!told_to_leave(&mut page_leaves));
    }

    #[test]
    fn who_goes_leaves_a_place() {
        let crowd = Crowd::new(Most { strangers: 1, known: 1 });
        let (known, _leave) = crowd.enter();
        assert!(known.is_let_in());
        let (other, _leave) = crowd.enter();
        assert!(!other.is_let_in(), "there are as many as there may be");
        drop(known);
        assert!(other.is_let_in());
        drop(other);
        let standing = crowd.standing();
        assert!(standing.strangers.is_empty() && standing.known.is_empty());
    }
}
