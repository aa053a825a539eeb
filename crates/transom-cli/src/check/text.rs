//! A report for people.

use super::{
    catalogue::{RULES, Rule},
    finding::Finding,
    report::{Checked, Report},
};
use crate::{arguments::Level, terminal::clean};

/// Prints what was found, the gravest first, a stranger's words made harmless line by line.
pub(super) fn print(checked: &Checked, colour: bool) -> String {
    let reports: Vec<String> = checked.seen().map(|report| print_one(report, colour)).collect();
    reports.join("\n")
}

/// Prints the catalogue.
pub(super) fn rules(colour: bool) -> String {
    let mut lines = Lines { text: String::new(), colour };
    for rule in RULES {
        lines.rule(rule, rule.level);
        lines.add(5, &format!("why  {}", rule.why));
        lines.add(5, &format!("fix  {}", rule.fix));
    }
    lines.text
}

fn print_one(report: &Report, colour: bool) -> String {
    let mut lines = Lines { text: String::new(), colour };
    lines.add(0, &format!("{}   {}", report.name, report.place));
    let (server, protocol) = (&report.server, &report.protocol);
    let era = format!("MCP {} ({} era)", protocol.version, protocol.era);
    lines.add(2, &format!("{} {}, {era}", server.name, server.version));
    let looked = &report.looked_at;
    let counts = [
        count(looked.tools, "tool"),
        count(looked.views, "view"),
        format!("{} made", count(looked.calls, "call")),
    ];
    lines.add(2, &counts.join(", "));
    if report.dev {
        lines.add(2, "in dev mode (TRANSOM_DEV=1): the documents were checked without the page that reloads them");
    }
    for group in grouped(&report.findings) {
        lines.blank();
        lines.rule(group[0].rule, group[0].level);
        for finding in group {
            lines.add(5, &place(finding));
        }
        lines.add(5, &format!("why  {}", group[0].rule.why));
        lines.add(5, &format!("fix  {}", group[0].rule.fix));
    }
    if !report.not_checked.is_empty() {
        lines.blank();
        for unchecked in &report.not_checked {
            lines
                .add(2, &format!("not checked  {}: {}", unchecked.rules.join(", "), unchecked.why));
        }
    }
    lines.blank();
    lines.add(2, &conclusion(report));
    lines.text
}

/// Neighbours of one rule and level.
fn grouped(findings: &[Finding]) -> impl Iterator<Item = &[Finding]> {
    findings.chunk_by(|left, right| left.rule.id == right.rule.id && left.level == right.level)
}

fn place(finding: &Finding) -> String {
    let place = &finding.place;
    let mut words: Vec<String> = vec![];
    words.extend(place.tool.as_ref().map(|tool| format!("tool {tool}")));
    words.extend(place.view.clone());
    words.extend(place.line.map(|line| format!("line {line}")));
    let place = if words.is_empty() { "the server".to_owned() } else { words.join(", ") };
    format!("{place}: {}", finding.words)
}

fn conclusion(report: &Report) -> String {
    let found: Vec<String> = Level::ALL
        .into_iter()
        .map(|level| (report.count(level), level))
        .filter(|(number, _)| *number > 0)
        .map(|(number, level)| count(number, level.name()))
        .collect();
    let mut words = if found.is_empty() { "clean".to_owned() } else { found.join(", ") };
    if report.omitted > 0 {
        words.push_str(&format!("; {} more of the same", report.omitted));
    }
    words
}

/// `1 view`, `2 views`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

struct Lines {
    text: String,
    colour: bool,
}

impl Lines {
    fn add(&mut self, indent: usize, line: &str) {
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(&clean(line));
        self.text.push('\n');
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn rule(&mut self, rule: &Rule, level: Level) {
        let (begin, end) = if self.colour { (colour(level), "\x1b[0m") } else { ("", "") };
        self.text.push_str(&format!("{begin}{level:<7}{end}  {}  {}\n", rule.id, rule.title));
    }
}

fn colour(level: Level) -> &'static str {
    match level {
        Level::Error => "\x1b[1;31m",
        Level::Warning => "\x1b[1;33m",
        Level::Note => "\x1b[1;36m",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_only_where_it_is_wanted() {
        assert!(!rules(false).contains('\x1b'));
        assert!(rules(true).contains("\x1b[1;31merror  \x1b[0m  server-02"));
    }
}
