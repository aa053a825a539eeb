//! What people decided for longer than one question: taken in, kept, shown, and taken back.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use tokio::sync::mpsc;
use transom::{
    host::{Input, Reason},
    policy::{Claimed, Decision, Subject},
    violation::Quoted,
};

use super::{
    Driver,
    common::Common,
    event::Event,
    ledger::Held,
    seat::{Life, Seat},
};
use crate::{
    audit::Record,
    consent::Choice,
    decisions::{self, DecisionId, Decisions, Remembered},
    envelope::ViewId,
    grants::Given,
    kept::Stamp,
    log::{LineKind, Log},
    words,
    words::Words,
};

/// What the loop knows of the file of decisions.
pub(crate) struct Memory {
    /// None keeps nothing after the end.
    kept: Option<Decisions>,
    changes: mpsc::UnboundedSender<Change>,
    /// Changes that the file may not have yet: until it has, what it says must not undo them.
    under_way: VecDeque<Change>,
    stamp: Option<Stamp>,
    pub(super) entries: Vec<Remembered>,
    looked: Option<Duration>,
    read: Duration,
    /// Views that reach private addresses. They need to say nothing to do so, and still the file must be looked at.
    watched: Vec<ViewId>,
    shown: ShownDecisions,
}

/// What the page shows, and can ask to forget.
pub(crate) type ShownDecisions = Arc<Mutex<Vec<ShownDecision>>>;

/// A decision as a person is shown it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Decision"))]
pub(crate) struct ShownDecision {
    #[cfg_attr(test, ts(as = "String"))]
    id: DecisionId,
    #[cfg_attr(test, ts(as = "String"))]
    server: Quoted,
    /// What it is about, after "may always" or "may never".
    #[cfg_attr(test, ts(as = "String"))]
    words: Words,
    yes: bool,
    /// Whether it is kept after the end.
    kept: bool,
}

/// A change of the file. They are made one after the other, outside the loop: another process may have it.
#[derive(Clone)]
enum Change {
    Remember(Remembered),
    Forget(DecisionId),
}

impl Change {
    fn apply(&self, entries: &mut Vec<Remembered>) {
        match self {
            Self::Remember(new) => {
                entries.retain(|old| !old.is_about_the_same(new));
                entries.push(new.clone());
            }
            Self::Forget(id) => entries.retain(|old| old.id() != *id),
        }
    }
}

impl Memory {
    /// Needs a tokio runtime.
    pub(crate) fn new(kept: Option<Decisions>, events: mpsc::Sender<Event>, log: Arc<Log>) -> Self {
        let (changes, wanted) = mpsc::unbounded_channel();
        if let Some(kept) = kept.clone() {
            tokio::spawn(write(kept, wanted, events, log));
        }
        Self {
            kept,
            changes,
            under_way: VecDeque::new(),
            stamp: None,
            entries: vec![],
            looked: None,
            read: Duration::ZERO,
            watched: vec![],
            shown: Arc::default(),
        }
    }

    /// From now on a view reaches what can be taken back from it.
    pub(super) fn watch(&mut self, view: &ViewId) {
        self.watched.push(view.clone());
    }

    /// When the file is looked at though no view says anything.
    pub(super) fn look_at(&self) -> Option<Duration> {
        let looked = self.looked.filter(|_| self.kept.is_some() && !self.watched.is_empty())?;
        Some(looked + LOOK)
    }
}

async fn write(
    kept: Decisions,
    mut wanted: mpsc::UnboundedReceiver<Change>,
    events: mpsc::Sender<Event>,
    log: Arc<Log>,
) {
    while let Some(change) = wanted.recv().await {
        let kept = kept.clone();
        let changed = tokio::task::spawn_blocking(move || match change {
            Change::Remember(entry) => kept.remember(entry),
            Change::Forget(id) => kept.forget(|entry| entry.id() == id).map(drop),
        });
        if let Ok(Err(error)) = changed.await {
            log.write(LineKind::Error, "decisions", Words::of(&error));
        }
        if events.send(Event::DecisionsChanged).await.is_err() {
            return;
        }
    }
}

impl Driver {
    pub(crate) fn shown_decisions(&self) -> ShownDecisions {
        Arc::clone(&self.common.memory.shown)
    }

    /// Looks whether the file was changed, but not for every message of a busy view.
    pub(super) fn recall_sometimes(&mut self) {
        let now = self.common.now();
        if self.common.memory.looked.is_none_or(|looked| looked + GLANCE <= now) {
            self.recall();
        }
    }

