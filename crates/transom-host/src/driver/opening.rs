//! How a view opens: its document is read, its tool is called, and its session begins, or text is shown in its place.

use std::{collections::HashMap, sync::Arc};

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use transom::{
    host::{Input, Opening, Session, ToolCall},
    partial::Healer,
    printed::Printed,
    violation::{Holder, Limit, Over, Quoted},
    wire::{DisplayMode, RawObject},
};

use super::{
    Driver, LINE,
    allowance::Allowance,
    event::Event,
    seat::{Life, Live, Seat},
    writing::so_far,
};
use crate::{
    audit::Record,
    consent, context,
    envelope::{self, Ask, Mount, Open, ToPage, ViewId},
    fallback,
    server::Prepared,
    upstream::CallError,
    words,
    words::Words,
};

impl Driver {
    pub(super) fn open(&mut self, view: &ViewId, mut open: Open) {
        // Somebody may have taken back what a view on this page was given.
        self.recall();
        let Some(seat) = self.views.get_mut(view) else { return };
        // A page that is loaded anew does not know the tool, and need not.
        if !seat.is_over() {
            open.tool = seat.open.tool.take();
        }
        seat.open = open;
        match &seat.life {
            Life::Opening | Life::Judged(_) => {}
            Life::Judging(_, ask) | Life::Admitting(_, ask, _) => {
                let ask = Ask::clone(ask);
                self.say(view, &ToPage::Ask(Box::new(ask)));
            }
            Life::Live(live) => {
                let mount = live.mount.clone();
                self.reopened(view, mount);
            }
            Life::Text { why, .. } => {
                let why = why.clone();
                self.say(view, &ToPage::Text { why, text: None });
            }
            Life::Ended => match seat.open.tool.clone() {
                Some(tool) => self.begin(view, tool),
                None => self.say(view, &ToPage::Close { reason: "unknown".to_owned() }),
            },
        }
    }

    /// The same view on a page that was loaded anew: same origin, new document.
    pub(super) fn reopened(&mut self, view: &ViewId, mount: Mount) {
        self.say(view, &ToPage::Open(mount));
        self.input(view, Input::Reloaded);
        self.stop_writing(view);
        let Some(seat) = self.views.get(view) else { return };
        let open = seat.open.clone();
        self.change_context(view, |context| {
            context.display_mode = Some(DisplayMode::Inline);
            context.available_display_modes = Some(open.modes);
            context.container_dimensions = Some(open.container.dimensions());
            context::learn(context, &open.context);
        });
    }

