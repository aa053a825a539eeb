//! What people have decided so far, and for how long it counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Claimed, Claims, Decision, Grantable, Subject, ToolFacts};

/// What people have decided so far.
///
/// A yes to a tool is a yes to what the tool said of itself at that time: once it says something else, the yes does not
/// count, and the next question tells what changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decided {
    always: BTreeMap<Subject, Answer>,
    /// By a yes or a no to several at once.
    together: BTreeMap<String, Answer>,
}

/// A yes or a no for longer than once.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    yes: bool,
    /// What the tool said of itself when a person was asked; nothing for what is no tool.
    said: Option<Arc<Claims>>,
}

impl Decided {
    /// Remembers a decision for as long as this value lives. `said` is what its tools said of themselves when the person
    /// was asked: a yes to a tool that is not in there counts for nothing.
    pub fn remember(&mut self, subject: &Subject, decision: Decision, said: &Claimed) {
        if !decision.lasts() {
            return;
        }
        let yes = decision.is_yes();
        let answer = |name: &str| Answer { yes, said: said.get(name).cloned() };
        match subject {
            Subject::Tools(names) => {
                self.together.extend(names.iter().map(|name| (name.clone(), answer(name))));
            }
            Subject::Tool(name) | Subject::AppTool(name) | Subject::Route { tool: name, .. } => {
                self.always.insert(subject.clone(), answer(name));
            }
            _ => {
                self.always.insert(subject.clone(), Answer { yes, said: None });
            }
        }
    }

    /// Takes a decision back: the next wish it covered is asked about again.
    pub fn forget(&mut self, subject: &Subject) {
        self.always.remove(subject);
        if let Subject::Tools(names) = subject {
            self.together.retain(|name, _| !names.contains(name));
        }
    }

    /// Every decision, and whether it was a yes.
    pub fn iter(&self) -> impl Iterator<Item = (Subject, bool)> {
        let listed = [true, false].map(|yes| {
            let names = self.together.iter().filter(|(_, answer)| answer.yes == yes);
            (Subject::Tools(names.map(|(name, _)| name.clone()).collect()), yes)
        });
        let listed =
            listed.into_iter().filter(|(subject, _)| *subject != Subject::Tools([].into()));
        self.always.iter().map(|(subject, answer)| (subject.clone(), answer.yes)).chain(listed)
    }

    /// In words, what a subject's tools say of themselves now and did not say when a person allowed them for longer.
    /// Nothing, where no person has, or where nothing changed.
    pub fn changes(&self, subject: &Subject, now: &Claimed) -> Vec<String> {
        let (Subject::Tool(name) | Subject::AppTool(name) | Subject::Route { tool: name, .. }) =
            subject
        else {
            return vec![];
        };
        let together = self.together.get(name).filter(|_| matches!(subject, Subject::Tool(_)));
        let before = self.always.get(subject).or(together).filter(|answer| answer.yes);
        match (before.and_then(|answer| answer.said.as_ref()), now.get(name)) {
            (Some(before), Some(now)) => before.changes(now),
            _ => vec![],
        }
    }

    /// What was decided about a tool. A yes to several is none to a tool that is asked on its
    /// own: it may have become one since.
    pub(crate) fn tool(&self, tool: &ToolFacts, alone: bool) -> Option<bool> {
        let own = self.find(&Subject::Tool(tool.name.clone()), Some(&tool.claims));
        let listed = || self.together.get(&tool.name)?.about(Some(&tool.claims));
        own.or_else(|| listed().filter(|yes| !(alone && *yes)))
    }

    /// What was decided about an address of this machine or its network in one list, whatever it was asked about
    /// together with. Of two answers the no counts.
    pub fn nearby(&self, wish: &str) -> Option<bool> {
        let about = self.always.iter().filter_map(|(subject, answer)| match subject {
            Subject::Nearby(wishes) if wishes.contains(wish) => Some(answer.yes),
            _ => None,
        });
        about.min()
    }

    /// What the views of the server were given for longer. Of two answers about the same the no counts.
    pub fn granted(&self) -> BTreeSet<Grantable> {
        let about = |yes: bool| {
            let all = self.always.iter().filter(move |(_, answer)| answer.yes == yes);
            all.filter_map(|(subject, _)| match subject {
                Subject::Grants(grants) => Some(grants),
                _ => None,
            })
            .flatten()
            .copied()
        };
        let refused: BTreeSet<Grantable> = about(false).collect();
        about(true).filter(|grant| !refused.contains(grant)).collect()
    }

    pub(super) fn find(&self, subject: &Subject, claims: Option<&Claims>) -> Option<bool> {
        self.always.get(subject)?.about(claims)
    }
}

impl Answer {
    /// What it says of a tool with these claims. A no stays one: a tool must not get rid of it by calling itself
    /// something else.
    fn about(&self, claims: Option<&Claims>) -> Option<bool> {
        (!self.yes || self.said.as_deref() == claims).then_some(self.yes)
    }
}