    /// Takes in what the file says, if it is not what it said before: another process may have written it,
    /// or the operator at the command line. What is gone from it does not count for the next message.
    pub(super) fn recall(&mut self) {
        let now = self.common.now();
        self.common.memory.looked = Some(now);
        let Some(kept) = &self.common.memory.kept else { return };
        let stamp = kept.stamp();
        // Some of it may be too old by now.
        if stamp == self.common.memory.stamp && now < self.common.memory.read + OLD {
            return;
        }
        (self.common.memory.stamp, self.common.memory.read) = (stamp, now);
        if kept.is_outdated() {
            self.common.log.write(LineKind::Warning, "decisions", decisions::OUTDATED);
        }
        let mut entries = kept.read().unwrap_or_else(|error| {
            self.common.log.write(LineKind::Error, "decisions", Words::of(&error));
            vec![]
        });
        self.common.memory.under_way.iter().for_each(|change| change.apply(&mut entries));
        let before = std::mem::replace(&mut self.common.memory.entries, entries);
        self.take_in(&before);
    }

    /// Makes what is remembered now count, and what was remembered before no longer.
    fn take_in(&mut self, before: &[Remembered]) {
        let (mut taken, mut changed) = (vec![], vec![]);
        for (server, account) in &self.common.accounts {
            let own = |entry: &&Remembered| entry.is_for(server, &account.place);
            let after = &self.common.memory.entries;
            let gone = before.iter().filter(own).filter(|entry| !after.contains(entry));
            let new = after.iter().filter(own).filter(|entry| !before.contains(entry));
            let decided = self.common.decided.entry(server.clone()).or_default();
            let was = decided.clone();
            for entry in gone {
                decided.forget(&entry.subject);
                taken.push((server.clone(), entry.subject.clone()));
            }
            for entry in new {
                let always = if entry.yes { Decision::AllowAlways } else { Decision::DenyAlways };
                decided.remember(&entry.subject, always, &entry.said());
            }
            if was != *decided {
                changed.push(server.clone());
            }
        }
        changed.iter().for_each(|server| self.set_decided(server));
        taken.iter().for_each(|(server, subject)| self.end_reaching(server, subject));
        self.common.show_decisions();
    }

    /// Ends the views of a server that have what a person has taken back, be it a private address or a grant: a frame keeps
    /// the policy that it was loaded with.
    fn end_reaching(&mut self, server: &str, subject: &Subject) {
        if !matches!(subject, Subject::Nearby(_) | Subject::Grants(_)) {
            return;
        }
        let has_it = |seat: &Seat| match &seat.life {
            Life::Live(live) => {
                let Given { nearby, grants } = &live.prepared.given;
                let stands = self.common.given(&live.prepared);
                match subject {
                    Subject::Nearby(taken) => {
                        nearby.difference(&stands.nearby).any(|wish| taken.contains(wish))
                    }
                    Subject::Grants(taken) => {
                        grants.difference(&stands.grants).any(|grant| taken.contains(grant))
                    }
                    _ => false,
                }
            }
            _ => false,
        };
        let views = self.seats.iter().filter(|(_, seat)| seat.server == server && has_it(seat));
        let views: Vec<ViewId> = views.map(|(view, _)| view.clone()).collect();
        for view in views {
            if let Some((seat, common)) = self.seat(&view) {
                seat.take_back(common);
            }
        }
    }

    /// Views that have ended need not be watched.
    pub(super) fn watch_less(&mut self) {
        let views = &self.seats;
        self.common.memory.watched.retain(|view| views.get(view).is_some_and(Seat::is_live));
    }

    /// Takes a decision back, at once; false if there is none of this name.
    pub(super) fn forget_decision(&mut self, id: &DecisionId) -> bool {
        let listed = self.common.all_decisions();
        let Some((server, subject, shown)) = listed.into_iter().find(|(.., shown)| shown.id == *id)
        else {
            return false;
        };
        // It makes the host ask more, never less; so it waits for nothing.
        if let Some(audit) = self.common.ledger.audit() {
            audit.note(Record::forgot(&subject).of_server(&server));
        }
        self.common.log.write(
            LineKind::Forgotten,
            &server,
            words!("you are asked again before views {}", shown.words),
        );
        if let Some(decided) = self.common.decided.get_mut(&server) {
            decided.forget(&subject);
            self.set_decided(&server);
        }
        if shown.kept {
            self.common.change(Change::Forget(id.clone()));
        }
        self.common.ledger.unlearn(&server, &subject);
        self.end_reaching(&server, &subject);
        self.common.show_decisions();
        true
    }

    /// The file has the oldest change that was under way, or cannot have it.
    pub(super) fn decision_written(&mut self) {
        self.common.memory.under_way.pop_front();
        self.recall();
    }
}

impl Seat {
    /// Ends a view that reaches what a person has taken back.
    fn take_back(&mut self, common: &mut Common) {
        let now = common.now();
        if let Some(live) = self.live() {
            // It is not asked to save: while it did, it could still reach the address.
            let _ = live.session.handle(now, Input::Reloaded);
            live.session.close(now, Reason::TakenBack);
        }
        self.drive(common);
    }

