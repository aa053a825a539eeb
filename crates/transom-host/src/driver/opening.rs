//! How a view opens: its document is read, its tool is called, and its session begins, or text is shown in its place.

use std::{collections::HashMap, sync::Arc};

use serde_json::value::RawValue;
use transom::{
    host::{Input, Opening, Session, ToolCall},
    partial::Healer,
    printed::Printed,
    violation::{Holder, Limit, Over, Quoted},
    wire::{DisplayMode, RawObject},
};

use super::{
    Driver,
    common::Common,
    embedded,
    event::{Event, News},
    granting::Hindered,
    ledger::Held,
    seat::{Life, Live, Seat},
    writing::so_far,
};
use crate::{
    allowance::Allowance,
    audit::Record,
    consent, context,
    envelope::{self, Ask, Ending, Mount, Open, ToPage, ViewId},
    log::LineKind,
    sandbox::Reports,
    server::Prepared,
    upstream::CallError,
    words,
    words::Words,
};

impl Seat {
    /// The page has room for the view. `beside` is how many views of its server are open.
    pub(super) fn open(&mut self, common: &mut Common, mut open: Open, beside: usize) {
        // A page that is loaded anew does not know the tool, and need not.
        if !self.is_over() {
            open.tool = self.open.tool.take();
        }
        self.open = open;
        // What its page has not loaded to the end is of no use.
        if !self.open.spare {
            self.spare = None;
        }
        match &self.life {
            Life::Opening | Life::Judged(_) => {}
            Life::Judging(_, ask) | Life::Admitting(_, ask, _) => {
                let ask = Ask::clone(ask);
                self.say(common, &ToPage::Ask(Box::new(ask)));
            }
            Life::Live(live) => {
                let mount = live.mount.clone();
                self.reopened(common, mount);
            }
            Life::Text { why, .. } => {
                let why = why.clone();
                self.say(common, &ToPage::Text { why, text: None });
            }
            Life::Ended => match self.open.tool.clone() {
                Some(tool) => self.begin(common, tool, beside),
                None => self.say(common, &ToPage::Close { reason: Ending::Unknown }),
            },
        }
        self.tell_progress(common);
    }

    /// The same view on a page that was loaded anew: same origin, new document.
    pub(super) fn reopened(&mut self, common: &mut Common, mount: Mount) {
        self.forget_asked_grants(common);
        self.say(common, &ToPage::Open(mount));
        self.tell_banner(common);
        self.tell_hindered(common);
        self.input(common, Input::Reloaded);
        self.stop_writing(common);
        let open = self.open.clone();
        self.change_context(common, |context| {
            context.display_mode = Some(DisplayMode::Inline);
            context.available_display_modes = Some(open.modes);
            context.container_dimensions = Some(open.container.dimensions());
            context::learn(context, &open.context);
        });
    }

    /// Reads the document of a tool's view, and calls the tool at the same time if its arguments are known.
    pub(super) fn begin(&mut self, common: &mut Common, tool: envelope::Tool, beside: usize) {
        self.leave_account(common);
        self.begin_tally(common);
        self.detach(common);
        self.server.clone_from(&tool.server);
        self.tool.clone_from(&tool.name);
        self.metrics = Arc::clone(common.metrics.of(&tool.server));
        (self.life, self.outcome, self.text) = (Life::Opening, None, None);
        self.writing = tool.writing.then(Healer::new);
        let Some(server) = common.servers.get(&tool.server) else {
            return self
                .not_begun(common, &format!("there is no server {}", Quoted::new(&tool.server)));
        };
        if let Err(denial) = Session::may_open(&server.tools(), &tool.name) {
            self.note(common, || Record::not_opened(&tool.name));
            return self.not_begun(common, &denial.to_string());
        }
        let (_, together) = server.limits();
        if beside >= together.views {
            let most = together.views as u64;
            return self.too_many(common, &Over { limit: Limit::Views, of: Holder::Server, most });
        }
        if let Some(call) = &tool.call
            && let Err(words) = self.attach(common, call)
        {
            return self.not_begun(common, words);
        }
        let writing = tool.writing || self.attached.is_some();
        // What the page sends for a person is shown to the view, written down and sent as one value too.
        let arguments = match tool.arguments.as_deref().map(Printed::read).transpose() {
            Ok(arguments) => arguments,
            Err(why) => {
                return self.not_begun(common, &format!("its arguments are not clear: {why}"));
            }
        };
        if let Some(tool) = self.open.tool.as_mut() {
            let raw = |printed: &Printed| RawValue::from_string(printed.get().to_owned()).ok();
            tool.arguments = arguments.as_ref().and_then(raw);
        }
        self.turn += 1;
        self.count_opening();
        let call = ToolCall { name: tool.name, arguments, meta: None, request: None };
        self.hold(common, Held::Open { call, writing });
    }

