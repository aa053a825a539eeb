//! What the loop writes down, and what waits until it is: no effect happens that is not in the audit.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    time::Duration,
};

use tokio::sync::watch;
use transom::{
    host::{Input, Output, Question, Ruling, Task},
    policy::{Decision, Subject},
    violation::{Holder, Limit, Over, Violation},
};

use super::Driver;
use crate::{
    audit::{Audit, AuditError, Counts, Record},
    consent::Choice,
    decisions::Remembered,
    envelope::{Ask, Deed, ViewId},
    server::Named,
    words,
    words::Words,
};

/// The loop's end of the audit.
pub(super) struct Ledger {
    audit: Option<Audit>,
    /// Effects, under what must be written before they happen.
    held: BTreeMap<u64, (ViewId, Held)>,
    counts: HashMap<ViewId, Counts>,
    /// Limits that were reached in this second, and have their row.
    limited: HashSet<(ViewId, Limit, Holder)>,
    /// When the counts become rows.
    pub(super) count_at: Option<Duration>,
    failed: bool,
}

/// An effect that waits for its row.
pub(super) enum Held {
    /// Something to do for a view.
    Perform { call: u64, task: Task },
    /// A question to a person, and whether its view has stopped waiting for the answer.
    Ask(Box<Question>, bool),
    /// A question to a person before a view is shown: about its document, or about these private addresses.
    First { document: Named, wishes: Option<BTreeSet<String>>, ask: Box<Ask> },
    /// A question for the click that the browser wants.
    Click { call: u64, deed: Deed },
    /// What that click allowed.
    Deed { call: u64, deed: Deed },
    /// What a person decided about a changed document.
    Review { document: Named, choice: Choice },
    /// A view, which runs this document and reaches these private addresses.
    Run(Named, BTreeSet<String>),
    /// What a person decided about the private addresses that a document declares.
    Admit { document: Named, sources: BTreeSet<String>, choice: Choice },
    /// What a person decided for longer.
    Remember(Box<Remembered>),
}

impl Held {
    /// The call that it is done for.
    fn call(&self) -> Option<u64> {
        match self {
            Self::Perform { call, .. } | Self::Click { call, .. } | Self::Deed { call, .. } => {
                Some(*call)
            }
            Self::Ask(..)
            | Self::First { .. }
            | Self::Review { .. }
            | Self::Run(..)
            | Self::Admit { .. }
            | Self::Remember(_) => None,
        }
    }

    /// The row without which it does not happen.
    fn record(&self) -> Record {
        match self {
            Self::Perform { call, task } => Record::effect(*call, task),
            Self::Ask(question, _) => Record::asked(question.id, &question.subject),
            Self::First { document, wishes: Some(wishes), .. } => Record::wants(document, wishes),
            Self::First { document, wishes: None, .. } => Record::shown(document),
            Self::Click { call, deed } => Record::click(*call, deed.url.as_deref()),
            Self::Deed { call, .. } => Record::clicked(*call, Choice::Allow),
            Self::Review { document, choice } => Record::reviewed(document, *choice),
            Self::Run(document, reaches) => Record::runs(document, reaches),
            Self::Admit { document, sources, choice } => {
                Record::admitted(document, sources, *choice)
            }
            Self::Remember(entry) => Record::remembered(&entry.subject, entry.yes),
        }
    }
}

impl Ledger {
    pub(super) fn new(audit: Option<Audit>) -> Self {
        Self {
            audit,
            held: BTreeMap::new(),
            counts: HashMap::new(),
            limited: HashSet::new(),
            count_at: None,
            failed: false,
        }
    }

    pub(super) fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// Whether as much waits to be written as may. The loop hears nothing more until it is.
    pub(super) fn is_full(&self) -> bool {
        !self.failed && self.audit.as_ref().is_some_and(|audit| audit.waiting() > WAITING)
    }

    /// The view has stopped waiting for the answer to a question that is not on the page yet: it is late from the start.
    pub(super) fn mark_late(&mut self, view: &ViewId, question: u64) {
        for (of, held) in self.held.values_mut() {
            if let Held::Ask(asked, late) = held
                && of == view
                && asked.id == question
            {
                *late = true;
            }
        }
    }

    /// Forgets what a person decided for longer and has taken back before it was written down: it must not come back.
    pub(super) fn unlearn(&mut self, server: &str, subject: &Subject) {
        let is_meant = |entry: &Remembered| {
            let same = match (&entry.subject, subject) {
                // Tools are decided about one by one, whichever of them one prompt had together.
                (Subject::Tools(some), Subject::Tools(gone)) => !some.is_disjoint(gone),
                (some, gone) => some == gone,
            };
            same && entry.server == server
        };
        self.held.retain(|_, (_, held)| !matches!(held, Held::Remember(entry) if is_meant(entry)));
    }

    /// How far the writer has come, whenever it comes further.
    pub(super) fn state(&self) -> Option<watch::Receiver<crate::audit::State>> {
        self.audit.as_ref().map(Audit::state)
    }
}

impl Driver {
    /// Writes something about a view down.
    pub(super) fn note(&self, view: &ViewId, record: impl FnOnce() -> Record) -> Option<u64> {
        let audit = self.ledger.audit.as_ref()?;
        let server = self.views.get(view).map_or("", |seat| &*seat.server);
        Some(audit.note(record().of(server, view.as_str())))
    }

