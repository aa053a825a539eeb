//! What a person agrees to before a view is shown: its document, and the private addresses that it declares.

use std::collections::BTreeSet;

use transom::{
    policy::{Claimed, Decision, Subject},
    violation::Quoted,
};

use super::{
    Driver,
    common::Common,
    ledger::Held,
    seat::{Life, Seat},
};
use crate::{
    consent::{self, Choice},
    envelope::{Ask, ToPage, ViewId},
    grants,
    log::LineKind,
    server::{Doubt, Prepared},
    words,
    words::Words,
};

impl Seat {
    /// Lets a document run, unless a person has to agree to it first (H-49).
    pub(super) fn look_over(&mut self, common: &mut Common, prepared: Box<Prepared>) {
        let id = common.first_question_id();
        let Some(doubt) = prepared.doubt() else { return self.run_or_ask(common, prepared) };
        let lasts = common.keeps(&self.server);
        let ask = consent::doubted(&self.server, &self.tool, &doubt, id, lasts);
        let changes: Vec<&str> = ask.changes.iter().map(Words::as_str).collect();
        let words = words!("{} {}", ask.text, Words::ours(&changes.join("; ")));
        let document = prepared.named();
        self.life = Life::Judged(prepared);
        common.log.write(LineKind::Asked, &self.name(), words);
        self.hold(common, Held::First { document, wishes: None, ask: Box::new(ask) });
    }

    /// That a person is asked before a view is shown is written down: about its document, or about private addresses.
    pub(super) fn put_first_question(
        &mut self,
        common: &mut Common,
        wishes: Option<BTreeSet<String>>,
        ask: Box<Ask>,
    ) {
        let Some(prepared) = self.take_judged() else { return };
        let is_open = |wish: &String| common.nearby(&self.server, wish).is_none();
        self.life = match wishes {
            // A person answered the same in another view meanwhile.
            Some(wishes) if !wishes.iter().any(is_open) => {
                return self.run_or_ask(common, prepared);
            }
            Some(wishes) => Life::Admitting(prepared, ask.clone(), wishes),
            None => Life::Judging(prepared, ask.clone()),
        };
        self.say(common, &ToPage::Ask(ask));
        self.flush(common);
    }

    /// A person has decided about what changed in a document. It counts when it is written down.
    pub(super) fn judge(&mut self, common: &mut Common, choice: Choice) {
        if let Some((prepared, _, sources)) = self.take_admitting() {
            let document = prepared.named();
            self.life = Life::Judged(prepared);
            return self.hold(common, Held::Admit { document, sources, choice });
        }
        let Some(prepared) = self.take_judged() else { return };
        let document = prepared.named();
        self.life = Life::Judged(prepared);
        self.hold(common, Held::Review { document, choice });
    }

    /// What a person decided about a document is written down; whether it was a yes, which is remembered.
    fn reviewed(&mut self, common: &mut Common, choice: Choice) -> bool {
        let Some(mut prepared) = self.take_judged() else { return false };
        let changing = choice == Choice::AllowChanging;
        if !choice.decision().is_yes() {
            let words = match prepared.doubt() {
                Some(Doubt::Unpinned(_)) => "you did not agree to it",
                _ => "you did not agree to what has changed in it",
            };
            self.no_view(common, words);
            return false;
        }
        if let Err(error) = prepared.agree(changing) {
            self.no_view(common, Words::of(&error).as_str());
            return false;
        }
        self.run_or_ask(common, prepared);
        true
    }

    /// A person decided about the same document in another view.
    fn review_too(&mut self, common: &mut Common, choice: Choice) {
        let Life::Judging(_, ask) = &self.life else { return };
        let id = ask.id.clone();
        self.say(common, &ToPage::Withdraw { id });
        self.judge(common, choice);
        self.flush(common);
    }

    /// Runs a view, once it is written down which document that is.
    pub(super) fn run_view(&mut self, common: &mut Common, prepared: Box<Prepared>) {
        let running = prepared.running();
        self.life = Life::Judged(prepared);
        self.hold(common, Held::Run(Box::new(running)));
    }

    /// Which document runs is written down.
    pub(super) fn run_written(&mut self, common: &mut Common) {
        let Some(mut prepared) = self.take_judged() else { return };
        // Meanwhile a person may have taken back what its frame was given.
        if !prepared.given.is_within(&common.given(&prepared)) {
            return self.run_or_ask(common, prepared);
        }
        if let Err(error) = prepared.pin() {
            return self.no_view(common, Words::of(&error).as_str());
        }
        if prepared.doubt().is_some() {
            return self.look_over(common, prepared);
        }
        self.begin_live(common, *prepared);
    }

