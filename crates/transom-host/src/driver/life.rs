//! What a live view says and is told, until it ends.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use transom::{
    host::{Input, List, Output, Reason, Ruling, Session, Share, ToolCall},
    rpc::ErrorObject,
    violation::{Quoted, Violation},
    wire::HostContext,
};

use super::{
    Driver,
    common::Common,
    ledger::Held,
    seat::{Life, Seat},
};
use crate::{
    audit::Record,
    consent, context,
    envelope::{CloseReason, Ending, FromPage, Open, ToPage, ViewId},
    log::LineKind,
    upstream::CallError,
    words,
    words::Words,
};

impl Seat {
    /// Does as the page says, where that concerns this view alone.
    fn obey(&mut self, common: &mut Common, said: FromPage<'_>) {
        match said {
            FromPage::Message(text) => {
                self.note_heard(common, text);
                self.heard(common, text, Session::hear);
            }
            // What the page, or the sandbox before it, carried no further, as far as they know what it was.
            FromPage::Dropped(known) => {
                self.note_dropped(common, known.as_deref());
                self.heard(common, known.as_deref().unwrap_or_default(), Session::hear_of);
            }
            FromPage::Arguments(piece) => self.write_arguments(common, &piece),
            FromPage::Call(call) => self.call_offered(common, call),
            FromPage::Cancel(_) => self.cancel(common),
            FromPage::Grant(wanted) => self.want_grants(common, &wanted),
            FromPage::Did(did) => self.did(common, &did),
            FromPage::Resize(container) => {
                self.change_context(common, |context| {
                    context.container_dimensions = Some(container.dimensions());
                });
                self.open.container = container;
            }
            FromPage::Context(facts) => {
                self.change_context(common, |context| context::learn(context, &facts));
                // What opens later shall know it too.
                self.open.context = facts;
            }
            FromPage::Mode(mode) => self.mode_is(common, mode),
            FromPage::Close(reason) => self.closed_by_page(common, reason),
            // The driver does these, which concern other seats as well.
            FromPage::Open(_) | FromPage::Answer(_) | FromPage::Spare {} => {}
            FromPage::Unknown => {}
        }
    }

    /// Gives a view's message to its session.
    pub(super) fn heard(
        &mut self,
        common: &mut Common,
        text: &str,
        hear: impl FnOnce(&mut Session, Duration, &str, &mut Share) -> Result<(), Violation>,
    ) {
        let now = common.now();
        let _judging = self.message_span(text.len()).entered();
        let Life::Live(live) = &mut self.life else { return };
        let Some(account) = common.accounts.get_mut(&self.server) else { return };
        if let Err(violation) = hear(&mut live.session, now, text, &mut account.share) {
            self.refused(common, &violation);
        }
        self.drive(common);
    }

    /// Writes down what was refused and was no request; a request's refusal is its verdict.
    pub(super) fn refused(&mut self, common: &mut Common, violation: &Violation) {
        self.count(common, |counts| counts.refused += 1);
        self.count_refusal(violation);
        if let Violation::OverLimit(over) = violation {
            return self.limited(common, over, None);
        }
        self.log_of(common, LineKind::Refused, || violation.into());
    }

    pub(super) fn carry_out(&mut self, common: &mut Common, output: Output) {
        self.note_output(common, &output);
        match output {
            Output::Send(text) => self.say(common, &ToPage::Message(text)),
            Output::Perform { call, task } => self.hold(common, Held::Perform { call, task }),
            Output::CallAppTool { call, name, params } => {
                self.hold(common, Held::Offered { call, name, params });
            }
            Output::Abort { call, reason } => {
                let deed = self.deed_id(call);
                let stop = self.live().and_then(|live| {
                    live.deeds.remove(&deed);
                    live.begun.remove(&call);
                    live.calls.remove(&call)
                });
                if let Some(stop) = stop {
                    let _ = stop.send(reason);
                }
                self.withdraw(common, deed);
            }
            Output::Release(call) => self.hold_release(common, call),
            Output::Ask(question) => self.hold(common, Held::Ask(Box::new(question), false)),
            Output::Withdraw { question } => {
                let id = self.question_id(question);
                self.withdraw(common, id);
            }
            Output::Unawaited { question } => self.unawaited(common, question),
            Output::Judged {
                method, ruling: Ruling::Refused(Violation::OverLimit(over)), ..
            } => self.limited(common, &over, method),
            Output::Resize(size) => {
                self.say(common, &ToPage::Resize { width: size.width, height: size.height });
            }
            Output::Quiet { greeted } => self.quiet(common, greeted),
            Output::McpUi => self.speaks_mcp_ui(common),
            Output::Opened => {
                self.no_longer_quiet(common);
                self.log_of(common, LineKind::View, || "ready".into());
                self.list_offers(common);
            }
            Output::CloseWanted => {
                let now = common.now();
                if let Some(live) = self.live() {
                    live.session.close(now, Reason::Asked);
                }
            }
            Output::Closed(reason) => {
                let words = consent::closed(reason);
                common.log.write(LineKind::View, &self.name(), words);
                match consent::ending(reason) {
                    Ending::Teardown => self.end(common, Ending::Teardown),
                    ending => self.fall_back(common, words!("The view was {}.", words), ending),
                }
            }
            Output::AppToolsChanged => self.list_offers(common),
            Output::AppTools(offered) => self.tell_offers(common, offered),
            Output::AppAnswer { call, outcome } => self.tell_called(common, call, outcome),
            output => self.log_output(common, output),
        }
    }

