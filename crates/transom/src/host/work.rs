//! Requests of the view that are not answered yet, from the verdict to the answer.

use std::time::Duration;

use serde_json::value::RawValue;

use super::{
    Output, Phase, Ruling, Session, Task, ToolCall, Which, handles::Expected, questions::Waiter,
};
use crate::{
    policy::{Claimed, Subject, Verdict},
    rpc::{self, DENIED, ErrorObject, INTERNAL_ERROR, Id},
    violation::{Denial, Quoted, Violation},
    wire::{ProgressParams, ProgressToken, RawObject, method},
};

/// One request of the view that is not answered yet.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) id: Id,
    pub(super) method: &'static str,
    /// Of its params, in bytes.
    pub(super) size: usize,
    pub(super) token: Option<ProgressToken>,
    pub(super) beats: u32,
    pub(super) reply: Reply,
    pub(super) stage: Stage,
    /// What its answer means for the handles of the view.
    pub(super) expected: Option<Expected>,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// A person decides.
    Asking(Box<Task>),
    /// The server, or the page, carries it out.
    Running,
}

/// What a successful answer looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reply {
    /// What came back, untouched.
    Raw,
    /// `{}` and nothing else (H-92, H-99).
    Empty,
    /// The mode in force (H-81).
    Mode,
}

impl Session {
    /// Takes in what came of a task.
    pub(super) fn answer(&mut self, call: u64, outcome: Result<&RawValue, ErrorObject<'_>>) {
        if !self.work.get(call).is_some_and(Work::is_running) {
            return;
        }
        let work = self.work.settle(call).expect("it is there");
        self.serving.settle(&work.id);
        if let (Some(expected), Ok(result)) = (&work.expected, &outcome) {
            self.take_handles(expected, result);
        }
        let outcome = match (work.reply, outcome) {
            (Reply::Mode, _) => return self.reply_mode(&work.id),
            (_, Err(error)) => Err(error),
            (Reply::Empty, Ok(_)) => Ok(empty()),
            // W-6: whatever a server says, the view gets an object or an error.
            (Reply::Raw, Ok(result)) if !result.get().starts_with('{') => {
                Err(ErrorObject::new(INTERNAL_ERROR, "the result is not an object"))
            }
            (Reply::Raw, Ok(result)) => Ok(result),
        };
        self.respond(&work.id, outcome);
    }

    /// Passes progress on, under the token that the view gave (H-74).
    pub(super) fn relay_progress(&mut self, now: Duration, call: u64, params: &RawValue) {
        // H-53: a view that is not ready is told nothing; its call is given more time all the same.
        let open = matches!(self.state.phase, Phase::Ready | Phase::Closing { .. });
        let Some(work) = self.work.progress(now, call) else { return };
        let Some(token) = work.token.clone().filter(|_| open) else { return };
        let Ok(progress) = serde_json::from_str::<ProgressParams>(params.get()) else { return };
        let progress = ProgressParams { progress_token: token, ..progress };
        self.notify(method::PROGRESS, Some(&rpc::raw(&progress)));
    }

    /// The server, or the person, did not answer in time.
    pub(super) fn give_up(&mut self, call: u64, work: Work) {
        if let Stage::Asking(task) = &work.stage {
            self.leave(Waiter::View(call));
            return self.refuse(call, &work, task, Denial::NoDecision);
        }
        let reason = "no answer in time";
        self.fail(&work, reason, None);
        self.outputs.push_back(Output::Abort { call, reason: reason.into() });
    }

    /// A person said yes to `subject`. The tools and the rules may have changed since they were asked,
    /// and it is by the present ones that a call is judged (H-15).
    pub(super) fn go_on(&mut self, now: Duration, call: u64, subject: &Subject, said: &Claimed) {
        let Some(Work { stage: Stage::Asking(task), .. }) = self.work.get(call) else { return };
        // The yes was for what the tool said of itself then.
        if let Task::CallTool(ToolCall { name, .. }) = &**task
            && let Some(tool) = self.tools.get(name)
            && said.get(name) != Some(&tool.claims)
        {
            let denial = Denial::Changed(Quoted::new(name));
            return self.turn_down(call, Some(denial));
        }
        match (self.verdict(task), subject) {
            (Verdict::Deny(denial), _) => return self.turn_down(call, Some(denial)),
            // A yes to one route is none to another.
            (Verdict::Ask(now @ Subject::Route { .. }), then) if now != *then => {
                return self.turn_down(call, Some(Denial::Changed(Quoted::new(now.kind()))));
            }
            _ => {}
        }
        self.work.renew(now, call, self.setup.terms.call);
        let work = self.work.get_mut(call).expect("it was there a moment ago");
        if let Stage::Asking(task) = std::mem::replace(&mut work.stage, Stage::Running) {
            let judged = work.judged(call, &task, Ruling::Allowed);
            self.outputs.push_back(judged);
            self.outputs.push_back(Output::Perform { call, task: *task });
        }
    }

