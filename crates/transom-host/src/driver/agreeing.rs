//! What a person agrees to before a view is shown: its document, and the private addresses that it declares.

use std::collections::BTreeSet;

use transom::{
    policy::{Claimed, Decision, Subject},
    violation::Quoted,
};

use super::{
    Driver,
    ledger::Held,
    seat::{Life, Seat},
};
use crate::{
    consent::{self, Choice},
    envelope::{Ask, ToPage, ViewId},
    grants,
    server::{Doubt, Prepared},
    words,
    words::Words,
};

impl Driver {
    /// The name of the next question that is asked before a view is shown. None is used twice: a click that is under way
    /// while a question is replaced must not answer the new one.
    pub(super) fn first_question_id(&mut self) -> String {
        self.first_questions += 1;
        format!("first-{}", self.first_questions)
    }

    /// Lets a document run, unless a person has to agree to it first (H-49).
    pub(super) fn look_over(&mut self, view: &ViewId, prepared: Box<Prepared>) {
        let id = self.first_question_id();
        let Some(seat) = self.views.get_mut(view) else { return };
        let Some(doubt) = prepared.doubt() else { return self.run_or_ask(view, prepared) };
        let ask = consent::doubted(&seat.server, &seat.tool, &doubt, id);
        let changes: Vec<&str> = ask.changes.iter().map(Words::as_str).collect();
        let words = words!("{} {}", ask.text, Words::ours(&changes.join("; ")));
        let document = prepared.named();
        seat.life = Life::Judged(prepared);
        self.log.write("asked", &self.name(view), words);
        self.hold(view, Held::First { document, wishes: None, ask: Box::new(ask) });
    }

    /// That a person is asked before a view is shown is written down: about its document, or about private addresses.
    pub(super) fn put_first_question(
        &mut self,
        view: &ViewId,
        wishes: Option<BTreeSet<String>>,
        ask: Box<Ask>,
    ) {
        let Some(prepared) = self.take_judged(view) else { return };
        let Some(seat) = self.views.get_mut(view) else { return };
        let decided = self.decided.get(&seat.server);
        let is_open = |wish: &String| decided.and_then(|all| all.nearby(wish)).is_none();
        seat.life = match wishes {
            // Somebody answered the same in another view meanwhile.
            Some(wishes) if !wishes.iter().any(is_open) => return self.run_or_ask(view, prepared),
            Some(wishes) => Life::Admitting(prepared, ask.clone(), wishes),
            None => Life::Judging(prepared, ask.clone()),
        };
        self.say(view, &ToPage::Ask(ask));
        self.flush(view);
    }

    /// A person has decided about what changed in a document. It counts when it is written down.
    pub(super) fn judge(&mut self, view: &ViewId, choice: Choice) {
        if let Some((prepared, _, sources)) = self.take_admitting(view) {
            let document = prepared.named();
            if let Some(seat) = self.views.get_mut(view) {
                seat.life = Life::Judged(prepared);
            }
            return self.hold(view, Held::Admit { document, sources, choice });
        }
        let Some(prepared) = self.take_judged(view) else { return };
        let document = prepared.named();
        if let Some(seat) = self.views.get_mut(view) {
            seat.life = Life::Judged(prepared);
        }
        self.hold(view, Held::Review { document, choice });
    }

    /// What a person decided about a document is written down. A yes is remembered, and counts for every
    /// view that waits for the same.
    pub(super) fn reviewed(&mut self, view: &ViewId, choice: Choice) {
        let Some(mut prepared) = self.take_judged(view) else { return };
        let changing = choice == Choice::AllowChanging;
        if !changing && choice != Choice::Allow {
            let words = match prepared.doubt() {
                Some(Doubt::Unpinned(_)) => "you did not agree to it",
                _ => "you did not agree to what has changed in it",
            };
            return self.no_view(view, words);
        }
        let same =
            |life: &Life| matches!(life, Life::Judging(other, _) if other.is_same(&prepared));
        let waiting = self.views.iter().filter(|(_, seat)| same(&seat.life));
        let waiting: Vec<ViewId> = waiting.map(|(view, _)| view.clone()).collect();
        if let Err(error) = prepared.agree(changing) {
            return self.no_view(view, Words::of(&error).as_str());
        }
        self.run_or_ask(view, prepared);
        // Each has a row of its own before it runs.
        for view in waiting {
            let Some(Life::Judging(_, ask)) = self.views.get(&view).map(|seat| &seat.life) else {
                continue;
            };
            let id = ask.id.clone();
            self.say(&view, &ToPage::Withdraw { id });
            self.judge(&view, choice);
            self.flush(&view);
        }
    }

    /// Runs a view, once it is written down which document that is.
    pub(super) fn run_view(&mut self, view: &ViewId, prepared: Box<Prepared>) {
        let (document, reaches) = (prepared.named(), prepared.reaches.clone());
        if let Some(seat) = self.views.get_mut(view) {
            seat.life = Life::Judged(prepared);
        }
        self.hold(view, Held::Run(document, reaches));
    }

    /// Which document runs is written down.
    pub(super) fn run_written(&mut self, view: &ViewId) {
        let Some(mut prepared) = self.take_judged(view) else { return };
        // Meanwhile a person may have taken back what its frame was given.
        let decided = self.views.get(view).and_then(|seat| self.decided.get(&seat.server));
        let stands = |wish: &String| {
            prepared.once.contains(wish) || decided.and_then(|all| all.nearby(wish)) == Some(true)
        };
        if !prepared.reaches.iter().all(stands) {
            return self.run_or_ask(view, prepared);
        }
        if let Err(error) = prepared.pin() {
            return self.no_view(view, Words::of(&error).as_str());
        }
        if prepared.doubt().is_some() {
            return self.look_over(view, prepared);
        }
        self.begin_live(view, *prepared);
    }

