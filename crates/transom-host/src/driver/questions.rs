//! Questions of a live view to a person, and the answers.

use transom::{
    host::{Input, Question},
    policy::{Claimed, Decision, Subject},
    violation::Quoted,
};

use super::{
    Driver,
    common::Common,
    ledger::Held,
    seat::{About, Asked, Seat},
};
use crate::{
    audit::Record,
    consent::{self, Choice},
    envelope::{Answer, Ask, ToPage, ViewId},
    log::LineKind,
    words,
};

impl Seat {
    pub(super) fn put_question(&mut self, common: &Common, question: &Question, late: bool) {
        let lasts = common.keeps(&self.server);
        let ask =
            consent::ask(&self.server, &self.tool, question, self.question_id(question.id), lasts);
        let ask = Ask { late, ..ask };
        let (subject, said) = (question.subject.clone(), question.said.clone());
        let about = About::Question(question.id, subject, said, question.all.clone());
        self.ask(common, ask, about);
    }

    pub(super) fn ask(&mut self, common: &Common, ask: Ask, about: About) {
        common.log.write(LineKind::Asked, &self.name(), ask.text.clone());
        self.metrics.asked.add();
        let Some(live) = self.live() else { return };
        live.asked.insert(ask.id.clone(), Asked { ask: ask.clone(), about });
        self.say(common, &ToPage::Ask(Box::new(ask)));
    }

    /// The view does not need the answer any more.
    pub(super) fn withdraw(&mut self, common: &Common, id: String) {
        let asked = self.live().and_then(|live| live.asked.remove(&id));
        if asked.is_some() {
            self.say(common, &ToPage::Withdraw { id });
        }
    }

    /// The answer counts for the next time alone, and the person should know.
    pub(super) fn unawaited(&mut self, common: &mut Common, question: u64) {
        common.ledger.mark_late(&self.id, question);
        let id = self.question_id(question);
        let Some(asked) = self.live().and_then(|live| live.asked.get_mut(&id)) else { return };
        asked.ask.late = true;
        let ask = asked.ask.clone();
        self.say(common, &ToPage::Ask(Box::new(ask)));
    }

    /// The name of a question on the page. Views that follow one another in a seat count from the same number, and what is
    /// said of the one before must not count for the next.
    pub(super) fn question_id(&self, question: u64) -> String {
        format!("q{}-{question}", self.turn)
    }

    pub(super) fn deed_id(&self, call: u64) -> String {
        format!("d{}-{call}", self.turn)
    }

    /// Takes an answer once, while the question is on the page, and only if it was among the choices. What the session wants to
    /// know of it is returned.
    fn answered(
        &mut self,
        common: &mut Common,
        answer: &Answer,
    ) -> Option<(u64, Subject, Claimed)> {
        let Answer { id, choice } = answer;
        let name = self.name();
        if self.awaits(answer) {
            self.metrics.answered.add();
            common.log.write(LineKind::Answer, &name, words!("{}", Quoted::new(choice)));
            self.judge(common, Choice::of(choice));
            return None;
        }
        let asked = self.live().and_then(|live| {
            let offered = live.asked.get(id)?.ask.choices.contains(&choice.as_str());
            offered.then(|| live.asked.remove(id)).flatten()
        });
        let Some(Asked { about, .. }) = asked else {
            self.note(common, || Record::decided(None, Choice::of(choice), false));
            let words = words!("{} to nothing that is asked; ignored", Quoted::new(choice));
            common.log.write(LineKind::Late, &name, words);
            return None;
        };
        self.metrics.answered.add();
        common.log.write(LineKind::Answer, &name, words!("{}", Quoted::new(choice)));
        let choice = Choice::of(choice);
        let decision = choice.decision();
        match (about, decision) {
            (About::Grants(grants), _) => self.hold(common, Held::Grant(grants, choice)),
            (About::Question(question, subject, said, all), _) => {
                self.note(common, || Record::decided(Some(question), choice, true));
                return Some(match decision {
                    Decision::AllowAll => {
                        (question, Subject::Tools(all.keys().cloned().collect()), all)
                    }
                    _ => (question, subject, said),
                });
            }
            (About::Click(call, deed), decision) if decision.is_yes() => {
                self.hold(common, Held::Deed { call, deed });
            }
            (About::Click(call, _), _) => {
                self.note(common, || Record::clicked(call, choice));
                self.settle(common, call, Err("refused by the user"));
            }
        }
        None
    }
}

impl Driver {
    /// A person answered a question of a view.
    pub(super) fn answered(&mut self, view: &ViewId, answer: &Answer) {
        let Some((seat, common)) = self.seat(view) else { return };
        let Some((question, subject, said)) = seat.answered(common, answer) else { return };
        // What a person took back a moment ago must not come back with this.
        self.recall();
        let choice = Choice::of(&answer.choice);
        let Some((seat, common)) = self.seat(view) else { return };
        seat.input(common, Input::Decision { question, decision: choice.decision() });
        self.share_decisions(view);
        let Some((seat, common)) = self.seat(view) else { return };
        seat.keep_decision(common, subject, &said, choice);
    }

    /// What was decided in one view counts in every other view of the same server.
    fn share_decisions(&mut self, view: &ViewId) {
        let Some((seat, common)) = self.seat(view) else { return };
        let server = seat.server.clone();
        let Some(decided) = seat.live().map(|live| live.session.decided().clone()) else { return };
        common.decided.insert(server.clone(), decided);
        self.tell_decided(&server);
    }

    /// Tells every live view of a server what is decided about it, and pages what can be taken back.
    pub(super) fn tell_decided(&mut self, server: &str) {
        self.set_decided(server);
        self.common.show_decisions();
    }

    /// Tells every live view of a server what is decided about it.
    pub(super) fn set_decided(&mut self, server: &str) {
        let Some(decided) = self.common.decided.get(server).cloned() else { return };
        let now = self.common.now();
        for seat in self.seats.values_mut().filter(|seat| seat.server == server) {
            if let Some(live) = seat.live() {
                live.session.set_decided(now, decided.clone());
                // It may have settled what the view waits for.
                seat.drive(&mut self.common);
            }
        }
    }
}
