//! What a person has been asked and has not decided yet.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Range,
    time::Duration,
};

use super::{
    File, Output, Part, Room, Session, Terms,
    rate::{Bucket, Rate},
};
use crate::{
    calls::Patience,
    policy::{Claimed, Decided, Decision, Subject, Verdict, Wish},
    printed::Folded,
    routes::HttpRequest,
    violation::{Denial, Holder, Limit, Over, Quoted, Violation},
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
    /// What that request is about.
    pub about: Quoted,
    /// What would be sent, in parts that people can read; none, where it has no parts.
    pub parts: Vec<Part>,
    /// What would be sent, as it is sent.
    pub preview: Preview,
    /// The files it is about, whole: a page can save them only inside the click that allows it.
    pub files: Vec<File>,
    /// The HTTP request that would be made, where a tool declares which ones it makes.
    pub request: Option<HttpRequest>,
    /// What its tools say of themselves now: a yes for longer is bound to it.
    pub said: Claimed,
    /// The tools that a person can allow together with this one, itself among them, and what they say of themselves. None,
    /// where that is not offered.
    pub all: Claimed,
    /// In words of ours, what has changed since a person allowed the same for longer.
    pub changes: Vec<String>,
}

/// What would be sent, as it would be sent: all that people can be shown of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// The text, up to a quarter of a megabyte. A stranger's, though it stands where nothing else does.
    pub text: Box<str>,
    /// How much there is beside.
    pub beyond: Option<Folded>,
}

/// Who waits for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiter {
    /// A request of the view.
    View(u64),
    /// A call of a tool that the view offers.
    App(u64),
}

#[derive(Debug)]
pub(super) struct Questions {
    /// New questions. One that a person decides costs nothing; one that is taken back has cost them their time.
    asking: Bucket,
    next: u64,
    open: BTreeMap<u64, Open>,
    /// Yeses that came too late, each good for one more wish of the same kind.
    late: VecDeque<(Subject, Claimed, Shown)>,
    /// Noes that were meant for this time.
    noes: VecDeque<No>,
}

/// A "no, this time": for a while, the same is not asked again.
#[derive(Debug)]
struct No {
    subject: Subject,
    pause: Duration,
    until: Duration,
}

#[derive(Debug)]
struct Open {
    subject: Subject,
    said: Claimed,
    all: Claimed,
    shown: Shown,
    /// The request that waits for the answer; none any more, if the view gave it up.
    waiter: Option<Waiter>,
}

/// What a person was shown of a wish; nothing if it was too long to be shown whole.
type Shown = Option<Box<str>>;

impl Session {
    /// Prepares to ask a person; returns the question for the caller to put.
    ///
    /// No question is ever joined: a second wish behind the first would ride on a yes that was not given to it.
    pub(super) fn inquire(
        &mut self,
        now: Duration,
        subject: Subject,
        method: &'static str,
        about: Quoted,
        preview: &str,
        waiter: Waiter,
    ) -> Result<Question, Violation> {
        let said = self.said(&subject);
        let all = match &subject {
            Subject::Tool(name) => self.policy.beside(&self.decided, name, self.tools.iter()),
            _ => Claimed::new(),
        };
        let most = self.setup.limits.questions;
        if self.questions.open.len() >= most {
            return Err(self.over(Limit::Questions, most as u64).into());
        }
        self.room.map_or(Ok(()), Room::for_question)?;
        if !self.questions.asking.take(ASKING, now, 1.0) {
            let most = (ASKING.per_second * 60.0).round() as u64;
            return Err(Over { limit: Limit::Asking, of: Holder::View, most }.into());
        }
        let changes = self.decided.changes(&subject, &said);
        let open = Open {
            subject: subject.clone(),
            said: said.clone(),
            all: all.clone(),
            shown: whole(preview),
            waiter: Some(waiter),
        };
        let id = self.questions.ask(open);
        let preview = Preview::of(preview);
        Ok(Question {
            id,
            subject,
            method,
            about,
            parts: vec![],
            preview,
            files: vec![],
            request: None,
            said,
            all,
            changes,
        })
    }

    /// What the tools of a subject say of themselves now.
    fn said(&self, subject: &Subject) -> Claimed {
        match subject {
            Subject::AppTool(name) => self.said_by_app(name),
            subject => self.tools.said(subject),
        }
    }

    /// A last look before a person is asked: a late yes may cover it, and a no of a moment ago does.
    pub(super) fn ask_again(&mut self, now: Duration, subject: Subject, wish: &str) -> Verdict {
        if self.questions.spend(&subject, &self.said(&subject), wish) {
            return Verdict::Allow;
        }
        if self.questions.just_refused(now, &subject) {
            return Verdict::Deny(Denial::Again(Quoted::new(subject.kind())));
        }
        Verdict::Ask(subject)
    }

