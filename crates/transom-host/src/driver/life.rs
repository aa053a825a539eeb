//! What a live view says and is told, until it ends.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use transom::{
    host::{Input, Output, Reason, Ruling, Session, Share},
    rpc::ErrorObject,
    violation::{Quoted, Violation},
    wire::HostContext,
};

use super::{
    Driver,
    ledger::Held,
    questions::{deed_id, question_id},
    seat::Life,
};
use crate::{
    audit::Record,
    consent, context,
    envelope::{CloseReason, FromPage, ToPage, ViewId},
    upstream::CallError,
    words,
    words::Words,
};

impl Driver {
    pub(super) fn obey(&mut self, view: &ViewId, said: FromPage<'_>) {
        match said {
            FromPage::Message(text) => self.heard(view, text, Session::hear),
            FromPage::Dropped(dropped) => self.dropped(view, dropped.as_deref()),
            FromPage::Open(open) => self.open(view, open),
            FromPage::Arguments(piece) => self.write_arguments(view, &piece),
            FromPage::Call(call) => self.call_offered(view, call),
            FromPage::Answer(answer) => self.answered(view, &answer),
            FromPage::Did(did) => self.did(view, &did),
            FromPage::Resize(container) => {
                self.change_context(view, |context| {
                    context.container_dimensions = Some(container.dimensions());
                });
                if let Some(seat) = self.views.get_mut(view) {
                    seat.open.container = container;
                }
            }
            FromPage::Context(facts) => {
                self.change_context(view, |context| context::learn(context, &facts));
                // What opens later shall know it too.
                if let Some(seat) = self.views.get_mut(view) {
                    seat.open.context = facts;
                }
            }
            FromPage::Mode(mode) => self.mode_is(view, mode),
            FromPage::Close(reason) => self.closed_by_page(view, reason),
            FromPage::Unknown => {}
        }
    }

    /// Gives a view's message to its session.
    pub(super) fn heard(
        &mut self,
        view: &ViewId,
        text: &str,
        hear: impl FnOnce(&mut Session, Duration, &str, &mut Share) -> Result<(), Violation>,
    ) {
        let now = self.now();
        self.recall_sometimes(now);
        let Some(seat) = self.views.get_mut(view) else { return };
        let Life::Live(live) = &mut seat.life else { return };
        let Some(account) = self.accounts.get_mut(&seat.server) else { return };
        if let Err(violation) = hear(&mut live.session, now, text, &mut account.share) {
            self.refused(view, &violation);
        }
        self.drive(view);
    }

    /// Refuses what the page, or the sandbox before it, carried no further; where nobody knows what it was, that is written
    /// down.
    pub(super) fn dropped(&mut self, view: &ViewId, outline: Option<&str>) {
        if self.live(view).is_none() {
            return;
        }
        if let Some(outline) = outline {
            return self.heard(view, outline, Session::hear_of);
        }
        self.count(view, |counts| counts.refused += 1);
        self.log_of(view, "refused", || {
            "a message that was too large, or that JSON cannot hold".into()
        });
    }

    /// Writes down what was refused and was no request; a request's refusal is its verdict.
    pub(super) fn refused(&mut self, view: &ViewId, violation: &Violation) {
        self.count(view, |counts| counts.refused += 1);
        if let Violation::OverLimit(over) = violation {
            return self.limited(view, over, None);
        }
        self.log_of(view, "refused", || violation.into());
    }

    pub(super) fn carry_out(&mut self, view: &ViewId, output: Output) {
        self.note_output(view, &output);
        match output {
            Output::Send(text) => self.say(view, &ToPage::Message(text)),
            Output::Perform { call, task } => self.hold(view, Held::Perform { call, task }),
            Output::Abort { call, reason } => {
                let stop = self.live(view).and_then(|live| {
                    live.deeds.remove(&deed_id(call));
                    live.calls.remove(&call)
                });
                if let Some(stop) = stop {
                    let _ = stop.send(reason);
                }
                self.withdraw(view, deed_id(call));
            }
            Output::Ask(question) => self.hold(view, Held::Ask(Box::new(question), false)),
            Output::Waits { method, about, .. } => {
                self.log_of(view, "asked", || words!("{} {}: you decide", method, about));
            }
            Output::Withdraw { question } => self.withdraw(view, question_id(question)),
            Output::Unawaited { question } => self.unawaited(view, question),
            Output::Judged {
                method, ruling: Ruling::Refused(Violation::OverLimit(over)), ..
            } => self.limited(view, &over, method),
            Output::Judged { method, about, ruling, .. } => {
                if let Some(kind) = consent::ruling_kind(method, &ruling) {
                    self.log_of(view, kind, || consent::ruling(method, &about, &ruling));
                }
            }
            Output::Unheard { late, .. } => {
                let words = if late { "too late; it counts the next time" } else { "for nobody" };
                self.log_of(view, "answer", || words!("an answer {}", words));
            }
            Output::Resize(size) => {
                self.say(view, &ToPage::Resize { width: size.width, height: size.height });
            }
            Output::Greeted { info, .. } => {
                let (name, version) = (Quoted::new(&info.name), Quoted::new(&info.version));
                self.log_of(view, "view", || words!("{} {} says hello", name, version));
            }
            Output::Opened => {
                self.log_of(view, "view", || "ready".into());
                self.list_offers(view);
            }
            Output::Early { method } => {
                self.log_of(view, "warning", || words!("{} before initialized", method));
            }
            Output::Dropped { method, names, more } => {
                self.log_of(view, "warning", || left_out(method, &names, more));
            }
            Output::Log { level, logger, data } => {
                self.log_of(view, "console", || match logger {
                    Some(logger) => words!("{} {}: {}", level, logger, data),
                    None => words!("{} {}", level, data),
                });
            }
            Output::CloseWanted => {
                let now = self.now();
                if let Some(live) = self.live(view) {
                    live.session.close(now, Reason::Asked);
                }
            }
            Output::Closed(reason) => {
                let words = consent::closed(reason);
                self.log.write("view", &self.name(view), words);
                match consent::close_word(reason) {
                    "teardown" => self.end(view, "teardown"),
                    word => self.fall_back(view, words!("The view was {}.", words), word),
                }
            }
            Output::AppToolsChanged => self.list_offers(view),
            Output::AppTools(offered) => self.tell_offers(view, offered),
            Output::AppAnswer { call, outcome } => self.tell_called(view, call, outcome),
            Output::Pong { .. } => {}
            _ => {}
        }
    }