    /// A person decided: if it is for longer, it is remembered as soon as that is written down.
    pub(super) fn keep_decision(
        &self,
        common: &mut Common,
        subject: Subject,
        said: &Claimed,
        choice: Choice,
    ) {
        if !choice.lasts() || !common.keeps(&self.server) {
            return;
        }
        let Some(account) = common.accounts.get(&self.server) else { return };
        let yes = choice.decision().is_yes();
        let entry = Remembered::now(&self.server, &account.place, subject, said, yes);
        self.hold(common, Held::Remember(Box::new(entry)));
    }
}

impl Common {
    /// Whether what is decided about a server for longer is still there after the end.
    pub(super) fn keeps(&self, server: &str) -> bool {
        let account = self.accounts.get(server);
        self.memory.kept.is_some() && account.is_some_and(|account| account.place.is_kept())
    }

    pub(super) fn remember(&mut self, entry: Remembered) {
        let words = words!("views may {} {}", always(entry.yes), Words::ours(&entry.words()));
        self.log.write(LineKind::Remembered, &entry.server, words);
        self.change(Change::Remember(entry));
        self.show_decisions();
    }

    /// Makes a change count at once, and the file follow.
    fn change(&mut self, change: Change) {
        change.apply(&mut self.memory.entries);
        if self.memory.changes.send(change.clone()).is_ok() {
            self.memory.under_way.push_back(change);
        }
    }

    /// Tells pages what can be taken back.
    pub(super) fn show_decisions(&self) {
        let all = self.all_decisions().into_iter().map(|(.., shown)| shown).collect();
        let mut shown = self.memory.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown != all {
            *shown = all;
            drop(shown);
            self.servers.changed();
        }
    }

    /// The tools of a decision that say something else of themselves now than when a person allowed them: for those it does
    /// not count.
    fn changed_since(&self, server: &str, subject: &Subject) -> Vec<String> {
        let single = |name: &String| match subject {
            Subject::Route { .. } => subject.clone(),
            _ => Subject::Tool(name.clone()),
        };
        let names: Vec<&String> = match subject {
            Subject::Route { tool, .. } => vec![tool],
            Subject::Tool(name) => vec![name],
            Subject::Tools(names) => names.iter().collect(),
            _ => return vec![],
        };
        let Some((server, decided)) = self.servers.get(server).zip(self.decided.get(server)) else {
            return vec![];
        };
        let now = server.tools().said(subject);
        let changed = |name: &&&String| !decided.changes(&single(name), &now).is_empty();
        names.iter().filter(changed).map(|name| (*name).clone()).collect()
    }

    /// Everything that counts: what is kept, and what was decided for as long as this host runs.
    fn all_decisions(&self) -> Vec<(String, Subject, ShownDecision)> {
        let mut all = vec![];
        for (server, account) in &self.accounts {
            let show = |subject: Subject, yes, kept| {
                let id = DecisionId::of(server, account.place.id(), &subject);
                let mut words = Words::ours(&decisions::words(&subject));
                let changed = self.changed_since(server, &subject);
                if !changed.is_empty() {
                    let changed = Words::ours(&decisions::quoted(&changed));
                    words = words!(
                        "{} (you are asked again, for it changed since: {})",
                        words,
                        changed
                    );
                }
                let shown = ShownDecision { id, server: Quoted::new(server), words, yes, kept };
                (server.clone(), subject, shown)
            };
            let own = |entry: &&Remembered| entry.is_for(server, &account.place);
            let kept: Vec<&Remembered> = self.memory.entries.iter().filter(own).collect();
            all.extend(kept.iter().map(|entry| show(entry.subject.clone(), entry.yes, true)));
            let Some(decided) = self.decided.get(server) else { continue };
            for (mut subject, yes) in decided.iter() {
                // The tools of one prompt are one decision when they are kept; here are the rest of them.
                for entry in &kept {
                    if let (Subject::Tools(rest), Subject::Tools(names)) =
                        (&mut subject, &entry.subject)
                    {
                        rest.retain(|name| !names.contains(name));
                    }
                }
                let known = kept.iter().any(|entry| entry.subject == subject);
                if !known && subject != Subject::Tools(BTreeSet::new()) {
                    all.push(show(subject, yes, false));
                }
            }
        }
        all.sort_by(|(one, subject, _), (other, object, _)| (one, subject).cmp(&(other, object)));
        all
    }
}

fn always(yes: bool) -> &'static str {
    if yes { "always" } else { "never" }
}

/// The least time between two looks at the file, while views talk.
const GLANCE: Duration = Duration::from_millis(100);
/// The same, while views that say nothing reach private addresses.
const LOOK: Duration = Duration::from_secs(1);
/// After how long it is read again, though it has not changed.
const OLD: Duration = Duration::from_secs(3_600);
