//! What the loop writes down, and what waits until it is: no effect happens that is not in the audit.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::sync::watch;
use transom::{
    host::{Input, Output, Question, Ruling, Task, ToolCall},
    policy::{Decision, Grantable, Subject},
    printed::Printed,
    violation::{Holder, Limit, Over, Quoted, Violation},
};

use super::{Driver, common::Common, model_calls::Step, seat::Seat};
use crate::{
    audit::{Audit, AuditError, Counts, Record},
    consent::Choice,
    decisions::Remembered,
    documents::Named,
    envelope::{Ask, Deed, ViewId},
    log::LineKind,
    server::Running,
    words,
    words::Words,
};

/// The loop's end of the audit.
pub(super) struct Ledger {
    audit: Option<Audit>,
    /// Effects, under the number of the row that must be written before they happen.
    held: BTreeMap<u64, (ViewId, Held)>,
    /// The last row that is written. Without an audit no effect has to wait.
    written: u64,
    counts: HashMap<ViewId, Counts>,
    /// Limits that were reached in this second, and have their row.
    limited: HashSet<(ViewId, Limit, Holder)>,
    /// When the counts become rows.
    pub(super) count_at: Option<Duration>,
    /// Why no row is written any more.
    failed: Option<AuditError>,
}

/// An effect that waits for its row.
pub(super) enum Held {
    /// A view, with the call of its tool unless the arguments of that are still being written.
    Open { call: ToolCall, writing: bool },
    /// The call of its tool, whose arguments are written now.
    Call(ToolCall),
    /// The end of that call, which a person does not want any more.
    Cancel(String),
    /// Something to do for a view.
    Perform { call: u64, task: Task },
    /// A call of a tool that the view offers, which gets these params.
    Offered { call: u64, name: Quoted, params: Box<RawValue> },
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
    /// A view, which runs this document.
    Run(Box<Running>),
    /// The same view, which is loaded anew with what a person gave it.
    RunAgain(Box<Running>),
    /// A question to a person whether the views of a server get this.
    AskGrants(BTreeSet<Grantable>, Box<Ask>),
    /// What they decided about it.
    Grant(BTreeSet<Grantable>, Choice),
    /// What a person decided about the private addresses that a document declares.
    Admit { document: Named, sources: BTreeSet<String>, choice: Choice },
    /// What a person decided for longer.
    Remember(Box<Remembered>),
    /// A call of the model, or the question about it.
    Model { tool: String, arguments: Option<Printed>, step: Step },
    /// A call that ends what this server keeps for the view, which may be gone by now.
    Release { server: String, call: ToolCall },
}

impl Held {
    /// The call that it is done for.
    fn call(&self) -> Option<u64> {
        match self {
            Self::Perform { call, .. } | Self::Click { call, .. } | Self::Deed { call, .. } => {
                Some(*call)
            }
            _ => None,
        }
    }

    /// The row of an effect that does not happen, because it is not wanted any more.
    fn dropped(&self) -> Option<Record> {
        match self {
            Self::Offered { call, .. } => Some(Record::dropped(*call).of_offered()),
            held => held.call().map(Record::dropped),
        }
    }

    /// Whether it happens though the session has ended: what a person decided counts for the next view as well, what a tool
    /// answers is shown as text where there is no view, and what a server keeps for a view is ended after it.
    fn outlives_its_session(&self) -> bool {
        matches!(
            self,
            Self::Remember(_)
                | Self::Open { .. }
                | Self::Call(_)
                | Self::Cancel(_)
                | Self::Release { .. }
        )
    }

    /// Whether it is for the view that is in the seat now, and not for what opens there next.
    pub(super) fn is_for_this_view(&self) -> bool {
        matches!(
            self,
            Self::Open { .. }
                | Self::Call(_)
                | Self::Cancel(_)
                | Self::First { .. }
                | Self::Review { .. }
                | Self::Run(_)
                | Self::RunAgain(_)
                | Self::AskGrants(..)
                | Self::Grant(..)
                | Self::Admit { .. }
        )
    }