    /// That a view opens is written down: its document is read, and its tool is called, unless its arguments are still being
    /// written.
    pub(super) fn begin_written(&mut self, common: &mut Common, call: &ToolCall, writing: bool) {
        let Some(server) = common.servers.get(&self.server) else { return };
        let (events, sandbox) = (common.events.clone(), common.sandbox.clone());
        let (view, turn, tool) = (self.id.clone(), self.turn, call.name.clone());
        self.viewless = server.is_viewless(&tool);
        if !self.viewless {
            let (spare, reports) = (self.spare.take(), self.reports(common));
            tokio::spawn(async move {
                let prepared = server.prepare(&tool, &sandbox, spare, reports).await.map(Box::new);
                let news = News::Prepared(prepared);
                let _ = events.send(Event::Opening { view, turn, news }).await;
            });
        }
        if self.attached.is_some() {
            return self.catch_up(common);
        }
        match writing {
            true => {
                let words = words!("being written: {}", Quoted::new(&call.name));
                common.log.write(LineKind::Call, &self.server, words);
            }
            false => self.call_opening(common, call),
        }
    }

    /// Where the sandbox tells what was blocked in the view.
    pub(super) fn reports(&self, common: &Common) -> Reports {
        let (ears, view, turn) = (common.events.clone(), self.id.clone(), self.turn);
        // The loop may have no time for it: it is only words, and the next load says it again.
        Reports::new(move |report| {
            let _ = ears.try_send(Event::Reported { view: view.clone(), turn, report });
        })
    }

    /// There is no answer of its tool to wait for: the tool is not called.
    pub(super) fn not_begun(&mut self, common: &mut Common, words: &str) {
        self.writing = None;
        match &mut self.life {
            Life::Opening | Life::Judging(..) | Life::Admitting(..) | Life::Judged(_) => {
                self.no_view(common, words);
                self.end(common, Ending::Text);
            }
            Life::Live(live) => {
                self.text = Some(format!("The tool was not called: {words}."));
                let _ = live.session.tool_cancelled(Some(words));
                common.log.write(LineKind::Result, &self.name(), Words::ours(words));
                self.drive(common);
            }
            Life::Text { reason, .. } => {
                let reason = *reason;
                self.end(common, reason);
            }
            Life::Ended => {}
        }
    }

    /// As many views are open as the host may have. The tool is not called.
    pub(super) fn turn_away(&mut self, common: &mut Common, tool: &envelope::Tool, most: usize) {
        self.server.clone_from(&tool.server);
        self.tool.clone_from(&tool.name);
        let most = most as u64;
        self.too_many(common, &Over { limit: Limit::Views, of: Holder::Host, most });
    }

    /// As many views are open as may be. The tool is not called.
    pub(super) fn too_many(&mut self, common: &mut Common, over: &Over) {
        common.metrics.of(&self.server).limited(over.limit);
        let why = consent::limited(over, &self.server, None);
        let tool = self.tool.clone();
        self.note(common, || Record::limited(over, &tool));
        common.log.write(LineKind::Limit, &self.name(), why.clone());
        self.say(common, &ToPage::Text { why, text: None });
        self.end(common, Ending::Limit);
    }

    pub(super) fn prepared(
        &mut self,
        common: &mut Common,
        prepared: Result<Box<Prepared>, String>,
    ) {
        if !matches!(self.life, Life::Opening) {
            return;
        }
        match prepared {
            Ok(prepared) => self.look_over(common, prepared),
            Err(words) => self.no_view(common, &words),
        }
    }

    pub(super) fn begin_live(&mut self, common: &mut Common, prepared: Prepared) {
        let now = common.now();
        let outcome = self.outcome.take();
        let mount = prepared.mount(&self.tool);
        prepared.mounted.reveal();
        self.note_opened(common, &prepared);
        let opening = self.opening(common, &prepared);
        let Some(account) = common.accounts.get(&self.server) else { return };
        let mut setup = Arc::clone(&account.setup);
        if let Some(granted) = prepared.granted() {
            Arc::make_mut(&mut setup).capabilities.sandbox = Some(granted);
        }
        let mut session = Session::start(now, setup, opening);
        self.tell_input(&mut session);
        let (warnings, given) = (prepared.warnings(), !prepared.given.is_empty());
        let policy = words!("its policy: {}", Words::ours(&prepared.mounted.csp.to_string()));
        self.life = Life::Live(Box::new(Live {
            session,
            hindered: Hindered::at_first(&prepared),
            quiet: false,
            begun: HashMap::new(),
            traced: HashMap::new(),
            banner: prepared.embedded.as_ref().map(embedded::banner),
            prepared,
            mount: mount.clone(),
            calls: HashMap::new(),
            asked: HashMap::new(),
            deeds: HashMap::new(),
            offered: HashMap::new(),
            by_model: HashMap::new(),
            refusals: Allowance::refusals(),
            lines: Allowance::lines(),
            mode_call: None,
        }));
        let server = self.server.clone();
        if given {
            common.memory.watch(&self.id);
        }
        common.log.write(LineKind::View, &self.name(), policy);
        for warning in warnings {
            common.log.write(LineKind::Warning, &server, warning);
        }
        self.say(common, &ToPage::Open(mount));
        self.tell_banner(common);
        self.tell_hindered(common);
        if let Some(outcome) = outcome {
            self.called(common, outcome);
        }
        self.drive(common);
    }