    /// Takes in a person's answer. One that is late, repeated or for no question carries nothing out.
    pub(super) fn decide(&mut self, now: Duration, question: u64, decision: Decision) {
        if self.is_closed() {
            return;
        }
        let Some(open) = self.questions.open.remove(&question) else {
            self.outputs.push_back(Output::Unheard { question, decision, late: false });
            return;
        };
        let Open { subject, said, all, shown, waiter } = open;
        self.questions.asking.give(ASKING, 1.0);
        // Bound to what was said when it was asked: that may be something else by now.
        match decision {
            Decision::AllowView => self.here.remember(&subject, decision, &said),
            Decision::AllowAll => {
                let names = all.keys().cloned().collect();
                self.decided.remember(&Subject::Tools(names), decision, &all);
            }
            _ => self.decided.remember(&subject, decision, &said),
        }
        let Terms { again, long_decision, .. } = self.setup.terms;
        self.questions.take_in(now, &subject, decision, again..long_decision);
        match (waiter, decision.is_yes()) {
            (Some(Waiter::View(call)), true) => self.go_on(now, call, &subject, &said),
            (Some(Waiter::View(call)), false) => self.turn_down(call, None),
            (Some(Waiter::App(call)), true) => self.allow_app_call(now, call, &subject, &said),
            (Some(Waiter::App(call)), false) => self.refuse_app_call(call),
            (None, _) => {
                self.outputs.push_back(Output::Unheard { question, decision, late: true });
                if decision == Decision::Allow {
                    push_bounded(&mut self.questions.late, (subject, said, shown));
                }
            }
        }
        if decision.lasts() {
            self.settle_decided(now);
        }
    }

    /// Replaces what people have decided: a person answered in another view of the same server, or took
    /// an answer back.
    pub fn set_decided(&mut self, now: Duration, decided: Decided) {
        self.decided = decided;
        if !self.is_closed() {
            self.settle_decided(now);
        }
    }

    /// Settles the questions that have become moot: what they ask has been decided for longer, here or in another view.
    pub(super) fn settle_decided(&mut self, now: Duration) {
        let open: Vec<u64> = self.questions.open.keys().copied().collect();
        for question in open {
            // One that was settled may have settled another.
            let Some(open) = self.questions.open.get(&question) else { continue };
            let Some(verdict) = self.verdict_of(open) else { continue };
            if matches!(verdict, Verdict::Ask(_)) {
                continue;
            }
            let open = self.questions.open.remove(&question).expect("it was there a moment ago");
            self.questions.asking.give(ASKING, 1.0);
            self.outputs.push_back(Output::Withdraw { question });
            match (open.waiter, verdict) {
                (Some(Waiter::View(call)), Verdict::Deny(denial)) => {
                    self.turn_down(call, Some(denial));
                }
                (Some(Waiter::View(call)), _) => self.go_on(now, call, &open.subject, &open.said),
                (Some(Waiter::App(call)), Verdict::Deny(_)) => self.refuse_app_call(call),
                (Some(Waiter::App(call)), _) => {
                    self.allow_app_call(now, call, &open.subject, &open.said);
                }
                (None, _) => {}
            }
        }
    }

    /// What would be said now of what a question is about.
    fn verdict_of(&self, open: &Open) -> Option<Verdict> {
        match (open.waiter, &open.subject) {
            (Some(Waiter::View(call)), _) => self.verdict_of_waiting(call),
            (_, Subject::Tool(name)) => {
                Some(self.judge_wish(Wish::CallTool(self.tools.get(name)?)))
            }
            (_, subject) => self.verdict_of_app_call(subject),
        }
    }

    /// A waiter gave up waiting. Its question stays, so that a late answer is remembered for the next
    /// time (D6); but only so many that no request waits for are left to stand.
    pub(super) fn leave(&mut self, waiter: Waiter) {
        if let Some(question) = self.questions.remove(waiter) {
            self.outputs.push_back(Output::Unawaited { question });
        }
        let orphans = self.questions.open.iter().filter(|(_, open)| open.waiter.is_none());
        let orphans: Vec<u64> = orphans.map(|(&question, _)| question).collect();
        for &question in &orphans[..orphans.len().saturating_sub(ORPHANS)] {
            self.questions.open.remove(&question);
            self.outputs.push_back(Output::Withdraw { question });
        }
    }

    /// A waiter takes its wish back, and with it the question.
    pub(super) fn withdraw(&mut self, now: Duration, waiter: Waiter) {
        if let Some(question) = self.questions.remove(waiter) {
            let open = self.questions.open.remove(&question).expect("it was there a moment ago");
            self.taken_back_question(now, question, &open.subject);
        }
    }

    /// All waiters are gone, and what they asked is moot.
    pub(super) fn withdraw_all(&mut self, now: Duration) {
        let waited: Vec<(u64, Open)> =
            self.questions.open.extract_if(.., |_, open| open.waiter.is_some()).collect();
        for (question, open) in waited {
            self.taken_back_question(now, question, &open.subject);
        }
    }

