//! What was found, and where.

use serde::Serialize;
use serde_json::Value;
use transom::violation::Quoted;

use super::catalogue::{RULES, Rule};
use crate::arguments::Level;

/// One finding.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) rule: &'static Rule,
    pub(super) level: Level,
    pub(super) place: Spot,
    pub(super) words: String,
}

/// Where it was found. Nothing at all means the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Spot {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) view: Option<String>,
    /// The line of the view's document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
}

/// What could not be checked, and why.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Unchecked {
    pub(super) rules: Vec<&'static str>,
    pub(super) why: String,
}

impl Finding {
    pub(super) fn new(rule: &'static Rule, place: Spot, words: impl Into<String>) -> Self {
        Self { rule, level: rule.level, place, words: words.into() }
    }

    /// The same, at another level than most of its rule.
    #[must_use]
    pub(super) fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }
}

impl Spot {
    pub(super) fn server() -> Self {
        Self::default()
    }

    pub(super) fn tool(name: &str) -> Self {
        Self { tool: Some(name.to_owned()), ..Self::default() }
    }

    pub(super) fn view(uri: &str) -> Self {
        Self { view: Some(uri.to_owned()), ..Self::default() }
    }

    /// A line of a view's document.
    pub(super) fn line(uri: &str, line: usize) -> Self {
        Self { line: Some(line), ..Self::view(uri) }
    }
}

/// Findings while they are collected. A server can be wrong in as many places as it likes; after some of a
/// rule, the rest are counted.
#[derive(Debug, Default)]
pub(super) struct Findings {
    all: Vec<Finding>,
    pub(super) omitted: usize,
}

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        let of_rule = self.all.iter().filter(|known| known.rule.id == finding.rule.id);
        let same = |known: &&Finding| known.place == finding.place && known.words == finding.words;
        if of_rule.clone().any(|known| same(&known)) {
            return;
        }
        if of_rule.count() >= MAX_OF_A_RULE {
            self.omitted += 1;
            return;
        }
        self.all.push(finding);
    }

    /// Whether a rule has something to say of a view already.
    pub(super) fn has(&self, id: &str, view: &str) -> bool {
        let of_view = |finding: &&Finding| finding.place.view.as_deref() == Some(view);
        self.all.iter().filter(of_view).any(|finding| finding.rule.id == id)
    }

    /// The gravest first, then in the order of the rules.
    pub(super) fn into_ranked(mut self) -> Vec<Finding> {
        let number = |finding: &Finding| RULES.iter().position(|rule| rule.id == finding.rule.id);
        self.all.sort_by_key(|finding| (std::cmp::Reverse(finding.level), number(finding)));
        self.all
    }
}

const MAX_OF_A_RULE: usize = 20;

/// A value of a stranger, for people.
pub(super) fn quote(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => Quoted::new(text).to_string(),
        other => Quoted::new(&other.to_string()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::catalogue::{DOCUMENT_01, SERVER_01, SERVER_05};

    #[test]
    fn the_gravest_comes_first_and_more_of_the_same_is_counted() {
        let mut findings = Findings::default();
        findings.add(Finding::new(&DOCUMENT_01, Spot::view("ui://a"), "no doctype"));
        for number in 0..30 {
            findings.add(Finding::new(&SERVER_05, Spot::server(), number.to_string()));
        }
        findings.add(Finding::new(&SERVER_01, Spot::server(), "a"));
        findings.add(Finding::new(&SERVER_01, Spot::server(), "a"));
        assert_eq!(findings.omitted, 10);
        let ranked = findings.into_ranked();
        let ids: Vec<&str> = ranked.iter().map(|finding| finding.rule.id).collect();
        assert_eq!(
            (ids.len(), ids[0], ids[20], ids[21]),
            (22, "server-05", "document-01", "server-01")
        );
    }
}