    /// Reads the document of a tool's view, and calls the tool at the same time if its arguments are known.
    pub(super) fn begin(&mut self, view: &ViewId, tool: envelope::Tool) {
        self.leave_account(view);
        let of_server = |seat: &&Seat| !seat.is_over() && seat.server == tool.server;
        let open = self.views.values().filter(of_server).count();
        let Some(seat) = self.views.get_mut(view) else { return };
        seat.server.clone_from(&tool.server);
        seat.tool.clone_from(&tool.name);
        (seat.life, seat.outcome, seat.text) = (Life::Opening, None, None);
        seat.writing = tool.writing.then(Healer::new);
        let Some(server) = self.servers.get(&tool.server) else {
            return self
                .not_begun(view, &format!("there is no server {}", Quoted::new(&tool.server)));
        };
        // H-10: what is for views alone is nobody else's, whatever the page shows.
        if server.tools().get(&tool.name).is_some_and(|known| !known.for_model) {
            self.note(view, || Record::not_opened(&tool.name));
            let words = format!("{} is a tool for its views alone", Quoted::new(&tool.name));
            return self.not_begun(view, &words);
        }
        let (_, together) = server.limits();
        if open >= together.views {
            let most = together.views as u64;
            return self.too_many(view, &Over { limit: Limit::Views, of: Holder::Server, most });
        }
        // What the page sends for a person is shown to the view, written down and sent as one value too.
        let arguments = match tool.arguments.as_deref().map(Printed::read).transpose() {
            Ok(arguments) => arguments,
            Err(why) => {
                return self.not_begun(view, &format!("its arguments are not clear: {why}"));
            }
        };
        if let Some(tool) = seat.open.tool.as_mut() {
            let raw = |printed: &Printed| RawValue::from_string(printed.get().to_owned()).ok();
            tool.arguments = arguments.as_ref().and_then(raw);
        }
        let what = if tool.writing { "being written:" } else { "tools/call" };
        self.log.write("call", &tool.server, words!("{} {}", what, Quoted::new(&tool.name)));
        let (events, view) = (self.events.clone(), view.clone());
        let sandbox = self.sandbox.clone();
        // In its place now: its end may be written down before anybody has called anything.
        let sent = arguments.as_ref().map_or("", Printed::get);
        let written = self.note(&view, || Record::opened(&tool.name, sent));
        let written = self.ledger.audit().cloned().zip(written);
        let (stop, stopped) = oneshot::channel();
        let Some(seat) = self.views.get_mut(&view) else { return };
        seat.turn += 1;
        let turn = seat.turn;
        (seat.open_row, seat.call) = (true, Some(stop));
        tokio::spawn(async move {
            if let Some((audit, number)) = written
                && let Err(error) = audit.until(number).await
            {
                let words = error.to_string();
                let _ = events.send(Event::NotBegun { view, turn, words }).await;
                return;
            }
            let name = tool.name.clone();
            let call = ToolCall { name: tool.name, arguments, meta: None };
            let read = async {
                let prepared = server.prepare(&name, &sandbox).await.map(Box::new);
                let view = view.clone();
                let _ = events.send(Event::Prepared { view, turn, prepared }).await;
            };
            let called = async {
                if tool.writing {
                    return;
                }
                let outcome = server.call_tool(&call, stopped).await;
                let _ = events.send(Event::Called { view: view.clone(), turn, outcome }).await;
            };
            tokio::join!(read, called);
        });
    }

    /// There is no answer of its tool to wait for: the tool is not called.
    pub(super) fn not_begun(&mut self, view: &ViewId, words: &str) {
        let Some(seat) = self.views.get_mut(view) else { return };
        seat.writing = None;
        match &mut seat.life {
            Life::Opening | Life::Judging(..) | Life::Admitting(..) | Life::Judged(_) => {
                self.no_view(view, words);
                self.end(view, "text");
            }
            Life::Live(live) => {
                seat.text = Some(format!("The tool was not called: {words}."));
                let _ = live.session.tool_cancelled(Some(words));
                self.log.write("result", &self.name(view), Words::ours(words));
                self.drive(view);
            }
            Life::Text { reason, .. } => {
                let reason = *reason;
                self.end(view, reason);
            }
            Life::Ended => {}
        }
    }

    /// As many views are open as may be. The tool is not called.
    pub(super) fn too_many(&mut self, view: &ViewId, over: &Over) {
        let Some(seat) = self.views.get_mut(view) else { return };
        let why = consent::limited(over, &seat.server, None);
        let tool = seat.tool.clone();
        self.note(view, || Record::limited(over, &tool));
        self.log.write("limit", &self.name(view), why.clone());
        self.say(view, &ToPage::Text { why, text: None });
        self.end(view, "limit");
    }

    pub(super) fn prepared(&mut self, view: &ViewId, prepared: Result<Box<Prepared>, String>) {
        let Some(seat) = self.views.get(view) else { return };
        if !matches!(seat.life, Life::Opening) {
            return;
        }
        match prepared {
            Ok(prepared) => self.look_over(view, prepared),
            Err(words) => self.no_view(view, &words),
        }
    }

