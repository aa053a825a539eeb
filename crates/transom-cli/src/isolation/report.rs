//! What became of everything, counted.

use serde::Serialize;

use super::evidence::{Finding, Outcome};

/// What became of everything.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) browser: String,
    pub(super) naive: bool,
    pub(super) findings: Vec<Finding>,
}

impl Report {
    /// 0: as it should be. 1: something got out, or does not work. 2: something was not even tried.
    pub(super) fn verdict(&self) -> u8 {
        let any = |outcome| self.findings.iter().any(|finding| finding.outcome == outcome);
        match () {
            () if any(Outcome::Escaped) || any(Outcome::Broken) => 1,
            () if any(Outcome::NotTried) => 2,
            () => 0,
        }
    }

    pub(super) fn summary(&self) -> String {
        let count =
            |outcome| self.findings.iter().filter(|finding| finding.outcome == outcome).count();
        let bad = self.findings.iter().filter(|finding| !finding.outcome.is_good()).count();
        let judged = if bad == 0 { "as it should be" } else { "NOT as it should be" };
        format!(
            "{} blocked, {} got out, {} open in every browser, {} work, {} do not, {} not tried: {judged}",
            count(Outcome::Blocked),
            count(Outcome::Escaped),
            count(Outcome::Open),
            count(Outcome::Works),
            count(Outcome::Broken),
            count(Outcome::NotTried),
        )
    }
}