    /// What is to be said now of a request that waits for a person.
    pub(super) fn verdict_of_waiting(&self, call: u64) -> Option<Verdict> {
        match &self.work.get(call)?.stage {
            Stage::Asking(task) => Some(self.verdict(task)),
            Stage::Running => None,
        }
    }

    /// A person said no, or the rules do.
    pub(super) fn turn_down(&mut self, call: u64, denial: Option<Denial>) {
        let Some(work) = self.work.settle(call) else { return };
        if let Stage::Asking(task) = &work.stage {
            let denial = denial.unwrap_or_else(|| Denial::Refused(task.about()));
            self.refuse(call, &work, task, denial);
        }
    }

    /// Answers a request that a person was asked about and that will not be carried out.
    fn refuse(&mut self, call: u64, work: &Work, task: &Task, denial: Denial) {
        let violation = Violation::Denied(denial);
        let (words, data) = (violation.to_string(), violation.data());
        self.outputs.push_back(work.judged(call, task, Ruling::Refused(violation)));
        self.fail(work, &words, data.as_deref());
    }

    /// The view does not wait for this decision any more.
    pub(super) fn taken_back(&mut self, call: u64, work: &Work) {
        if let Stage::Asking(task) = &work.stage {
            self.outputs.push_back(work.judged(call, task, Ruling::Withdrawn));
        }
    }

    fn fail(&mut self, work: &Work, words: &str, data: Option<&RawValue>) {
        self.serving.settle(&work.id);
        match work.reply {
            Reply::Mode => self.reply_mode(&work.id),
            _ => {
                let error = ErrorObject { data, ..ErrorObject::new(DENIED, words) };
                self.respond(&work.id, Err(error));
            }
        }
    }

    /// Tells every view request that waits for a person that it is not forgotten.
    pub(super) fn heartbeat(&mut self, now: Duration) {
        let mut signs = vec![];
        for (_, work) in self.work.iter_mut() {
            if let (Stage::Asking(_), Some(token)) = (&work.stage, &work.token) {
                work.beats += 1;
                signs.push(ProgressParams {
                    progress_token: token.clone(),
                    // Progress only grows, and the server's own begins where it likes: take no room.
                    progress: f64::from(work.beats) / 1e6,
                    total: None,
                    message: Some("waiting for a decision".to_owned()),
                });
            }
        }
        self.beat = (!signs.is_empty()).then(|| self.next_beat(now));
        if self.is_ready() {
            for sign in signs {
                self.notify(method::PROGRESS, Some(&rpc::raw(&sign)));
            }
        }
    }

    pub(super) fn beat_from(&mut self, now: Duration, alive: bool) {
        if alive && self.beat.is_none() {
            self.beat = Some(self.next_beat(now));
        }
    }

    /// Never now: a deadline that a tick does not move would send the driver in circles.
    fn next_beat(&self, now: Duration) -> Duration {
        now.saturating_add(self.setup.terms.heartbeat.max(SHORTEST_BEAT))
    }
}

impl Work {
    fn judged(&self, call: u64, task: &Task, ruling: Ruling) -> Output {
        Output::Judged {
            which: Which::View { id: self.id.clone(), call: Some(call) },
            method: Some(self.method),
            about: task.about(),
            size: self.size,
            ruling,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running)
    }
}

/// `{}`.
pub(super) fn empty() -> &'static RawValue {
    RawObject::default().raw()
}

/// Signs of life more frequent than this are noise, whatever the terms say.
const SHORTEST_BEAT: Duration = Duration::from_secs(1);