    /// The row without which it does not happen.
    pub(super) fn record(&self) -> Record {
        match self {
            Self::Open { call, .. } | Self::Call(call) => {
                Record::opened(&call.name, call.arguments.as_ref().map_or("", Printed::get))
            }
            Self::Cancel(tool) => Record::cancelled(tool),
            Self::Perform { call, task } => Record::effect(*call, task),
            Self::Offered { call, name, params } => Record::offered(*call, name, params),
            Self::Ask(question, _) => Record::asked(question.id, &question.subject),
            Self::First { document, wishes: Some(wishes), .. } => Record::wants(document, wishes),
            Self::First { document, wishes: None, .. } => Record::shown(document),
            Self::Click { call, deed } => Record::click(*call, deed.url.as_deref()),
            Self::Deed { call, .. } => Record::clicked(*call, Choice::Allow),
            Self::Review { document, choice } => Record::reviewed(document, *choice),
            Self::Run(running) | Self::RunAgain(running) => Record::runs(running),
            Self::AskGrants(grants, _) => Record::wanted(grants),
            Self::Grant(grants, choice) => Record::granted(grants, *choice),
            Self::Admit { document, sources, choice } => {
                Record::admitted(document, sources, *choice)
            }
            Self::Remember(entry) => Record::remembered(&entry.subject, entry.yes),
            Self::Model { tool, arguments, .. } => {
                Record::by_model(tool, arguments.as_ref().map(Printed::get))
            }
            Self::Release { call, .. } => Record::released(call),
        }
    }
}

impl Ledger {
    pub(super) fn new(audit: Option<Audit>) -> Self {
        Self {
            written: if audit.is_some() { 0 } else { u64::MAX },
            audit,
            held: BTreeMap::new(),
            counts: HashMap::new(),
            limited: HashSet::new(),
            count_at: None,
            failed: None,
        }
    }

    pub(super) fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// Whether as much waits to be written as may. The loop hears nothing more until it is.
    pub(super) fn is_full(&self) -> bool {
        self.failed.is_none() && self.audit.as_ref().is_some_and(|audit| audit.waiting() > WAITING)
    }

    /// Keeps an effect until the row of this number is written. One without a row comes after all others: it happens next
    /// without an audit, and not at all when the audit has failed.
    pub(super) fn hold(&mut self, row: Option<u64>, view: ViewId, held: Held) {
        let last = self.held.last_key_value().map_or(0, |(row, _)| *row);
        let last = if self.failed.is_some() { last.max(self.written) } else { last };
        self.held.insert(row.unwrap_or(last + 1), (view, held));
    }

    /// Whether nothing more is written.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The next effect that waits no longer, and whether its row is written. If it is not, it never will be.
    fn next(&mut self) -> Option<(ViewId, Held, bool)> {
        let entry = self.held.first_entry()?;
        let written = *entry.key() <= self.written;
        (written || self.failed.is_some())
            .then(|| entry.remove())
            .map(|(view, held)| (view, held, written))
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

    /// Whether an effect waits to be written down that is decided already.
    pub(super) fn holds_effects(&self) -> bool {
        self.held.values().any(|(_, held)| held.is_effect())
    }

    /// How far the writer has come, whenever it comes further.
    pub(super) fn state(&self) -> Option<watch::Receiver<crate::audit::State>> {
        self.audit.as_ref().map(Audit::state)
    }
}

impl Seat {
    /// Writes something about the view down.
    pub(super) fn note(&self, common: &Common, record: impl FnOnce() -> Record) -> Option<u64> {
        common.note(&self.server, &self.id, record)
    }

