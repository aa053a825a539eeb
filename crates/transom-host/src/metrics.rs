//! What operators count: numbers that the loop adds to as it goes, without a lock and without a label that a stranger chose.
//!
//! Every series is there from the start, one for each server that the operator named and each word of a closed list. Nothing that
//! a view, a server or a page says makes another one.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use transom::violation::Limit;

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    servers: BTreeMap<String, Arc<OfServer>>,
    /// For what concerns no server that there is.
    none: Arc<OfServer>,
    /// How long the loop takes for one message of a page.
    pub(crate) gate: Latency,
    /// Pages that came, and that went.
    pub(crate) pages: Pair,
}

/// What is counted of one server.
#[derive(Debug, Default)]
pub(crate) struct OfServer {
    /// Views that were opened, and that ended.
    pub(crate) views: Pair,
    pub(crate) verdicts: Each<{ Verdict::ALL.len() }>,
    pub(crate) limits: Each<{ LIMITS.len() }>,
    /// Calls of its tools and reads, by how they ended, and how long the server took.
    pub(crate) calls: Each<{ Ended::ALL.len() }>,
    pub(crate) took: Latency,
    pub(crate) asked: Count,
    pub(crate) answered: Count,
}

/// What the gate said of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allowed,
    /// A person decides.
    Asked,
    Refused,
    /// It was more than may be.
    Limited,
    /// Whoever wanted it took it back before anything was done.
    Withdrawn,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Answered,
    Failed,
}

/// A number that grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

/// What came and what went: how many are there is the difference.
#[derive(Debug, Default)]
pub(crate) struct Pair {
    pub(crate) came: Count,
    pub(crate) went: Count,
}

/// A number for each word of a list.
#[derive(Debug)]
pub(crate) struct Each<const N: usize>([Count; N]);

/// How long things took.
#[derive(Debug, Default)]
pub(crate) struct Latency {
    buckets: [Count; BOUNDS.len() + 1],
    micros: Count,
}

impl Metrics {
    /// For these servers and no others.
    pub(crate) fn new<'a>(servers: impl Iterator<Item = &'a String>) -> Self {
        let servers = servers.map(|name| (name.clone(), Arc::default())).collect();
        Self { servers, ..Self::default() }
    }

    /// What is counted of a server.
    pub(crate) fn of(&self, server: &str) -> &Arc<OfServer> {
        self.servers.get(server).unwrap_or(&self.none)
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = (&str, &OfServer)> {
        self.servers.iter().map(|(name, of)| (name.as_str(), &**of))
    }
}

impl OfServer {
    pub(crate) fn judged(&self, verdict: Verdict) {
        self.verdicts.0[verdict as usize].add();
    }

    pub(crate) fn limited(&self, limit: Limit) {
        if let Some(at) = LIMITS.iter().position(|(known, _)| *known == limit) {
            self.limits.0[at].add();
        }
    }

    pub(crate) fn ended(&self, ended: Ended, took: Duration) {
        self.calls.0[ended as usize].add();
        self.took.observe(took);
    }
}

impl Verdict {
    /// In the order in which they are declared.
    pub(crate) const ALL: [&str; 5] = ["allowed", "asked", "refused", "limited", "withdrawn"];
}

impl Ended {
    /// In the order in which they are declared.
    pub(crate) const ALL: [&str; 2] = ["answered", "failed"];
}

impl Count {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Something that is there until it is dropped.
#[must_use]
#[derive(Debug)]
pub(crate) struct Present<'a>(&'a Pair);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.went.add();
    }
}

impl Pair {
    /// Something comes, and goes when that is dropped.
    pub(crate) fn enter(&self) -> Present<'_> {
        self.came.add();
        Present(self)
    }

    /// How many there are. Both are read one after the other, and something may come and go meanwhile.
    pub(crate) fn there(&self) -> u64 {
        let went = self.went.get();
        self.came.get().saturating_sub(went)
    }
}

impl<const N: usize> Each<N> {
    pub(crate) fn get(&self) -> [u64; N] {
        std::array::from_fn(|at| self.0[at].get())
    }
}

impl<const N: usize> Default for Each<N> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Count::default()))
    }
}

impl Latency {
    pub(crate) fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        self.buckets[BOUNDS.partition_point(|bound| *bound < seconds)].add();
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.0.fetch_add(micros, Relaxed);
    }

    /// All of them together in seconds, how many there were, and how many up to each bound and above the one before it.
    pub(crate) fn read(&self) -> (f64, u64, Vec<(f64, u64)>) {
        let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
        let buckets: Vec<_> =
            bounds.zip(&self.buckets).map(|(le, count)| (le, count.get())).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        (Duration::from_micros(self.micros.get()).as_secs_f64(), count, buckets)
    }
}

/// The limits, and what each is called.
pub(crate) const LIMITS: [(Limit, &str); 14] = [
    (Limit::Messages, "messages"),
    (Limit::Bytes, "bytes"),
    (Limit::Size, "message-size"),
    (Limit::Method, "method-messages"),
    (Limit::Params, "method-size"),
    (Limit::Instances, "instances"),
    (Limit::Calls, "calls"),
    (Limit::Questions, "questions"),
    (Limit::Held, "held"),
    (Limit::Queued, "queued"),
    (Limit::Views, "views"),
    (Limit::Result, "result-size"),
    (Limit::Files, "files"),
    (Limit::Asking, "asking"),
];

/// Where buckets end, in seconds: from what the gate takes for a message to what a slow tool takes.
const BOUNDS: [f64; 15] =
    [2e-5, 1e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_one_bucket_and_the_bounds_belong_to_the_lower_one() {
        let latency = Latency::default();
        for micros in [0, 20, 21, 1_000, 119_999_999, 120_000_000, 120_000_001, 10_000_000_000] {
            latency.observe(Duration::from_micros(micros));
        }
        let (sum, count, buckets) = latency.read();
        let filled: Vec<_> = buckets.iter().filter(|(_, count)| *count > 0).copied().collect();
        assert_eq!(filled, [(2e-5, 2), (1e-4, 1), (1e-3, 1), (120.0, 2), (f64::INFINITY, 2)]);
        assert_eq!((count, sum.round()), (8, 10_360.0));
        assert!(BOUNDS.is_sorted());
    }

    #[test]
    fn no_series_comes_from_a_stranger() {
        let names = ["a".to_owned(), "b".to_owned()];
        let metrics = Metrics::new(names.iter());
        for name in ["a", "c", "", "a\"} 1\nx"] {
            metrics.of(name).judged(Verdict::Asked);
        }
        let seen: Vec<_> =
            metrics.servers().map(|(name, of)| (name, of.verdicts.get()[1])).collect();
        assert_eq!(seen, [("a", 1), ("b", 0)]);
        metrics.of("b").limited(Limit::Asking);
        assert_eq!(metrics.of("b").limits.get()[13], 1);
    }
}