    pub(super) fn done(
        &mut self,
        view: &ViewId,
        call: u64,
        outcome: Result<Box<RawValue>, CallError>,
    ) {
        if let Some(live) = self.live(view) {
            live.calls.remove(&call);
        }
        let size = outcome.as_ref().map_or(0, |result| result.get().len());
        let room = self.room_for(view, size);
        match &outcome {
            Ok(_) if let Err(over) = room => {
                let violation = Violation::from(over);
                let (words, data) = (violation.to_string(), violation.data());
                self.note(view, || Record::outcome(call, Err(&words)));
                let error = ErrorObject {
                    data: data.as_deref(),
                    ..ErrorObject::new(transom::rpc::DENIED, words.as_str())
                };
                self.input(view, Input::Answer { call, outcome: Err(error) });
                self.limited(view, &over, None);
            }
            Ok(result) => {
                self.note(view, || Record::outcome(call, Ok(result.get().len())));
                self.input(view, Input::Answer { call, outcome: Ok(result) });
            }
            Err(error) => {
                let error = error.to_error();
                self.note(view, || Record::outcome(call, Err(&error.message)));
                self.input(view, Input::Answer { call, outcome: Err(error) });
            }
        }
    }

    pub(super) fn change_context(&mut self, view: &ViewId, change: impl FnOnce(&mut HostContext)) {
        let Some(live) = self.live(view) else { return };
        let mut context = HostContext::clone(live.session.context());
        change(&mut context);
        let _ = live.session.set_context(Arc::new(context));
        self.drive(view);
    }

    pub(super) fn closed_by_page(&mut self, view: &ViewId, reason: CloseReason) {
        let now = self.now();
        let Some(live) = self.live(view) else {
            // Nothing runs that would want to save.
            if self.views.get(view).is_some_and(|seat| !seat.is_over()) {
                self.end(view, "teardown");
            }
            return;
        };
        // The frame may be gone, and nobody left to be asked to save.
        if reason != CloseReason::User {
            let _ = live.session.handle(now, Input::Reloaded);
        }
        let reason = match reason {
            CloseReason::User => Reason::Closed,
            CloseReason::Gone => Reason::PageGone,
            CloseReason::Flood => Reason::Flood,
            CloseReason::PastSandbox => Reason::PastSandbox,
            CloseReason::NotText => Reason::NotText,
            CloseReason::Focus => Reason::Focus,
        };
        live.session.close(now, reason);
        self.drive(view);
    }

    pub(super) fn end(&mut self, view: &ViewId, reason: &str) {
        let Some(seat) = self.views.get_mut(view) else { return };
        (seat.life, seat.outcome, seat.text, seat.writing) = (Life::Ended, None, None, None);
        seat.turn += 1;
        // H-134: nobody waits for it any more.
        if let Some(stop) = seat.call.take() {
            let _ = stop.send("the view was closed");
        }
        // One that was live has said so itself.
        if std::mem::take(&mut seat.open_row) {
            let why = if reason == "text" { "shown as text" } else { "closed before it was shown" };
            self.note(view, || Record::closed(why));
        }
        // What opens in this place next is another view, about which nobody has decided.
        let is_for_it = |held: &Held| {
            matches!(
                held,
                Held::First { .. } | Held::Review { .. } | Held::Run(..) | Held::Admit { .. }
            )
        };
        self.drop_held(view, is_for_it);
        self.stop_timer(view);
        self.say(view, &ToPage::Close { reason: reason.to_owned() });
        self.flush(view);
    }
}

/// What did not go on of a request, in words.
pub(super) fn left_out(method: &'static str, names: &[Quoted], more: usize) -> Words {
    let names: Vec<String> = names.iter().map(Quoted::to_string).collect();
    let names = Words::ours(&names.join(", "));
    match more {
        0 => words!("{}: left out {}, which do not come from a view", method, names),
        more => words!(
            "{}: left out {} and {} more, which do not come from a view",
            method,
            names,
            more
        ),
    }
}