    /// Writes down what a session says, before it is carried out.
    pub(super) fn note_output(&mut self, common: &mut Common, output: &Output) {
        self.note_step(common, output);
        match output {
            Output::Waits { which, method, about, question } => {
                self.note(common, || Record::waits(which, method, about.as_str(), *question));
            }
            // A flood is one row, and a number.
            Output::Judged { ruling: Ruling::Refused(Violation::OverLimit(over)), .. }
                if common.ledger.audit.is_some() && !self.is_first(common, over) =>
            {
                self.count(common, |counts| counts.limited += 1);
            }
            Output::Judged { which, method, about, size, ruling } => {
                self.note(common, || Record::judged(which, *method, about.as_str(), *size, ruling));
            }
            Output::Unheard { question, decision, .. } => {
                self.note(common, || Record::decided(Some(*question), (*decision).into(), false));
            }
            Output::Resize(_) => self.count(common, |counts| counts.sizes += 1),
            Output::Log { .. } => self.count(common, |counts| counts.logs += 1),
            Output::Closed(reason) => {
                let why = crate::consent::closed(*reason);
                self.flush_counts(common);
                self.note(common, || Record::closed(why));
                self.count_end();
                self.drop_held(common, |held| !held.outlives_its_session());
            }
            Output::Withdraw { question } => {
                self.drop_held(
                    common,
                    |held| matches!(held, Held::Ask(asked, _) if asked.id == *question),
                );
            }
            Output::Abort { call, .. } => {
                self.drop_held(common, |held| held.call() == Some(*call));
            }
            Output::AppAnswer { call, outcome } => self.note_called(common, *call, outcome),
            _ => {}
        }
    }

    /// Lets the driver carry an effect out as soon as it is written down.
    pub(super) fn hold(&self, common: &mut Common, held: Held) {
        let row = match common.ledger.failed {
            Some(_) => None,
            None => self.note(common, || held.record()),
        };
        common.ledger.hold(row, self.id.clone(), held);
    }

    /// Counts what is not worth a row of its own.
    pub(super) fn count(&self, common: &mut Common, count: impl FnOnce(&mut Counts)) {
        if common.ledger.audit.is_none() {
            return;
        }
        count(common.ledger.counts.entry(self.id.clone()).or_default());
        let due = common.now() + SECOND;
        common.ledger.count_at.get_or_insert(due);
    }

    /// Whether the view has not reached this limit in this second yet.
    fn is_first(&self, common: &mut Common, over: &Over) -> bool {
        let due = common.now() + SECOND;
        common.ledger.count_at.get_or_insert(due);
        common.ledger.limited.insert((self.id.clone(), over.limit, over.of))
    }

    /// Makes a row of what was counted.
    fn flush_counts(&self, common: &mut Common) {
        if let Some(counts) = common.ledger.counts.remove(&self.id) {
            self.note(common, || Record::counted(counts));
        }
    }

    /// Forgets effects that the view does not want any more.
    pub(super) fn drop_held(&self, common: &mut Common, unwanted: impl Fn(&Held) -> bool) {
        let is_meant = |of: &ViewId, held: &Held| *of == self.id && unwanted(held);
        let held = &mut common.ledger.held;
        let dropped: Vec<(ViewId, Held)> =
            held.extract_if(.., |_, (of, held)| is_meant(of, held)).map(|(_, held)| held).collect();
        for row in dropped.iter().filter_map(|(_, held)| held.dropped()) {
            self.note(common, || row);
        }
    }
}

impl Driver {
    /// The writer has come further, or to its end.
    pub(super) fn written(&mut self, written: u64, failed: Option<&AuditError>) {
        self.common.ledger.written = written;
        self.carry_out_held();
        let Some(error) = failed.filter(|_| self.common.ledger.failed.is_none()) else { return };
        self.common.ledger.failed = Some(error.clone());
        let words = words!("{}; nothing more is done for any view", Words::of(error));
        self.common.log.write(LineKind::Audit, "transom", words);
        self.carry_out_held();
    }

