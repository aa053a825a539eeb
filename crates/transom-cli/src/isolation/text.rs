//! The table, for people.

use std::fmt::Write as _;

use super::{
    evidence::{Finding, Outcome},
    report::Report,
};
use crate::terminal::clean;

/// Prints a report.
pub(super) fn print(report: &Report) -> String {
    let mut out = format!("{}\n", clean(&report.browser));
    if report.naive {
        out.push_str("Without a host: the same documents in plain frames of one page.\n");
    }
    let width =
        report.findings.iter().map(|finding| finding.words.chars().count()).max().unwrap_or(0);
    let mut section = |title: &str, needs: bool| {
        let _ = writeln!(out, "\n{title}");
        for finding in report.findings.iter().filter(|finding| finding.need == needs) {
            let _ = writeln!(out, "  {:width$}  {}", finding.words, line(finding));
        }
    };
    section("What a view must not do", false);
    section("What a view must be able to do", true);
    let open: Vec<_> =
        report.findings.iter().filter_map(|finding| Some((finding, finding.why_open?))).collect();
    if !report.naive && !open.is_empty() {
        out.push_str("\nWhat a browser cannot close today\n");
        for (finding, why) in open {
            let _ = writeln!(out, "  {}: {why}.", finding.id);
        }
        out.push_str(UNSEEN);
    }
    let _ = writeln!(out, "\n{}", report.summary());
    out
}

fn line(finding: &Finding) -> String {
    let word = match finding.outcome {
        Outcome::Blocked => "blocked",
        Outcome::Escaped => "GOT OUT",
        Outcome::Open => "open",
        Outcome::Works => "works",
        Outcome::Broken => "DOES NOT WORK",
        Outcome::NotTried => "NOT TRIED",
    };
    match &finding.how {
        Some(how) if finding.outcome != Outcome::Blocked => format!("{word}  ({})", clean(how)),
        _ => word.to_owned(),
    }
}

const UNSEEN: &str = "  dns-prefetch: a name can be looked up; nothing here could hear it. Frames ask browsers not to.\n";
