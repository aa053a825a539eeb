//! How fast a view may talk.

use std::time::Duration;

/// A bucket that fills at a steady rate up to a burst and is emptied by use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    level: f64,
    filled: Duration,
}

/// What a bucket holds and how fast it fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Units a second, in the long run.
    pub per_second: f64,
    /// Units at once, after a pause.
    pub burst: f64,
}

impl Rate {
    /// The rate as a person would say it.
    pub(super) fn most(self) -> u64 {
        self.per_second.ceil() as u64
    }
}

impl Bucket {
    /// A full bucket.
    pub(super) fn full(rate: Rate, now: Duration) -> Self {
        Self { level: rate.burst, filled: now }
    }

    /// Takes `amount` out, or leaves the bucket as it is if it does not hold that much.
    pub(super) fn take(&mut self, rate: Rate, now: Duration, amount: f64) -> bool {
        // A clock that stands still or steps back fills nothing.
        let elapsed = now.saturating_sub(self.filled);
        self.level = (self.level + elapsed.as_secs_f64() * rate.per_second).min(rate.burst);
        self.filled = self.filled.max(now);
        let enough = self.level >= amount;
        if enough {
            self.level -= amount;
        }
        enough
    }

    /// Puts `amount` back.
    pub(super) fn give(&mut self, rate: Rate, amount: f64) {
        self.level = (self.level + amount).min(rate.burst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate() {
        let rate = Rate { per_second: 10.0, burst: 5.0 };
        let mut bucket = Bucket::full(rate, Duration::ZERO);
        let mut taken = |now| (0..100).filter(|_| bucket.take(rate, now, 1.0)).count();
        assert_eq!(taken(Duration::ZERO), 5);
        assert_eq!(taken(Duration::from_millis(200)), 2);
        assert_eq!(taken(Duration::from_millis(100)), 0, "time never runs backwards");
        assert_eq!(taken(Duration::from_secs(60)), 5, "no more than the burst");
    }

    #[test]
    fn more_than_the_burst_never_fits() {
        let rate = Rate { per_second: 10.0, burst: 5.0 };
        let mut bucket = Bucket::full(rate, Duration::ZERO);
        assert!(!bucket.take(rate, Duration::from_secs(999), 6.0));
        assert!(bucket.take(rate, Duration::from_secs(999), 5.0), "and costs nothing");
    }
}
