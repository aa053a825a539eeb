//! What the loop counts for operators, as it goes.

use std::time::Duration;

use transom::{
    host::{Output, Ruling},
    violation::Violation,
};

use super::seat::Seat;
use crate::{
    metrics::{Ended, Verdict},
    upstream::Outcome,
};

impl Seat {
    /// Counts what a session says of its view.
    pub(super) fn count_output(&self, output: &Output) {
        let verdict = match output {
            Output::Waits { .. } => Verdict::Asked,
            Output::Judged { ruling, .. } => match ruling {
                Ruling::Allowed => Verdict::Allowed,
                Ruling::Withdrawn => Verdict::Withdrawn,
                Ruling::Refused(violation) => return self.count_refusal(violation),
            },
            _ => return,
        };
        self.metrics.judged(verdict);
    }

    /// Counts a refusal, and the limit that was reached.
    pub(super) fn count_refusal(&self, violation: &Violation) {
        match violation {
            Violation::OverLimit(over) => {
                self.metrics.judged(Verdict::Limited);
                self.metrics.limited(over.limit);
            }
            _ => self.metrics.judged(Verdict::Refused),
        }
    }

    /// Counts how a server's answer went.
    pub(super) fn count_outcome(&self, outcome: &Outcome, took: Duration) {
        let ended = if outcome.is_ok() { Ended::Answered } else { Ended::Failed };
        self.metrics.ended(ended, took);
    }

    /// Its opening is written down.
    pub(super) fn count_opening(&mut self) {
        self.open_row = true;
        self.metrics.views.came.add();
    }

    /// Its end is, or will be at once; whether it was open.
    pub(super) fn count_end(&mut self) -> bool {
        let was_open = std::mem::take(&mut self.open_row);
        if was_open {
            self.metrics.views.went.add();
        }
        was_open
    }
}
