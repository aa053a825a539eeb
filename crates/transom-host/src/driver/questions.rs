//! Questions of a live view to a person, and the answers.

use transom::{
    host::{Input, Question},
    policy::Decision,
    violation::Quoted,
};

use super::{
    Driver,
    ledger::Held,
    seat::{About, Asked, Life},
};
use crate::{
    audit::Record,
    consent::{self, Choice},
    envelope::{Answer, Ask, ToPage, ViewId},
    words,
};

impl Driver {
    pub(super) fn put_question(&mut self, view: &ViewId, question: &Question, late: bool) {
        let Some(seat) = self.views.get(view) else { return };
        let lasts = self.keeps(&seat.server);
        let ask = consent::ask(&seat.server, &seat.tool, question, question_id(question.id), lasts);
        let ask = Ask { late, ..ask };
        let (subject, said) = (question.subject.clone(), question.said.clone());
        self.ask(view, ask, About::Question(question.id, subject, said));
    }

    pub(super) fn ask(&mut self, view: &ViewId, ask: Ask, about: About) {
        self.log.write("asked", &self.name(view), ask.text.clone());
        let Some(live) = self.live(view) else { return };
        live.asked.insert(ask.id.clone(), Asked { ask: ask.clone(), about });
        self.say(view, &ToPage::Ask(Box::new(ask)));
    }

    /// Nobody needs the answer any more.
    pub(super) fn withdraw(&mut self, view: &ViewId, id: String) {
        let asked = self.live(view).and_then(|live| live.asked.remove(&id));
        if asked.is_some() {
            self.say(view, &ToPage::Withdraw { id });
        }
    }

    /// The answer counts for the next time alone, and the person should know.
    pub(super) fn unawaited(&mut self, view: &ViewId, question: u64) {
        self.ledger.mark_late(view, question);
        let id = question_id(question);
        let Some(asked) = self.live(view).and_then(|live| live.asked.get_mut(&id)) else { return };
        asked.ask.late = true;
        let ask = asked.ask.clone();
        self.say(view, &ToPage::Ask(Box::new(ask)));
    }

    /// Takes an answer once, while somebody asks, and only if it was among the choices.
    pub(super) fn answered(&mut self, view: &ViewId, answer: &Answer) {
        let Answer { id, choice } = answer;
        let name = self.name(view);
        let judged = self.views.get(view).is_some_and(|seat| seat.awaits(answer));
        if judged {
            self.log.write("answer", &name, words!("{}", Quoted::new(choice)));
            return self.judge(view, Choice::of(choice));
        }
        let asked = self.live(view).and_then(|live| {
            let offered = live.asked.get(id)?.ask.choices.contains(&choice.as_str());
            offered.then(|| live.asked.remove(id)).flatten()
        });
        let Some(Asked { about, .. }) = asked else {
            self.note(view, || Record::decided(None, Choice::of(choice), false));
            let words = words!("{} to nothing that is asked; ignored", Quoted::new(choice));
            return self.log.write("late", &name, words);
        };
        self.log.write("answer", &name, words!("{}", Quoted::new(choice)));
        let choice = Choice::of(choice);
        let decision = choice.decision();
        match (about, decision) {
            (About::Question(question, subject, said), _) => {
                self.note(view, || Record::decided(Some(question), choice, true));
                // What somebody took back a moment ago must not come back with this.
                self.recall();
                self.input(view, Input::Decision { question, decision });
                self.share_decisions(view);
                self.keep_decision(view, subject, &said, choice);
            }
            (About::Click(call, deed), Decision::Allow | Decision::AllowAlways) => {
                self.hold(view, Held::Deed { call, deed });
            }
            (About::Click(call, _), Decision::Deny | Decision::DenyAlways) => {
                self.note(view, || Record::clicked(call, choice));
                self.settle(view, call, Err("refused by the user"));
            }
        }
    }

    /// What was decided in one view counts in every other view of the same server.
    pub(super) fn share_decisions(&mut self, view: &ViewId) {
        let Some(decided) = self.live(view).map(|live| live.session.decided().clone()) else {
            return;
        };
        let server = self.views[view].server.clone();
        self.decided.insert(server.clone(), decided);
        self.tell_decided(&server);
    }

    /// Tells every live view of a server what is decided about it, and pages what can be taken back.
    pub(super) fn tell_decided(&mut self, server: &str) {
        let Some(decided) = self.decided.get(server) else { return };
        for seat in self.views.values_mut().filter(|seat| seat.server == server) {
            if let Life::Live(live) = &mut seat.life {
                live.session.set_decided(decided.clone());
            }
        }
        self.show_decisions();
    }
}

pub(super) fn question_id(question: u64) -> String {
    format!("q{question}")
}

pub(super) fn deed_id(call: u64) -> String {
    format!("d{call}")
}