    /// Writes down what a session says, before it is carried out.
    pub(super) fn note_output(&mut self, view: &ViewId, output: &Output) {
        match output {
            Output::Waits { which, method, about, question } => {
                self.note(view, || Record::waits(which, method, about.as_str(), *question));
            }
            // A flood is one row, and a number.
            Output::Judged { ruling: Ruling::Refused(Violation::OverLimit(over)), .. }
                if self.ledger.audit.is_some() && !self.is_first(view, over) =>
            {
                self.count(view, |counts| counts.limited += 1);
            }
            Output::Judged { which, method, about, size, ruling } => {
                self.note(view, || Record::judged(which, *method, about.as_str(), *size, ruling));
            }
            Output::Unheard { question, decision, .. } => {
                self.note(view, || Record::decided(Some(*question), (*decision).into(), false));
            }
            Output::Resize(_) => self.count(view, |counts| counts.sizes += 1),
            Output::Log { .. } => self.count(view, |counts| counts.logs += 1),
            Output::Closed(reason) => {
                let why = crate::consent::closed(*reason);
                self.flush_counts(view);
                self.note(view, || Record::closed(why));
                if let Some(seat) = self.views.get_mut(view) {
                    seat.open_row = false;
                }
                // What a person decided outlives the view that it was asked for.
                self.drop_held(view, |held| !matches!(held, Held::Remember(_)));
            }
            Output::Withdraw { question } => {
                self.drop_held(
                    view,
                    |held| matches!(held, Held::Ask(asked, _) if asked.id == *question),
                );
            }
            Output::Abort { call, .. } => {
                self.drop_held(view, |held| held.call() == Some(*call));
            }
            _ => {}
        }
    }

    /// Carries an effect out as soon as it is written down.
    pub(super) fn hold(&mut self, view: &ViewId, held: Held) {
        if self.ledger.failed {
            return self.deny(view, held);
        }
        let ticket = self.note(view, || held.record());
        match ticket {
            Some(ticket) => drop(self.ledger.held.insert(ticket, (view.clone(), held))),
            None => self.release(view, held),
        }
    }

    /// The writer has come further, or to its end.
    pub(super) fn written(&mut self, written: u64, failed: Option<&AuditError>) {
        while let Some(entry) = self.ledger.held.first_entry()
            && *entry.key() <= written
        {
            let (view, held) = entry.remove();
            self.release(&view, held);
            self.drive(&view);
        }
        let Some(error) = failed.filter(|_| !self.ledger.failed) else { return };
        self.ledger.failed = true;
        let words = words!("{}; nothing more is done for any view", Words::of(error));
        self.log.write("audit", "transom", words);
        for (view, held) in std::mem::take(&mut self.ledger.held).into_values() {
            self.deny(&view, held);
        }
    }

    /// Counts what is not worth a row of its own.
    pub(super) fn count(&mut self, view: &ViewId, count: impl FnOnce(&mut Counts)) {
        if self.ledger.audit.is_none() {
            return;
        }
        count(self.ledger.counts.entry(view.clone()).or_default());
        let due = self.now() + SECOND;
        self.ledger.count_at.get_or_insert(due);
    }

    /// Whether a view has not reached this limit in this second yet.
    fn is_first(&mut self, view: &ViewId, over: &Over) -> bool {
        let due = self.now() + SECOND;
        self.ledger.count_at.get_or_insert(due);
        self.ledger.limited.insert((view.clone(), over.limit, over.of))
    }

    /// Makes rows of what was counted.
    pub(super) fn write_counts(&mut self) {
        self.ledger.count_at = None;
        self.ledger.limited.clear();
        let views: Vec<ViewId> = self.ledger.counts.keys().cloned().collect();
        views.iter().for_each(|view| self.flush_counts(view));
    }

    fn flush_counts(&mut self, view: &ViewId) {
        if let Some(counts) = self.ledger.counts.remove(view) {
            self.note(view, || Record::counted(counts));
        }
    }

    fn release(&mut self, view: &ViewId, held: Held) {
        match held {
            Held::Perform { call, task } => self.perform(view, call, task),
            Held::Ask(question, late) => self.put_question(view, &question, late),
            Held::First { wishes, ask, .. } => self.put_first_question(view, wishes, ask),
            Held::Click { call, deed } => self.ask_click(view, call, deed),
            Held::Deed { call, deed } => self.deed(view, call, deed),
            Held::Review { choice, .. } => self.reviewed(view, choice),
            Held::Run(..) => self.run_written(view),
            Held::Admit { sources, choice, .. } => self.admitted(view, sources, choice),
            Held::Remember(entry) => self.remember(*entry),
        }
    }

    /// There is no audit, so nothing happens.
    fn deny(&mut self, view: &ViewId, held: Held) {
        match held {
            Held::Perform { call, .. } | Held::Click { call, .. } | Held::Deed { call, .. } => {
                self.settle(view, call, Err(UNWRITTEN));
            }
            Held::Ask(question, _) => {
                let decision = Decision::Deny;
                self.input(view, Input::Decision { question: question.id, decision });
            }
            Held::First { .. } | Held::Review { .. } | Held::Run(..) | Held::Admit { .. } => {
                self.unreviewed(view, UNWRITTEN);
            }
            Held::Remember(_) => {}
        }
    }

    /// Forgets effects that nobody wants any more.
    pub(super) fn drop_held(&mut self, view: &ViewId, unwanted: impl Fn(&Held) -> bool) {
        let dropped: Vec<Held> = self
            .ledger
            .held
            .extract_if(.., |_, (of, held)| of == view && unwanted(held))
            .map(|(_, (_, held))| held)
            .collect();
        for held in dropped {
            if let Some(call) = held.call() {
                self.note(view, || Record::dropped(call));
            }
        }
    }
}

/// How many rows wait to be written before the loop does.
const WAITING: u64 = 4_096;
const UNWRITTEN: &str = "the audit cannot be written";
const SECOND: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
