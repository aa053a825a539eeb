//! What was found at one server.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use super::{
    finding::{Finding, Findings, Unchecked},
    survey::Survey,
};
use crate::{
    arguments::Level,
    config::ConfiguredServer,
    identity::{Identity, Protocol},
};

/// What came of it, in the order of the configuration.
#[derive(Debug, Serialize)]
pub(super) struct Checked {
    pub(super) servers: Vec<Outcome>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Outcome {
    Seen(Box<Report>),
    Failed { name: String, error: String },
}

/// What was found at one server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) server: Identity,
    pub(super) protocol: Protocol,
    pub(super) looked_at: LookedAt,
    /// Whether it runs in dev mode: others will see it without.
    pub(super) dev: bool,
    pub(super) findings: Vec<Finding>,
    /// More of the same, which is not listed.
    pub(super) omitted: usize,
    pub(super) not_checked: Vec<Unchecked>,
}

/// How much there was to look at.
#[derive(Debug, Serialize)]
pub(super) struct LookedAt {
    pub(super) tools: usize,
    pub(super) views: usize,
    pub(super) calls: usize,
}

impl Checked {
    /// 0 for clean, 1 for findings that count, 2 for a server that could not be asked.
    pub(super) fn verdict(&self, least: Level) -> u8 {
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
        let found = |outcome: &Outcome| match outcome {
            Outcome::Seen(report) => report.findings.iter().any(|finding| finding.level >= least),
            Outcome::Failed { .. } => false,
        };
        match &*self.servers {
            servers if servers.iter().any(failed) => 2,
            servers if servers.iter().any(found) => 1,
            _ => 0,
        }
    }

    /// The servers that could be asked.
    pub(super) fn seen(&self) -> impl Iterator<Item = &Report> {
        self.servers.iter().filter_map(|outcome| match outcome {
            Outcome::Seen(report) => Some(&**report),
            Outcome::Failed { .. } => None,
        })
    }
}

impl Report {
    pub(super) fn new(
        server: &ConfiguredServer,
        survey: Survey,
        findings: Findings,
        ignores: impl Fn(&str) -> bool,
    ) -> Self {
        let omitted = findings.omitted;
        let findings = findings.into_ranked().into_iter();
        Self {
            name: server.name.clone(),
            place: server.place(),
            server: Identity::of(&survey.said),
            protocol: Protocol::of(&survey.said),
            looked_at: LookedAt {
                tools: survey.tools.items.len(),
                views: survey.views.len(),
                calls: survey.calls.len(),
            },
            dev: survey.dev,
            findings: findings.filter(|finding| !ignores(finding.rule.id)).collect(),
            omitted,
            not_checked: survey.unchecked,
        }
    }

    /// How many findings have a level.
    pub(super) fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut finding = serializer.serialize_struct("Finding", 7)?;
        finding.serialize_field("rule", self.rule.id)?;
        finding.serialize_field("level", &self.level)?;
        finding.serialize_field("title", self.rule.title)?;
        finding.serialize_field("place", &self.place)?;
        finding.serialize_field("words", &self.words)?;
        finding.serialize_field("why", self.rule.why)?;
        finding.serialize_field("fix", self.rule.fix)?;
        finding.end()
    }
}
