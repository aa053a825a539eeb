//! What a live view was kept from, and what a person gives it.

use std::collections::BTreeSet;

use transom::{
    policy::{Claimed, Decision, Grantable, Subject},
    quoted::Quoted,
};

use super::{
    Driver,
    common::Common,
    ledger::Held,
    seat::{About, Asked, Seat},
};
use crate::{
    consent::{self, Choice},
    envelope::{Ask, Obstacles, ToPage, ViewId, Wanted},
    log::LineKind,
    sandbox::{Blocked, Report},
    server::{Prepared, Running},
    words,
    words::Words,
};

/// What a view was kept from since it was loaded. It is bounded by how many reports are heard.
#[derive(Debug, Default)]
pub(super) struct Hindered {
    lines: Vec<Words>,
    grants: BTreeSet<Grantable>,
}

impl Hindered {
    /// The permissions that a document asks for and does not have.
    pub(super) fn at_first(prepared: &Prepared) -> Self {
        let missing = |grantable: &Grantable| {
            matches!(grantable, Grantable::Permission(_))
                && prepared.could_use(*grantable)
                && !prepared.given.grants.contains(grantable)
        };
        let grants: BTreeSet<Grantable> = Grantable::all().filter(missing).collect();
        let lines = grants.iter().map(|grant| Words::from(grant.words())).collect();
        Self { lines, grants }
    }
}

impl Hindered {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn lines(&self) -> &[Words] {
        &self.lines
    }
}

impl Seat {
    /// A browser says that it blocked something. Whoever wrote the view can make it say so.
    pub(super) fn blocked(&mut self, common: &mut Common, blocked: &Blocked) {
        let Some(live) = self.live() else { return };
        let grantable = blocked.grant.map(Grantable::Policy);
        if let Some(grantable) = grantable {
            // Said of the document before the one that runs now.
            let has = live.prepared.given.grants.contains(&grantable);
            if has || !live.prepared.could_use(grantable) {
                return;
            }
        }
        let line = in_words(blocked);
        // The same blocked by two directives reads the same.
        if live.hindered.lines.contains(&line) {
            return;
        }
        live.hindered.lines.push(line.clone());
        live.hindered.grants.extend(grantable);
        self.note_blocked(common, &line);
        self.log_of(common, LineKind::Blocked, || words!("kept from: {}", line));
        self.tell_hindered(common);
        self.flush(common);
    }

    /// A script of a view that its author works on has failed: the author reads it on the page and in the terminal.
    fn failed(&mut self, common: &mut Common, error: &Quoted) {
        if !self.live().is_some_and(|live| live.prepared.server.is_own()) {
            return;
        }
        let text = words!("An error in this view: {}", error);
        eprintln!("{}: {text}", Quoted::new(&self.name()).as_str());
        self.log_of(common, LineKind::Console, || words!("error in the view: {}", error));
        self.say(common, &ToPage::Note { text });
        self.flush(common);
    }

    /// Tells the page what the view was kept from.
    pub(super) fn tell_hindered(&mut self, common: &Common) {
        let Some(live) = self.live() else { return };
        if live.hindered.lines.is_empty() {
            return;
        }
        let grants = live.hindered.grants.iter().map(|grant| grant.name()).collect();
        let obstacles = Obstacles { lines: live.hindered.lines.clone(), grants };
        self.say(common, &ToPage::Blocked(obstacles));
    }

    /// A person wants to grant what was blocked, and is asked about exactly that. What they were not told of cannot be
    /// granted so.
    pub(super) fn want_grants(&mut self, common: &mut Common, wanted: &Wanted) {
        let id = common.first_question_id();
        let (server, tool) = (Quoted::new(&self.server), Quoted::new(&self.tool));
        let lasts = common.keeps(&self.server);
        let Some(live) = self.live() else { return };
        let named = wanted.grants.iter().filter_map(|name| name.parse().ok());
        let mut grants: BTreeSet<Grantable> =
            named.filter(|grant| live.hindered.grants.contains(grant)).collect();
        let given = common.given(&live.prepared);
        grants.retain(|grant| !given.grants.contains(grant));
        if grants.is_empty() {
            // A person gave it to another view meanwhile.
            if given != live.prepared.given {
                self.run_again(common);
            }
            return;
        }
        let asked = |asked: &Asked| matches!(&asked.about, About::Grants(same) if *same == grants);
        if live.asked.values().any(asked) {
            return;
        }
        let ask = consent::grants(&server, &tool, &grants, id, lasts);
        self.hold(common, Held::AskGrants(grants, Box::new(ask)));
    }