    /// The seat may be another view's when the row is written: it says for which server.
    fn hold_release(&self, common: &mut Common, call: ToolCall) {
        let server = self.server.clone();
        self.hold(common, Held::Release { server, call });
    }

    /// Writes in the log what a session says and needs nothing done for.
    fn log_output(&mut self, common: &Common, output: Output) {
        match output {
            Output::Waits { method, about, .. } => {
                self.log_of(common, LineKind::Asked, || words!("{} {}: you decide", method, about));
            }
            Output::Judged { method, about, ruling, .. } => {
                if let Some(kind) = consent::ruling_kind(method, &ruling) {
                    self.log_of(common, kind, || consent::ruling(method, &about, &ruling));
                }
            }
            Output::Unheard { late, .. } => {
                let words = if late {
                    "too late; it counts the next time"
                } else {
                    "to nothing that is asked"
                };
                self.log_of(common, LineKind::Answer, || words!("an answer {}", words));
            }
            Output::Greeted { info, .. } => {
                self.speaks_mcp_apps(common);
                let (name, version) = (Quoted::new(&info.name), Quoted::new(&info.version));
                self.log_of(common, LineKind::View, || words!("{} {} says hello", name, version));
            }
            Output::Early { method } => {
                self.log_of(common, LineKind::Warning, || words!("{} before initialized", method));
            }
            Output::Dropped { method, names, more } => {
                self.log_of(common, LineKind::Warning, || left_out(method, &names, more));
            }
            Output::Log { level, logger, data } => {
                self.log_of(common, LineKind::Console, || match logger {
                    Some(logger) => words!("{} {}: {}", level, logger, data),
                    None => words!("{} {}", level, data),
                });
            }
            _ => {}
        }
    }

    /// A call of the view goes on.
    pub(super) fn progressed(&mut self, common: &mut Common, call: u64, params: &RawValue) {
        self.count(common, |counts| counts.progress += 1);
        // Progress that does not fit into what may wait for the page is dropped.
        if self.room_for(common, params.get().len()).is_ok() {
            self.input(common, Input::Progress { call, params });
        }
    }

    /// A list of its server changed.
    pub(super) fn list_changed(&mut self, common: &mut Common, list: List) {
        if let Some(live) = self.live() {
            let tools = live.prepared.server.tools();
            live.session.set_tools(tools);
        }
        self.input(common, Input::ListChanged(list));
    }

    /// A call of the view has come to its end.
    pub(super) fn done(
        &mut self,
        common: &mut Common,
        call: u64,
        outcome: Result<Box<RawValue>, CallError>,
    ) {
        if let Some(live) = self.live() {
            live.calls.remove(&call);
        }
        self.end_trace(call, if outcome.is_ok() { "answered" } else { "failed" });
        self.log_outcome(common, call, &outcome);
        let size = outcome.as_ref().map_or(0, |result| result.get().len());
        let room = self.room_for(common, size);
        match &outcome {
            Ok(_) if let Err(over) = room => {
                let violation = Violation::from(over);
                let (words, data) = (violation.to_string(), violation.data());
                self.note(common, || Record::outcome(call, Err(&words)));
                self.metrics.limited(over.limit);
                let error = ErrorObject {
                    data: data.as_deref(),
                    ..ErrorObject::new(transom::rpc::DENIED, words.as_str())
                };
                self.input(common, Input::Answer { call, outcome: Err(error) });
                self.limited(common, &over, None);
            }
            Ok(result) => {
                self.note(common, || Record::outcome(call, Ok(result.get().len())));
                self.input(common, Input::Answer { call, outcome: Ok(result) });
            }
            Err(error) => {
                self.note(common, || Record::outcome(call, Err(&error.outline())));
                self.input(common, Input::Answer { call, outcome: Err(error.to_error()) });
            }
        }
    }