    /// Runs a document, unless it declares private addresses that no person has decided about: then a person
    /// is asked, and nothing runs meanwhile.
    pub(super) fn run_or_ask(&mut self, common: &mut Common, prepared: Box<Prepared>) {
        let id = common.first_question_id();
        let is_open = |source: &String| common.nearby(&self.server, source).is_none();
        let open: BTreeSet<String> = prepared.nearby().into_iter().filter(is_open).collect();
        // More than a person would read is not asked for, and not given.
        if open.is_empty() || grants::purposes(&open).len() > NEARBY {
            return self.begin_with(common, prepared, BTreeSet::new());
        }
        let (server, tool) = (Quoted::new(&self.server), Quoted::new(&self.tool));
        let lasts = common.keeps(&self.server);
        let ask = consent::nearby(&server, &tool, &open, id, lasts);
        let shown = ask.preview.as_deref().unwrap_or_default().replace('\n', ", ");
        let words = words!("{} {}", ask.text, Words::ours(&shown));
        let document = prepared.named();
        self.life = Life::Judged(prepared);
        common.log.write(LineKind::Asked, &self.name(), words);
        self.hold(common, Held::First { document, wishes: Some(open), ask: Box::new(ask) });
    }

    /// Runs a document with the private addresses that a person agreed to, now or before.
    pub(super) fn begin_with(
        &mut self,
        common: &mut Common,
        mut prepared: Box<Prepared>,
        once: BTreeSet<String>,
    ) {
        prepared.once.nearby = once;
        let given = common.given(&prepared);
        if let Err(error) = prepared.give(given, &common.sandbox) {
            return self.no_view(common, Words::of(&error).as_str());
        }
        self.run_view(common, prepared);
    }

    /// Looks again at private addresses, about which a person decided in another view.
    fn admit_too(&mut self, common: &mut Common) {
        let Some((prepared, ask, _)) = self.take_admitting() else { return };
        self.say(common, &ToPage::Withdraw { id: ask.id });
        self.run_or_ask(common, prepared);
    }

    /// The document that a person decides about, or has decided about.
    fn judged(&self) -> Option<&Prepared> {
        match &self.life {
            Life::Judging(prepared, _) | Life::Judged(prepared) => Some(prepared),
            _ => None,
        }
    }

    pub(super) fn take_admitting(&mut self) -> Option<(Box<Prepared>, Box<Ask>, BTreeSet<String>)> {
        match std::mem::replace(&mut self.life, Life::Opening) {
            Life::Admitting(prepared, ask, sources) => Some((prepared, ask, sources)),
            other => {
                self.life = other;
                None
            }
        }
    }

    /// What a person decided about a document cannot count.
    pub(super) fn unreviewed(&mut self, common: &mut Common, words: &str) {
        if self.take_judged().is_some() {
            self.no_view(common, words);
        }
    }

    pub(super) fn take_judged(&mut self) -> Option<Box<Prepared>> {
        match std::mem::replace(&mut self.life, Life::Opening) {
            Life::Judging(prepared, _) | Life::Judged(prepared) => Some(prepared),
            other => {
                self.life = other;
                None
            }
        }
    }
}

impl Driver {
    /// What a person decided about a document is written down. A yes counts for every view that waits for the same.
    pub(super) fn reviewed(&mut self, view: &ViewId, choice: Choice) {
        let Some(prepared) = self.seats.get(view).and_then(Seat::judged) else { return };
        let same = |life: &Life| matches!(life, Life::Judging(other, _) if other.is_same(prepared));
        let waiting = self.seats.iter().filter(|(other, seat)| *other != view && same(&seat.life));
        let waiting: Vec<ViewId> = waiting.map(|(view, _)| view.clone()).collect();
        if !self.seat(view).is_some_and(|(seat, common)| seat.reviewed(common, choice)) {
            return;
        }
        // Each has a row of its own before it runs.
        for view in waiting {
            if let Some((seat, common)) = self.seat(&view) {
                seat.review_too(common, choice);
            }
        }
    }

    /// What a person decided about private addresses is written down. The view runs in any case: without
    /// them after a no.
    pub(super) fn admitted(&mut self, view: &ViewId, sources: BTreeSet<String>, choice: Choice) {
        let Some((seat, common)) = self.seat(view) else { return };
        let Some(prepared) = seat.take_judged() else { return };
        let decision = choice.decision();
        match decision {
            Decision::Allow | Decision::AllowView => {
                return seat.begin_with(common, prepared, sources);
            }
            Decision::Deny => return seat.begin_with(common, prepared, BTreeSet::new()),
            Decision::AllowAlways | Decision::AllowAll | Decision::DenyAlways => {}
        }
        let (server, subject) = (seat.server.clone(), Subject::Nearby(sources));
        let decided = common.decided.entry(server.clone()).or_default();
        decided.remember(&subject, decision, &Claimed::default());
        self.tell_decided(&server);
        let Some((seat, common)) = self.seat(view) else { return };
        seat.keep_decision(common, subject, &Claimed::default(), choice);
        // What is agreed to for longer counts for as long as that does.
        seat.begin_with(common, prepared, BTreeSet::new());
        let waits =
            |seat: &&mut Seat| matches!(seat.life, Life::Admitting(..)) && seat.server == server;
        for seat in self.seats.values_mut().filter(waits) {
            seat.admit_too(&mut self.common);
        }
    }
}

/// The most private addresses of a document that a person is asked about.
const NEARBY: usize = 20;