    /// Carries out the effects that are written down, and refuses those that never will be.
    pub(super) fn carry_out_held(&mut self) {
        while let Some((view, held, written)) = self.common.ledger.next() {
            match written {
                true => self.release(&view, held),
                false => self.deny(&view, held),
            }
            if let Some((seat, common)) = self.seat(&view) {
                seat.drive(common);
            }
        }
    }

    /// Makes rows of what was counted.
    pub(super) fn write_counts(&mut self) {
        self.common.ledger.count_at = None;
        self.common.ledger.limited.clear();
        let views: Vec<ViewId> = self.common.ledger.counts.keys().cloned().collect();
        for view in views {
            match self.seat(&view) {
                Some((seat, common)) => seat.flush_counts(common),
                None => drop(self.common.ledger.counts.remove(&view)),
            }
        }
    }

    fn release(&mut self, view: &ViewId, held: Held) {
        let held = match held {
            Held::Review { choice, .. } => return self.reviewed(view, choice),
            Held::Admit { sources, choice, .. } => return self.admitted(view, sources, choice),
            Held::Grant(grants, choice) => return self.granted(view, grants, choice),
            Held::Remember(entry) => return self.common.remember(*entry),
            Held::Release { server, call } => return self.common.release(&server, &call),
            Held::Model { step, .. } => return self.model_step(view, step, true),
            held => held,
        };
        let Some((seat, common)) = self.seat(view) else { return };
        match held {
            Held::Open { call, writing } => seat.begin_written(common, &call, writing),
            Held::Call(call) => seat.call_opening(common, &call),
            Held::Cancel(_) => seat.cancel_written(common),
            Held::Perform { call, task } => seat.perform(common, call, task),
            Held::Offered { call, .. } => seat.send_offered(common, call),
            Held::Ask(question, late) => seat.put_question(common, &question, late),
            Held::First { wishes, ask, .. } => seat.put_first_question(common, wishes, ask),
            Held::Click { call, deed } => seat.ask_click(common, call, deed),
            Held::Deed { call, deed } => seat.deed(common, call, deed),
            Held::Run(_) => seat.run_written(common),
            Held::RunAgain(running) => seat.run_again_written(common, *running),
            Held::AskGrants(grants, ask) => seat.put_grants(common, grants, *ask),
            Held::Review { .. }
            | Held::Admit { .. }
            | Held::Grant(..)
            | Held::Remember(_)
            | Held::Model { .. }
            | Held::Release { .. } => {}
        }
    }

    /// There is no audit, so nothing happens.
    fn deny(&mut self, view: &ViewId, held: Held) {
        if let Held::Model { step, .. } = held {
            return self.model_step(view, step, false);
        }
        let Some((seat, common)) = self.seat(view) else { return };
        match held {
            // A view may be told of this one, and need not know where the audit is.
            Held::Call(_) => seat.not_begun(common, UNWRITTEN),
            // The person at the page reads which file it is, and what is wrong with it.
            Held::Open { .. } => {
                let words = common.ledger.failed.as_ref().map(AuditError::to_string);
                seat.not_begun(common, words.as_deref().unwrap_or(UNWRITTEN));
            }
            Held::Perform { call, .. } | Held::Click { call, .. } | Held::Deed { call, .. } => {
                seat.settle(common, call, Err(UNWRITTEN));
            }
            Held::Offered { call, .. } => seat.give_up_offered(call),
            Held::Ask(question, _) => {
                let decision = Decision::Deny;
                seat.input(common, Input::Decision { question: question.id, decision });
            }
            Held::First { .. } | Held::Review { .. } | Held::Run(_) | Held::Admit { .. } => {
                seat.unreviewed(common, UNWRITTEN);
            }
            Held::Cancel(_) => seat.not_cancelled(common, UNWRITTEN),
            // The view goes on as it is.
            _ => {}
        }
    }
}

/// How many rows wait to be written before the loop does.
const WAITING: u64 = 4_096;
pub(super) const UNWRITTEN: &str = "the audit cannot be written";
const SECOND: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