    /// Runs a document, unless it declares private addresses that nobody has decided about: then a person
    /// is asked, and nothing runs meanwhile.
    pub(super) fn run_or_ask(&mut self, view: &ViewId, prepared: Box<Prepared>) {
        let id = self.first_question_id();
        let Some(seat) = self.views.get(view) else { return };
        let decided = self.decided.get(&seat.server);
        let is_open = |source: &String| decided.and_then(|all| all.nearby(source)).is_none();
        let open: BTreeSet<String> = prepared.nearby().into_iter().filter(is_open).collect();
        // More than a person would read is not asked for, and not given.
        if open.is_empty() || grants::purposes(&open).len() > NEARBY {
            return self.begin_with(view, prepared, BTreeSet::new());
        }
        let (server, tool) = (Quoted::new(&seat.server), Quoted::new(&seat.tool));
        let lasts = self.keeps(&seat.server);
        let ask = consent::nearby(&server, &tool, &open, id, lasts);
        let shown = ask.preview.as_deref().unwrap_or_default().replace('\n', ", ");
        let words = words!("{} {}", ask.text, Words::ours(&shown));
        let document = prepared.named();
        if let Some(seat) = self.views.get_mut(view) {
            seat.life = Life::Judged(prepared);
        }
        self.log.write("asked", &self.name(view), words);
        self.hold(view, Held::First { document, wishes: Some(open), ask: Box::new(ask) });
    }

    /// What a person decided about private addresses is written down. The view runs in any case: without
    /// them after a no.
    pub(super) fn admitted(&mut self, view: &ViewId, sources: BTreeSet<String>, choice: Choice) {
        let Some(prepared) = self.take_judged(view) else { return };
        let decision = choice.decision();
        let yes = matches!(decision, Decision::Allow | Decision::AllowAlways);
        let always = matches!(decision, Decision::AllowAlways | Decision::DenyAlways);
        if always && let Some(server) = self.views.get(view).map(|seat| seat.server.clone()) {
            let subject = Subject::Nearby(sources.clone());
            self.decided.entry(server.clone()).or_default().remember(
                &subject,
                decision,
                &Claimed::default(),
            );
            self.tell_decided(&server);
            self.keep_decision(view, subject, &Claimed::default(), choice);
        }
        // What is agreed to for longer counts for as long as that does.
        self.begin_with(view, prepared, if yes && !always { sources } else { BTreeSet::new() });
        if always {
            self.admit_waiting(view);
        }
    }

    /// Runs a document with the private addresses that somebody agreed to, now or before.
    pub(super) fn begin_with(
        &mut self,
        view: &ViewId,
        mut prepared: Box<Prepared>,
        once: BTreeSet<String>,
    ) {
        let Some(seat) = self.views.get(view) else { return };
        let decided = self.decided.get(&seat.server);
        let before = |source: &String| decided.and_then(|all| all.nearby(source)) == Some(true);
        let mut all = prepared.nearby();
        all.retain(|source| once.contains(source) || before(source));
        if let Err(error) = prepared.open_to(all, &self.sandbox) {
            return self.no_view(view, Words::of(&error).as_str());
        }
        prepared.once = once;
        self.run_view(view, prepared);
    }

    /// Looks again at the views of the same server that wait for an answer about private addresses.
    pub(super) fn admit_waiting(&mut self, view: &ViewId) {
        let Some(server) = self.views.get(view).map(|seat| seat.server.clone()) else { return };
        let waits = |seat: &Seat| matches!(seat.life, Life::Admitting(..)) && seat.server == server;
        let waiting = self.views.iter().filter(|(_, seat)| waits(seat));
        let waiting: Vec<ViewId> = waiting.map(|(view, _)| view.clone()).collect();
        for view in waiting {
            let Some((prepared, ask, _)) = self.take_admitting(&view) else { continue };
            self.say(&view, &ToPage::Withdraw { id: ask.id });
            self.run_or_ask(&view, prepared);
        }
    }

    pub(super) fn take_admitting(
        &mut self,
        view: &ViewId,
    ) -> Option<(Box<Prepared>, Box<Ask>, BTreeSet<String>)> {
        let seat = self.views.get_mut(view)?;
        match std::mem::replace(&mut seat.life, Life::Opening) {
            Life::Admitting(prepared, ask, sources) => Some((prepared, ask, sources)),
            other => {
                seat.life = other;
                None
            }
        }
    }

    /// What a person decided about a document cannot count.
    pub(super) fn unreviewed(&mut self, view: &ViewId, words: &str) {
        if self.take_judged(view).is_some() {
            self.no_view(view, words);
        }
    }

    pub(super) fn take_judged(&mut self, view: &ViewId) -> Option<Box<Prepared>> {
        let seat = self.views.get_mut(view)?;
        match std::mem::replace(&mut seat.life, Life::Opening) {
            Life::Judging(prepared, _) | Life::Judged(prepared) => Some(prepared),
            other => {
                seat.life = other;
                None
            }
        }
    }
}

/// The most private addresses of a document that a person is asked about.
pub(super) const NEARBY: usize = 20;