    pub(super) fn begin_live(&mut self, view: &ViewId, prepared: Prepared) {
        let now = self.now();
        let Some(seat) = self.views.get_mut(view) else { return };
        let outcome = seat.outcome.take();
        let mount = prepared.mount(&seat.tool);
        let opening = Opening {
            context: Arc::new(context::opening(&seat.open, &prepared, &self.styles)),
            tools: prepared.server.tools(),
            policy: prepared.server.policy(),
            decided: self.decided.get(&seat.server).cloned().unwrap_or_default(),
            port: seat.open.lanes.iter().any(|lane| lane == "port"),
        };
        let Some(account) = self.accounts.get(&seat.server) else { return };
        let mut setup = Arc::clone(&account.setup);
        if let Some(granted) = prepared.granted() {
            Arc::make_mut(&mut setup).capabilities.sandbox = Some(granted);
        }
        let mut session = Session::start(now, setup, opening);
        match seat.writing.as_ref().map(so_far) {
            Some(so_far) => {
                let so_far = RawObject::new(&so_far).unwrap_or_default();
                session.tool_input_partial(so_far).expect("the first thing it is told");
            }
            None => {
                let arguments = seat.open.tool.as_ref().and_then(|tool| tool.arguments.as_deref());
                let arguments = arguments.and_then(RawObject::new).unwrap_or_default();
                session.tool_input(arguments).expect("the first thing it is told");
            }
        }
        let (warnings, reaches) = (prepared.warnings(), !prepared.reaches.is_empty());
        seat.life = Life::Live(Box::new(Live {
            session,
            server: prepared.server,
            _mounted: prepared.mounted,
            reaches: prepared.reaches,
            mount: mount.clone(),
            calls: HashMap::new(),
            asked: HashMap::new(),
            deeds: HashMap::new(),
            offered: HashMap::new(),
            refusals: Allowance::refusals(),
            lines: Allowance::lines(),
            mode_call: None,
        }));
        let server = seat.server.clone();
        if reaches {
            self.memory.watch(view);
        }
        for warning in warnings {
            self.log.write("warning", &server, warning);
        }
        self.say(view, &ToPage::Open(mount));
        if let Some(outcome) = outcome {
            self.called(view, outcome);
        }
        self.drive(view);
    }

    /// The tool that opened the view answered: to the view, or in words if there is none.
    pub(super) fn called(&mut self, view: &ViewId, outcome: Result<Box<RawValue>, CallError>) {
        let size = outcome.as_ref().map_or(0, |result| result.get().len());
        let room = self.room_for(view, size);
        let Some(seat) = self.views.get_mut(view) else { return };
        seat.call = None;
        let text = match &outcome {
            Ok(result) => fallback::text_of(result),
            Err(error) => format!("The tool failed: {}.", Words::of(error)),
        };
        let words = match &outcome {
            Ok(_) => words!("{}", Quoted::long(&text, LINE)),
            Err(error) => Words::of(error),
        };
        self.log.write("result", &format!("{} {}", seat.server, seat.tool), words);
        seat.text = Some(text);
        match &mut seat.life {
            Life::Opening | Life::Judging(..) | Life::Admitting(..) | Life::Judged(_) => {
                seat.outcome = Some(outcome);
            }
            Life::Live(live) => {
                // H-67: an error is a cancellation with its words as the reason.
                let _ = match outcome.as_deref().map(RawObject::new) {
                    Ok(Some(_)) if let Err(over) = room => {
                        live.session.tool_cancelled(Some(&over.to_string()))
                    }
                    Ok(Some(result)) => live.session.tool_result(result),
                    Ok(None) => live.session.tool_cancelled(Some("the result is not an object")),
                    Err(error) => live.session.tool_cancelled(Some(&error.outline())),
                };
                self.drive(view);
            }
            Life::Text { why, reason } => {
                let (why, reason) = (why.clone(), *reason);
                self.fall_back(view, why, reason);
            }
            Life::Ended => {}
        }
    }

    /// There is no view to show, in words that are written down.
    pub(super) fn no_view(&mut self, view: &ViewId, words: &str) {
        let words = Words::ours(words);
        self.log.write("text", &self.name(view), words.clone());
        self.fall_back(view, words!("There is no view to show: {}.", words), "text");
    }

    /// Shows what the tool answered in place of a view, or will answer (H-03).
    pub(super) fn fall_back(&mut self, view: &ViewId, why: Words, reason: &'static str) {
        let Some(seat) = self.views.get_mut(view) else { return };
        let text = seat.text.clone();
        let known = text.is_some();
        seat.life = Life::Text { why: why.clone(), reason };
        self.say(view, &ToPage::Text { why, text });
        if known {
            return self.end(view, reason);
        }
        self.stop_timer(view);
        self.flush(view);
    }
}