    /// Takes the question about grants back, if there is one: another one takes its place, or the page that had it is gone.
    pub(super) fn forget_asked_grants(&mut self, common: &Common) {
        let Some(live) = self.live() else { return };
        let asked = live.asked.iter().find(|(_, asked)| matches!(asked.about, About::Grants(_)));
        if let Some(id) = asked.map(|(id, _)| id.clone()) {
            self.withdraw(common, id);
        }
    }

    /// That they are asked is written down.
    pub(super) fn put_grants(&mut self, common: &Common, grants: BTreeSet<Grantable>, ask: Ask) {
        if self.live().is_none() {
            return;
        }
        // One question at a time: what was asked before is in the new one, or was answered.
        self.forget_asked_grants(common);
        self.ask(common, ask, About::Grants(grants));
    }

    /// The view is loaded anew with what people have given it by now, once that is written down.
    fn run_again(&mut self, common: &mut Common) {
        let Some(live) = self.live() else { return };
        let running = live.prepared.would_run(common.given(&live.prepared));
        self.hold(common, Held::RunAgain(Box::new(running)));
    }

    /// What it runs with is written down.
    pub(super) fn run_again_written(&mut self, common: &mut Common, running: Running) {
        let (tool, name) = (self.tool.clone(), self.name());
        let Some(live) = self.live() else { return };
        // Meanwhile a person may have taken it back.
        if !running.given.is_within(&common.given(&live.prepared)) {
            return self.run_again(common);
        }
        if let Err(error) = live.prepared.give(running.given, &common.sandbox) {
            return common.log.write(LineKind::Error, &name, Words::of(&error));
        }
        live.hindered = Hindered::at_first(&live.prepared);
        live.mount = live.prepared.mount(&tool);
        live.session.set_sandbox(live.prepared.granted());
        let mount = live.mount.clone();
        let policy = words!("its policy: {}", Words::ours(&running.policy));
        common.memory.watch(&self.id);
        common.log.write(LineKind::View, &name, "loaded anew with what you gave it");
        common.log.write(LineKind::View, &name, policy);
        self.reopened(common, mount);
        self.flush(common);
    }
}

impl Driver {
    /// A report on the view that is in its seat now, and not on the one before.
    pub(super) fn reported(&mut self, view: &ViewId, turn: u64, report: &Report) {
        let Some((seat, common)) = self.seat(view).filter(|(seat, _)| seat.turn == turn) else {
            return;
        };
        match report {
            Report::Blocked(blocked) => seat.blocked(common, blocked),
            Report::Error(words) => seat.failed(common, words),
        }
    }

    /// What a person decided about what was blocked is written down. A yes for longer is for every view of the server;
    /// those that run keep the policy they were loaded with.
    pub(super) fn granted(&mut self, view: &ViewId, grants: BTreeSet<Grantable>, choice: Choice) {
        // What a person took back a moment ago must not come back with this.
        self.recall();
        let Some((seat, common)) = self.seat(view) else { return };
        let server = seat.server.clone();
        match choice.decision() {
            Decision::Allow | Decision::AllowView => {
                let Some(live) = seat.live() else { return };
                live.prepared.once.grants.extend(grants);
            }
            decision @ (Decision::AllowAlways | Decision::AllowAll | Decision::DenyAlways) => {
                let subject = Subject::Grants(grants);
                let decided = common.decided.entry(server.clone()).or_default();
                decided.remember(&subject, decision, &Claimed::default());
                seat.keep_decision(common, subject, &Claimed::default(), choice);
                self.tell_decided(&server);
            }
            Decision::Deny => return,
        }
        if let Some((seat, common)) = self.seat(view) {
            seat.run_again(common);
        }
    }
}

/// What was blocked, after "kept from: ".
fn in_words(blocked: &Blocked) -> Words {
    if let Some(grant) = blocked.grant {
        return Grantable::Policy(grant).words().into();
    }
    let (what, from) = (blocked.kind.words(), &blocked.from);
    match blocked.kind.list().filter(|_| blocked.is_address) {
        Some(list) => words!("{} {}: its server has to name that in {}", what, from, list),
        None => words!("{} {}", what, from),
    }
}
