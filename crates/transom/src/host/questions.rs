//! What a person has been asked and has not decided yet.

use std::{collections::BTreeMap, time::Duration};

use super::{AppAnswer, File, Output, Session, Terms};
use crate::{
    calls::Patience,
    policy::{Decision, Subject},
    violation::{Limit, Violation},
};

/// A question to a person: who asks what of whom is for the host to add.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What to answer to.
    pub id: u64,
    /// What the answer will cover.
    pub subject: Subject,
    /// The method that led to it.
    pub method: &'static str,
    /// The beginning of what would be sent, at most 2,000 bytes of a stranger's text.
    pub preview: Box<str>,
    /// The files it is about, whole: a page can save them only inside the click that allows it.
    pub files: Vec<File>,
}

/// Who waits for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiter {
    /// A request of the view.
    View(u64),
    /// A call of a tool that the view offers.
    App(u64),
}

#[derive(Debug, Default)]
pub(super) struct Questions {
    next: u64,
    open: BTreeMap<u64, Open>,
    /// Yeses that came too late, each good for one more wish of the same kind.
    late: Vec<(Subject, Shown)>,
}

#[derive(Debug)]
struct Open {
    subject: Subject,
    shown: Shown,
    waiting: Vec<Waiter>,
}

/// What a person was shown of a wish; nothing if it was too long to be shown whole.
type Shown = Option<Box<str>>;

impl Session {
    /// Prepares to ask a person, or joins a question that covers the same; returns the number of the
    /// question and, if it is new, the question for the caller to put.
    ///
    /// Only the one prompt for a whole server is ever joined: a yes to it is a yes to all of its
    /// tools. Anywhere else, a second wish behind the first would ride on a yes nobody gave it.
    pub(super) fn inquire(
        &mut self,
        subject: Subject,
        method: &'static str,
        preview: &str,
        waiter: Waiter,
    ) -> Result<(u64, Option<Output>), Violation> {
        if let Some(question) = self.questions.join(&subject, waiter) {
            return Ok((question, None));
        }
        if self.questions.open.len() >= self.setup.limits.questions {
            return Err(Violation::OverLimit { limit: Limit::Questions });
        }
        let id = self.questions.ask(subject.clone(), whole(preview), waiter);
        let preview = cut(preview).into();
        Ok((id, Some(Output::Ask(Question { id, subject, method, preview, files: vec![] }))))
    }

    /// Takes in a person's answer. One that is late, repeated or for nobody carries nothing out.
    pub(super) fn decide(&mut self, now: Duration, question: u64, decision: Decision) {
        let Some(open) = self.questions.open.remove(&question) else { return };
        let Open { subject, shown, waiting } = open;
        self.decided.remember(&subject, decision);
        let yes = matches!(decision, Decision::Allow | Decision::AllowAlways);
        let late = waiting.is_empty();
        for waiter in waiting {
            match (waiter, yes) {
                (Waiter::View(call), true) => self.go_on(now, call, &subject),
                (Waiter::View(call), false) => self.turn_down(call, None),
                (Waiter::App(call), true) => self.allow_app_call(now, call, &subject),
                (Waiter::App(call), false) => self.drop_app_call(call, AppAnswer::Refused),
            }
        }
        if late && decision == Decision::Allow {
            self.questions.late.push((subject, shown));
        }
    }

    /// One who waited for a decision is gone.
    pub(super) fn leave(&mut self, waiter: Waiter) {
        self.outputs.extend(self.questions.release(|other| other == waiter));
    }

    /// All who waited for a decision are gone.
    pub(super) fn leave_all(&mut self) {
        self.outputs.extend(self.questions.release(|_| true));
    }

    /// D6: with a progress token the view can be kept waiting; without one it gives up after 60 s.
    pub(super) fn decision_patience(&self, alive: bool) -> Patience {
        let Terms { decision, long_decision, .. } = self.setup.terms;
        Patience::flat(if alive { long_decision } else { decision })
    }
}

impl Questions {
    /// Some waiters are gone; says which questions nobody waits for any more. They stay, so that a late
    /// answer is remembered for the next time.
    fn release(&mut self, gone: impl Fn(Waiter) -> bool) -> Vec<Output> {
        let left = |(&question, open): (&u64, &mut Open)| {
            let waited = !open.waiting.is_empty();
            open.waiting.retain(|&waiter| !gone(waiter));
            (waited && open.waiting.is_empty()).then_some(Output::Unawaited { question })
        };
        self.open.iter_mut().filter_map(left).collect()
    }

    /// All questions are moot.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = u64> + use<> {
        std::mem::take(&mut self.open).into_keys()
    }

    /// Uses up a yes that came too late, if it was given to just this.
    ///
    /// The same subject is not enough: a view could have a harmless call shown, take it back, and
    /// spend the yes on another one that nobody has seen.
    pub(super) fn spend(&mut self, subject: &Subject, wish: &str) -> bool {
        let same =
            |(about, shown): &(Subject, Shown)| about == subject && shown.as_deref() == Some(wish);
        let found = self.late.iter().position(same);
        found.map(|index| self.late.swap_remove(index)).is_some()
    }

    fn join(&mut self, subject: &Subject, waiter: Waiter) -> Option<u64> {
        let joins =
            |open: &&mut Open| matches!(subject, Subject::Tools(_)) && open.subject == *subject;
        let (&id, open) = self.open.iter_mut().find(|(_, open)| joins(open))?;
        open.waiting.push(waiter);
        Some(id)
    }

    fn ask(&mut self, subject: Subject, shown: Shown, waiter: Waiter) -> u64 {
        let id = self.next;
        self.next += 1;
        self.open.insert(id, Open { subject, shown, waiting: vec![waiter] });
        id
    }
}

fn whole(text: &str) -> Shown {
    (text.len() <= PREVIEW).then(|| text.into())
}

fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(PREVIEW)).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// How much of a request a person is shown.
pub(super) const PREVIEW: usize = 2_000;
