//! How fast a view's messages are confirmed. The page has a few of a view's messages under way and no more until they are
//! confirmed, so a view that is confirmed slowly is slowed down: what it sends too fast waits in the page, where it costs the
//! other views nothing, instead of taking turns with their messages.

use std::time::Duration;

/// One view's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// When all of its messages would have come, had they come at its rate.
    due: Duration,
    /// Since when it has been waiting.
    since: Option<Duration>,
    /// Whether that has been told.
    told: bool,
}

impl Pace {
    /// A message came.
    pub(super) fn count(&mut self, now: Duration, rate: f64) {
        let gap = Duration::try_from_secs_f64(1.0 / rate).unwrap_or(Duration::ZERO);
        self.due = self.due.max(now).saturating_add(gap);
    }

    /// How many of the last ones came too early to be confirmed now.
    pub(super) fn ahead(&mut self, now: Duration, rate: f64) -> u64 {
        let lead = self.due.saturating_sub(now.saturating_add(SLACK));
        let ahead = (lead.as_secs_f64() * rate) as u64;
        self.since = self.since.or(Some(now)).filter(|_| ahead > 0);
        self.told &= ahead > 0;
        ahead
    }

    /// Whether it has been waiting for so long that it is no burst; told once, until it has waited enough.
    pub(super) fn take_slowed(&mut self, now: Duration) -> bool {
        let slowed = self.since.is_some_and(|since| since + BURST <= now);
        slowed && !std::mem::replace(&mut self.told, slowed)
    }
}

/// How far ahead a view may be before it waits.
const SLACK: Duration = Duration::from_millis(50);

/// How long a view may be too fast before it is worth a word.
const BURST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use transom::host::Rate;

    use super::*;
    use crate::relay::confirmed;

    #[test]
    fn atk_33_who_is_too_fast_is_confirmed_at_its_rate() {
        let (mut pace, rate) = (Pace::default(), 100.0);
        for _ in 0..64 {
            pace.count(Duration::from_secs(1), rate);
        }
        let mut ahead = |millis| pace.ahead(Duration::from_millis(millis), rate);
        assert_eq!(ahead(1_000), 59, "five are within the slack");
        assert_eq!(ahead(1_100), 49);
        assert_eq!(ahead(1_600), 0);
        assert!(!pace.take_slowed(Duration::from_secs(9)), "a burst, and over");
    }

    #[test]
    fn who_goes_on_is_slowed() {
        let mut pace = Pace::default();
        for at in 0..200 {
            let now = Duration::from_millis(at * 8);
            pace.count(now, 100.0);
            pace.ahead(now, 100.0);
            // It is two milliseconds further ahead with each; a second after that was too much, it is slowed.
            assert_eq!(pace.take_slowed(now), at == 150, "{at}");
        }
        pace.ahead(Duration::from_secs(9), 100.0);
        assert!(!pace.told, "the next time is another one");
    }

    #[test]
    fn who_keeps_to_its_rate_never_waits_and_gathers_nothing() {
        let mut pace = Pace::default();
        for at in 1..100 {
            let now = Duration::from_millis(at * 10);
            pace.count(now, 100.0);
            assert_eq!(pace.ahead(now, 100.0), 0);
        }
        let now = Duration::from_secs(3_600);
        pace.count(now, 100.0);
        assert_eq!(pace.due, now + Duration::from_millis(10));
    }

    #[test]
    fn a_rate_without_end_is_none() {
        for rate in [f64::INFINITY, 1e300, 0.0, -1.0, f64::NAN] {
            let mut pace = Pace::default();
            assert!(confirmed(Rate { per_second: rate, burst: 1.0 }) >= 100.0);
            pace.count(Duration::MAX, rate);
            pace.count(Duration::from_secs(1), rate);
            let _ = pace.ahead(Duration::ZERO, rate);
        }
        let mut pace = Pace::default();
        (0..1_000_000).for_each(|_| pace.count(Duration::ZERO, 1e12));
        assert_eq!(pace.ahead(Duration::ZERO, 1e12), 0);
    }
}
