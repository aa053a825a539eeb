//! The keys of pages: the one that a token is exchanged for, and those that an application gives to loads of its own page.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::secret::Key;

/// A key for one load of an application's own page, from `Host::page_key`.
///
/// It ends with its term or when the application takes it back, and the sockets that were opened with it end then too.
/// Dropping this value ends nothing.
#[derive(Clone)]
pub struct PageKey {
    key: Key,
    keys: Arc<Keys>,
}

impl PageKey {
    /// The key itself, for the page alone: who has it speaks for the person.
    pub fn reveal(&self) -> &str {
        self.key.reveal()
    }

    /// Whether that is this key, and it has not ended.
    pub fn is(&self, given: &str) -> bool {
        self.key.is(given) && self.keys.find(given).is_some()
    }

    /// Ends it now.
    pub fn take_back(&self) {
        self.keys.given().retain(|given| !given.key.is(self.reveal()));
    }
}

impl fmt::Debug for PageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PageKey(…)")
    }
}

/// All that are good now.
pub(crate) struct Keys {
    own: Key,
    given: Mutex<Vec<Given>>,
}

struct Given {
    key: Key,
    ends: Instant,
    /// Closed when it is dropped, by which those who wait learn of it.
    end: watch::Sender<()>,
}

impl Keys {
    pub(crate) fn new() -> Self {
        Self { own: Key::new(), given: Mutex::default() }
    }

    /// The one that a token is exchanged for, which has no term.
    pub(super) fn own(&self) -> &Key {
        &self.own
    }

    /// Another one. When there are too many, the one ends that has the least time left.
    pub(crate) fn give(self: &Arc<Self>, term: Duration) -> PageKey {
        let (key, now) = (Key::new(), Instant::now());
        let mut given = self.given();
        given.retain(|given| now < given.ends);
        let first = (0..given.len()).min_by_key(|&at| given[at].ends);
        if let Some(first) = first.filter(|_| given.len() >= MOST) {
            given.swap_remove(first);
        }
        let ends = now + term.min(LONGEST);
        given.push(Given { key: key.clone(), ends, end: watch::Sender::new(()) });
        PageKey { key, keys: Arc::clone(self) }
    }

    /// How long this key is good; nothing, when it is none of ours or has ended.
    pub(super) fn find(&self, key: &str) -> Option<Term> {
        if self.own.is(key) {
            return Some(Term(None));
        }
        let given = self.given();
        let found = given.iter().find(|given| given.key.is(key) && Instant::now() < given.ends)?;
        Some(Term(Some((found.ends, found.end.subscribe()))))
    }

    fn given(&self) -> MutexGuard<'_, Vec<Given>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a key is good.
pub(super) struct Term(Option<(Instant, watch::Receiver<()>)>);

impl Term {
    /// Waits until the key has ended.
    pub(super) async fn ended(&mut self) {
        match &mut self.0 {
            None => std::future::pending().await,
            Some((ends, end)) => tokio::select! {
                () = sleep_until(*ends) => {}
                // Nothing is ever sent.
                _ = end.changed() => {}
            },
        }
    }
}

/// How many an application may have given that have not ended.
const MOST: usize = 4_096;
/// The longest term.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_key_ends_with_its_term_or_when_it_is_taken_back_and_no_other_with_it() {
        let keys = Arc::new(Keys::new());
        let [short, long, taken] =
            [5, 60, 60].map(|seconds| keys.give(Duration::from_secs(seconds)));
        let mut terms = [&short, &long, &taken].map(|key| keys.find(key.reveal()).unwrap());
        taken.take_back();
        terms[2].ended().await;
        assert!(!taken.is(taken.reveal()) && short.is(short.reveal()));
        let begun = Instant::now();
        terms[0].ended().await;
        assert_eq!(begun.elapsed().as_secs(), 5);
        assert!(!short.is(short.reveal()) && long.is(long.reveal()));
        assert!(!long.is(short.reveal()) && !long.is(""));
        assert!(keys.find(keys.own().reveal()).is_some());
        assert_eq!(format!("{long:?}"), "PageKey(…)");
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_many_the_one_goes_that_has_the_least_time_left() {
        let keys = Arc::new(Keys::new());
        let [kept, first] = [Duration::MAX, Duration::from_secs(1)].map(|term| keys.give(term));
        for _ in 0..MOST - 2 {
            keys.give(Duration::from_secs(60));
        }
        assert!(first.is(first.reveal()));
        let last = keys.give(Duration::from_secs(60));
        assert!(!first.is(first.reveal()));
        assert!(kept.is(kept.reveal()) && last.is(last.reveal()));
        tokio::time::advance(Duration::from_secs(60)).await;
        keys.give(Duration::from_secs(60));
        assert_eq!(keys.given().len(), 2, "those that have ended are forgotten");
    }
}