    fn opening(&self, common: &Common, prepared: &Prepared) -> Opening {
        let embedded = prepared.embedded.as_ref();
        Opening {
            context: Arc::new(context::opening(&self.open, self.turn, prepared, &common.styles)),
            tools: prepared.server.tools(),
            policy: prepared.server.policy(),
            decided: common.decided.get(&self.server).cloned().unwrap_or_default(),
            port: self.open.lanes.iter().any(|lane| lane == "port"),
            embedded: embedded.is_some(),
            render_data: embedded.and_then(|it| it.render_data.clone()),
        }
    }

    /// The arguments of its tool, as far as they are written.
    fn tell_input(&self, session: &mut Session) {
        if let Some(so_far) = self.writing.as_ref().map(so_far) {
            let so_far = RawObject::new(&so_far).unwrap_or_default();
            session.tool_input_partial(so_far).expect("the first thing it is told");
        } else {
            let arguments = self.open.tool.as_ref().and_then(|tool| tool.arguments.as_deref());
            let arguments = arguments.and_then(RawObject::new).unwrap_or_default();
            session.tool_input(arguments).expect("the first thing it is told");
        }
    }

    /// What came of the call of its tool: to the view, or in words if there is none.
    pub(super) fn called(
        &mut self,
        common: &mut Common,
        outcome: Result<Box<RawValue>, CallError>,
    ) {
        let size = outcome.as_ref().map_or(0, |result| result.get().len());
        let room = self.room_for(common, size);
        match &mut self.life {
            Life::Opening | Life::Judging(..) | Life::Admitting(..) | Life::Judged(_) => {
                self.outcome = Some(outcome);
                self.look_into_result(common);
            }
            Life::Live(live) => {
                // H-67: an error is a cancellation with its words as the reason.
                let _ = match outcome.as_deref().map(RawObject::new) {
                    Ok(Some(_)) if let Err(over) = room => {
                        live.session.tool_cancelled(Some(&over.to_string()))
                    }
                    Ok(Some(result)) => live.session.tool_result(result),
                    Ok(None) => live.session.tool_cancelled(Some("the result is not an object")),
                    Err(error) => live.session.tool_cancelled(Some(&error.to_string())),
                };
                self.drive(common);
            }
            Life::Text { why, reason } => {
                let (why, reason) = (why.clone(), *reason);
                self.fall_back(common, why, reason);
            }
            Life::Ended => {}
        }
    }

    /// There is no view to show, in words that are written down.
    pub(super) fn no_view(&mut self, common: &mut Common, words: &str) {
        let words = Words::ours(words);
        common.log.write(LineKind::Text, &self.name(), words.clone());
        self.fall_back(common, words!("There is no view to show: {}.", words), Ending::Text);
    }

    /// Shows what the tool answered in place of a view, or will answer (H-03).
    pub(super) fn fall_back(&mut self, common: &mut Common, why: Words, reason: Ending) {
        let text = self.text.clone();
        let known = text.is_some();
        self.life = Life::Text { why: why.clone(), reason };
        self.say(common, &ToPage::Text { why, text });
        if known {
            return self.end(common, reason);
        }
        self.stop_timer(common);
        self.flush(common);
    }
}

impl Driver {
    /// Something that the opening of a view waited for. What was under way for the view before it in the same seat is not
    /// for this one.
    pub(super) fn opening(&mut self, view: &ViewId, turn: u64, news: News) {
        let Some((seat, common)) = self.seat_in(view, turn) else { return };
        match news {
            News::Prepared(prepared) => seat.prepared(common, prepared),
            News::Progress(params) => seat.progressing(common, params.as_deref()),
            News::Called(outcome) => seat.tool_answered(common, outcome),
        }
        if !seat.is_watched(common) {
            self.show_left();
        }
    }
}