    /// A question that is taken back counts like one that was answered with no: a view that asks and cancels would
    /// otherwise keep a person busy for ever.
    fn taken_back_question(&mut self, now: Duration, question: u64, subject: &Subject) {
        let Terms { again, long_decision, .. } = self.setup.terms;
        self.questions.take_in(now, subject, Decision::Deny, again..long_decision);
        self.outputs.push_back(Output::Withdraw { question });
    }

    /// D6: with a progress token the view can be kept waiting; without one it gives up after 60 s.
    pub(super) fn decision_patience(&self, alive: bool) -> Patience {
        let Terms { decision, long_decision, .. } = self.setup.terms;
        Patience::flat(if alive { long_decision } else { decision })
    }
}

impl Preview {
    fn of(text: &str) -> Self {
        let shown = cut(text);
        Self { text: shown.into(), beyond: Folded::after(text, shown.len()) }
    }
}

impl Questions {
    /// No person has been asked anything yet.
    pub(super) fn new(now: Duration) -> Self {
        Self {
            asking: Bucket::full(ASKING, now),
            next: 0,
            open: BTreeMap::new(),
            late: VecDeque::new(),
            noes: VecDeque::new(),
        }
    }

    /// Takes a waiter off the question that it waits for; returns the question.
    fn remove(&mut self, waiter: Waiter) -> Option<u64> {
        let mut all = self.open.iter_mut();
        let (&question, open) = all.find(|(_, open)| open.waiter == Some(waiter))?;
        open.waiter = None;
        Some(question)
    }

    /// Remembers a no for a while, each time for twice as long; a yes ends that. The first costs nothing:
    /// people press the wrong button, and press again.
    fn take_in(
        &mut self,
        now: Duration,
        subject: &Subject,
        decision: Decision,
        pauses: Range<Duration>,
    ) {
        let index = self.noes.iter().position(|no| same(&no.subject, subject));
        let before = index.and_then(|index| self.noes.remove(index));
        if decision != Decision::Deny {
            return;
        }
        // A view that kept quiet for long enough begins anew.
        let quiet = |no: &No| no.pause.max(pauses.start.saturating_mul(QUIET));
        let before = before.filter(|no| now < no.until.saturating_add(quiet(no)));
        let longer = |no: No| no.pause.saturating_mul(2).max(pauses.start).min(pauses.end);
        let pause = before.map_or(Duration::ZERO, longer);
        let until = now.saturating_add(pause);
        push_bounded(&mut self.noes, No { subject: subject.clone(), pause, until });
    }

    fn just_refused(&self, now: Duration, subject: &Subject) -> bool {
        self.noes.iter().any(|no| same(&no.subject, subject) && now < no.until)
    }

    /// How many are open.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// All questions are moot.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = u64> + use<> {
        std::mem::take(&mut self.open).into_keys()
    }

    /// Uses up a yes that came too late, if it was given to just this.
    ///
    /// The same subject is not enough: a view could have a harmless call shown, take it back, and
    /// spend the yes on another one that the person has not seen.
    pub(super) fn spend(&mut self, subject: &Subject, said: &Claimed, wish: &str) -> bool {
        let same = |(about, then, shown): &(Subject, Claimed, Shown)| {
            about == subject && then == said && shown.as_deref() == Some(wish)
        };
        let found = self.late.iter().position(same);
        found.and_then(|index| self.late.remove(index)).is_some()
    }

    /// Stands for what a person is shown, where the preview does not.
    pub(super) fn showed(&mut self, question: u64, wish: &str) {
        if let Some(open) = self.open.get_mut(&question) {
            open.shown = Some(wish.into());
        }
    }

    fn ask(&mut self, open: Open) -> u64 {
        let id = self.next;
        self.next += 1;
        self.open.insert(id, open);
        id
    }
}

/// Whether a no to one is a no to the other for now. Where the view chooses the words, other words are
/// not another question.
fn same(one: &Subject, other: &Subject) -> bool {
    use Subject::{Download, Link, Read};
    matches!((one, other), (Link(_), Link(_)) | (Download(_), Download(_)) | (Read(_), Read(_)))
        || one == other
}

/// Keeps the newest.
fn push_bounded<T>(kept: &mut VecDeque<T>, new: T) {
    if kept.len() == KEPT {
        kept.pop_front();
    }
    kept.push_back(new);
}

fn whole(text: &str) -> Shown {
    (text.len() <= AT_ONCE).then(|| text.into())
}

fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(SHOWN)).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// After how many of the shortest pauses a no is forgotten.
const QUIET: u32 = 20;
/// How many questions are left to stand that no request waits for.
const ORPHANS: usize = 4;
/// How many decisions of each kind are remembered that are not for ever.
const KEPT: usize = 32;
/// How fast a view may ask, beyond what people decide.
const ASKING: Rate = Rate { per_second: 10.0 / 60.0, burst: 20.0 };
/// How much of a request a person can be shown, in bytes.
const SHOWN: usize = 256 << 10;
/// How much of it they see at first, and can be taken to have seen.
pub const AT_ONCE: usize = 2_000;
