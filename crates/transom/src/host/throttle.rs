//! Things that may come often and matter only in their latest form.

use std::time::Duration;

/// Lets the first of many through at once and the last of them when the gap has passed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throttle {
    last: Option<Duration>,
    due: Option<Duration>,
}

impl Throttle {
    /// Something came; whether it may go through now. If not, it is due later.
    pub(super) fn hit(&mut self, now: Duration, gap: Duration) -> bool {
        let next = self.last.map_or(Duration::ZERO, |last| last.saturating_add(gap));
        if next <= now {
            *self = Self { last: Some(now), due: None };
            return true;
        }
        self.due = Some(next);
        false
    }

    /// Whether what was held back may go through now.
    pub(super) fn release(&mut self, now: Duration) -> bool {
        let ripe = self.due.is_some_and(|due| due <= now);
        if ripe {
            *self = Self { last: Some(now), due: None };
        }
        ripe
    }

    /// When something is due.
    pub(super) fn deadline(self) -> Option<Duration> {
        self.due
    }

    /// Nothing is held back any more.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_at_once_the_last_in_time() {
        let (gap, at) = (Duration::from_millis(16), Duration::from_millis);
        let mut throttle = Throttle::default();
        assert!(throttle.hit(at(0), gap));
        assert!(!throttle.hit(at(5), gap));
        assert!(!throttle.hit(at(10), gap));
        assert_eq!(throttle.deadline(), Some(at(16)));
        assert!(!throttle.release(at(15)));
        assert!(throttle.release(at(16)));
        assert!(!throttle.release(at(99)), "once");
        assert!(throttle.hit(at(32), gap));
    }
}
