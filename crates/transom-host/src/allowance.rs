//! How many lines of the log a view gets: in a burst, and in the long run.

use std::time::Duration;

/// Lines that a view may cause.
pub(crate) struct Allowance {
    per_second: f64,
    burst: f64,
    left: f64,
    at: Duration,
    /// Lines that were left out since the last one that was not.
    left_out: u64,
}

impl Allowance {
    /// For its refusals.
    pub(crate) fn refusals() -> Self {
        Self::new(2.0, 20.0)
    }

    /// For everything else: a few lines for each step of a slider.
    pub(crate) fn lines() -> Self {
        Self::new(10.0, 100.0)
    }

    fn new(per_second: f64, burst: f64) -> Self {
        Self { per_second, burst, left: burst, at: Duration::ZERO, left_out: 0 }
    }

    /// Whether there may be a line now; if so, how many before it were left out.
    pub(crate) fn take(&mut self, now: Duration) -> Option<u64> {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.left = (self.left + passed * self.per_second).min(self.burst);
        self.at = self.at.max(now);
        if self.left < 1.0 {
            self.left_out += 1;
            return None;
        }
        self.left -= 1.0;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_in_time_and_what_is_left_out_is_counted() {
        let mut lines = Allowance::lines();
        // Ten seconds of a thousand lines each.
        let taken: Vec<u64> =
            (0..10_000).filter_map(|ms| lines.take(Duration::from_millis(ms))).collect();
        assert!((190..=200).contains(&taken.len()), "{} lines", taken.len());
        let last = lines.take(Duration::from_secs(60)).unwrap();
        assert_eq!(taken.iter().sum::<u64>() + last + taken.len() as u64, 10_000);
    }
}