    pub(super) fn change_context(
        &mut self,
        common: &mut Common,
        change: impl FnOnce(&mut HostContext),
    ) {
        let Some(live) = self.live() else { return };
        let mut context = HostContext::clone(live.session.context());
        change(&mut context);
        let _ = live.session.set_context(Arc::new(context));
        self.drive(common);
    }

    /// The host ends. A live view has its time to save.
    pub(super) fn close(&mut self, common: &mut Common) {
        match &mut self.life {
            Life::Live(live) => live.session.close(common.now(), Reason::Closed),
            Life::Ended => {}
            _ => self.end(common, Ending::Teardown),
        }
        self.drive(common);
    }

    /// The page says that the view shall end, or has ended.
    pub(super) fn closed_by_page(&mut self, common: &mut Common, reason: CloseReason) {
        let now = common.now();
        self.spare = None;
        let Some(live) = self.live() else {
            // Nothing runs that would want to save.
            if !self.is_over() {
                self.end(common, Ending::Teardown);
            }
            return;
        };
        // The frame may be gone: no view is left to be asked to save.
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
        self.drive(common);
    }

    pub(super) fn end(&mut self, common: &mut Common, reason: Ending) {
        (self.life, self.outcome, self.text, self.writing) = (Life::Ended, None, None, None);
        self.spare = None;
        self.turn += 1;
        self.detach(common);
        // H-134: no view waits for the answer any more.
        if let Some(calling) = self.call.take() {
            calling.stop("the view was closed");
        }
        // One that was live has said so itself.
        if self.count_end() {
            let why = match reason {
                Ending::Text => "shown as text",
                _ => "closed before it was shown",
            };
            self.note(common, || Record::closed(why));
        }
        self.drop_held(common, Held::is_for_this_view);
        self.stop_timer(common);
        self.say(common, &ToPage::Close { reason });
        self.flush(common);
    }
}

impl Driver {
    /// Does as a page says about one of its views.
    pub(super) fn obey(&mut self, view: &ViewId, said: FromPage<'_>) {
        match said {
            FromPage::Open(open) => self.open(view, open),
            FromPage::Spare {} => self.make_spare(view),
            FromPage::Answer(answer) => self.answered(view, &answer),
            said => {
                if matches!(said, FromPage::Message(_) | FromPage::Dropped(_)) {
                    self.recall_sometimes();
                }
                let Some((seat, common)) = self.seat(view) else { return };
                seat.obey(common, said);
            }
        }
    }

    /// A page wants to load ahead what the next view needs in any case: one for each page, and nothing that could not be had
    /// is told. Without one the view opens as well.
    fn make_spare(&mut self, view: &ViewId) {
        let Some(page) = self.seats.get(view).map(|seat| seat.page.clone()) else { return };
        if self.seats.values().any(|seat| seat.page == page && seat.spare.is_some()) {
            return;
        }
        let Some((seat, common)) = self.seat(view) else { return };
        if !seat.is_over() {
            return;
        }
        let Ok(Some(spare)) = common.sandbox.spare(&common.page_origins) else { return };
        let src = spare.sandbox_url.clone();
        seat.spare = Some(spare);
        seat.say(common, &ToPage::Spare { src });
    }

    fn open(&mut self, view: &ViewId, open: Open) {
        // A person may have taken back what a view on this page was given.
        self.recall();
        let server = open.tool.as_ref().map(|tool| tool.server.as_str());
        let beside = |seat: &&Seat| !seat.is_over() && Some(seat.server.as_str()) == server;
        let beside = self.seats.values().filter(beside).count();
        let views = self.seats.values().filter(|seat| !seat.is_over()).count();
        let most = self.most_views;
        let is_open = self.is_open();
        let Some((seat, common)) = self.seat(view) else { return };
        // There was room for a seat when the page asked for a spare; for a view there may be none now.
        match &open.tool {
            Some(tool) if !is_open && seat.is_over() => seat.not_any_more(common, tool),
            Some(tool) if views >= most && seat.is_over() => seat.turn_away(common, tool, most),
            _ => seat.open(common, open, beside),
        }
    }
}

/// What did not go on of a request, in words.
fn left_out(method: &'static str, names: &[Quoted], more: usize) -> Words {
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
