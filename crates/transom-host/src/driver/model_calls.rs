//! Calls of the model: judged, asked about, written down and made here, as those of views are; and shown to the views of their
//! tools, from the first piece of their arguments on.
//!
//! ```text
//! writing ──End──▶ judged ──▶ asked ──yes──▶ held ──row written──▶ running ──▶ done
//!    └─────────────────┴────────┴──── Stop: whatever comes later finds nobody ────┘
//! ```

use std::{collections::HashMap, sync::Arc};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use transom::{
    host::{ForModel, Session, ToolCall},
    partial::Healer,
    policy::Claims,
    printed::Printed,
    quoted::Quoted,
};

use super::{
    Driver,
    calls::{Caller, Told, follow},
    common::Common,
    ledger::{Held, UNWRITTEN},
};
use crate::{
    audit::Record,
    consent::{self, Choice},
    conversation::{FOR_THIS, Hear, Settled, Wanted},
    envelope::{Ask, ViewId},
    log::LineKind,
    upstream::{Outcome, Request},
    words,
    words::Words,
};

/// All calls that views may still ask for.
pub(super) type ModelCalls = HashMap<ViewId, ModelCall>;

/// One call of the model.
pub(super) struct ModelCall {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) hear: Arc<dyn Hear>,
    /// Its arguments as they came, for views that open later.
    pub(super) text: String,
    pub(super) stage: Stage,
    /// The views that show it.
    pub(super) seats: Vec<ViewId>,
    done: Option<oneshot::Sender<Settled>>,
}

pub(super) enum Stage {
    Writing,
    /// A person is asked, and told what the tool says of itself.
    Asked(Printed, String),
    /// It waits to be written down.
    Held(Printed),
    Running(Printed, oneshot::Sender<Quoted>),
    Done(Printed, Result<Box<RawValue>, String>),
    /// It never will be made.
    Never(String),
}

/// What a call waits for in the ledger.
pub(super) enum Step {
    Ask(Box<Ask>),
    Call,
}

impl Stage {
    pub(super) fn arguments(&self) -> Option<&Printed> {
        match self {
            Self::Asked(printed, _)
            | Self::Held(printed)
            | Self::Running(printed, _)
            | Self::Done(printed, _) => Some(printed),
            Self::Writing | Self::Never(_) => None,
        }
    }
}

impl Driver {
    pub(super) fn want(&mut self, wanted: Wanted) {
        match wanted {
            Wanted::Begin { call, server, tool, hear } => {
                let words = words!("the model is writing a call of {}", Quoted::new(&tool));
                self.common.log.write(LineKind::Call, &server, words);
                self.common.model_calls.insert(call, ModelCall::new(server, tool, hear));
            }
            Wanted::Piece { call, text } => self.model_wrote(&call, &text),
            Wanted::End { call, agreed, done } => self.model_call_ends(&call, agreed, done),
            Wanted::Answer { call, choice } => self.model_call_answered(&call, &choice),
            Wanted::Stop { call, why } => self.stop_model_call(&call, why),
            Wanted::Restore { call, server, tool, arguments, outcome, hear } => {
                let mut kept = ModelCall::new(server, tool, hear);
                let raw = RawValue::from_string(arguments.clone()).ok();
                let printed = raw.as_deref().and_then(|raw| Printed::read(raw).ok());
                kept.text = arguments;
                kept.stage = match printed {
                    Some(printed) => Stage::Done(printed, outcome),
                    None => Stage::Never("its arguments are not clear".to_owned()),
                };
                self.common.model_calls.entry(call).or_insert(kept);
            }
            Wanted::Forget { call } => {
                self.stop_model_call(&call, "the conversation was removed");
                self.common.model_calls.remove(&call);
            }
            Wanted::Offered { view, call, tool, arguments, done } => match self.seat(&view) {
                Some((seat, common)) => {
                    seat.call_offered_by_model(common, &call, &tool, &arguments, done);
                }
                None => {
                    let words = "The view is gone, and its tools with it.";
                    let _ = done.send(Settled::Refused(words.to_owned()));
                }
            },
        }
        self.carry_out_held();
    }

    /// More of the arguments: the views see them grow.
    fn model_wrote(&mut self, call: &ViewId, text: &str) {
        let Some(it) = self.common.model_calls.get_mut(call) else { return };
        if !matches!(it.stage, Stage::Writing) {
            return;
        }
        it.text.push_str(text);
        for view in it.seats.clone() {
            if let Some((seat, common)) = self.seat(&view) {
                seat.attached_wrote(common, text);
            }
        }
    }

    fn model_call_ends(
        &mut self,
        id: &ViewId,
        agreed: Option<String>,
        done: oneshot::Sender<Settled>,
    ) {
        let Some(call) = self.common.model_calls.get_mut(id) else { return };
        call.done = Some(done);
        let printed = match read(&call.text) {
            Ok(printed) => printed,
            Err(words) => return self.refuse_model_call(id, &words),
        };
        call.hear.printed(id, &printed);
        for view in call.seats.clone() {
            if let Some((seat, common)) = self.seat(&view) {
                seat.attached_input(common, &printed);
            }
        }
        // A person may have taken back a moment ago what counts here.
        self.recall();
        match self.judge_model_call(id) {
            Err(words) => self.refuse_model_call(id, &words),
            Ok(Some(claims)) if agreed.as_ref() != Some(&claims) => {
                self.ask_about_model_call(id, printed, claims);
            }
            Ok(_) => self.hold_model_call(id, printed),
        }
    }

    /// What the gate says to it as everything is now: for what a person must be asked, if for anything.
    fn judge_model_call(&self, id: &ViewId) -> Result<Option<String>, String> {
        let common = &self.common;
        let call = common.model_calls.get(id).ok_or("it is not known")?;
        let server = common.servers.get(&call.server);
        let server = server.ok_or("its server is not there any more")?;
        let decided = common.decided.get(&call.server).cloned().unwrap_or_default();
        let ruling =
            Session::judge_for_model(&server.tools(), &server.policy(), &decided, &call.tool);
        match ruling {
            Ok(ForModel::Allow) => Ok(None),
            Ok(ForModel::Ask(claims)) => Ok(Some(said(&claims))),
            Err(denial) => {
                common.note(&call.server, id, || Record::not_opened(&call.tool));
                Err(denial.to_string())
            }
        }
    }

    fn ask_about_model_call(&mut self, id: &ViewId, printed: Printed, claims: String) {
        let Some(call) = self.common.model_calls.get_mut(id) else { return };
        let (server, tool) = (call.server.clone(), call.tool.clone());
        let ask = consent::model_call(&server, &tool, printed.get(), id.to_string());
        call.stage = Stage::Asked(printed, claims);
        let step = Step::Ask(Box::new(ask));
        self.common.hold(&server, id, Held::Model { tool, arguments: None, step });
    }

    /// It waits for its row, and then it is made.
    fn hold_model_call(&mut self, id: &ViewId, printed: Printed) {
        let Some(call) = self.common.model_calls.get_mut(id) else { return };
        let (server, tool) = (call.server.clone(), call.tool.clone());
        let arguments = Some(printed.clone());
        call.stage = Stage::Held(printed);
        self.common.hold(&server, id, Held::Model { tool, arguments, step: Step::Call });
    }

    /// A person decided. It is judged anew: everything may have changed while they thought.
    fn model_call_answered(&mut self, id: &ViewId, choice: &str) {
        let common = &mut self.common;
        let Some(call) = common.model_calls.get(id) else { return };
        let Stage::Asked(printed, claims) = &call.stage else { return };
        let (printed, claims, server) = (printed.clone(), claims.clone(), call.server.clone());
        let yes = [FOR_THIS, Choice::Allow.word()].contains(&choice);
        let word = if yes { Choice::Allow } else { Choice::Deny };
        common.log.write(LineKind::Answer, &server, words!("{}", Quoted::new(choice)));
        common.note(&server, id, || Record::decided(None, word, true));
        if !yes {
            return self.refuse_model_call(id, "the person refused it");
        }
        match self.judge_model_call(id) {
            Ok(Some(now)) if now != claims => {
                self.refuse_model_call(id, "the tool changed while the person was asked");
            }
            Ok(_) => self.hold_model_call(id, printed),
            Err(words) => self.refuse_model_call(id, &words),
        }
    }

    /// What a call waited for in the ledger is written down, or never will be.
    pub(super) fn model_step(&mut self, id: &ViewId, step: Step, written: bool) {
        let Some(call) = self.common.model_calls.get_mut(id) else { return };
        match (step, written, &call.stage) {
            (_, false, _) => self.refuse_model_call(id, UNWRITTEN),
            (Step::Ask(ask), true, Stage::Asked(_, claims)) => {
                self.common.log.write(LineKind::Asked, &call.server, ask.text.clone());
                call.hear.ask(id, *ask, claims.clone());
            }
            (Step::Call, true, Stage::Held(printed)) => {
                let printed = printed.clone();
                self.make_model_call(id, printed);
            }
            _ => {}
        }
    }

    fn make_model_call(&mut self, id: &ViewId, printed: Printed) {
        let common = &mut self.common;
        let Some(call) = common.model_calls.get_mut(id) else { return };
        let Some(server) = common.servers.get(&call.server) else {
            return self.refuse_model_call(id, "its server is not there any more");
        };
        let (name, arguments) = (call.tool.clone(), Some(printed.clone()));
        let tool = ToolCall { name, arguments, meta: None, request: None };
        let request = match Request::call_tool(&tool) {
            Ok(request) => request,
            Err(error) => return self.refuse_model_call(id, &error.to_string()),
        };
        let words = words!("tools/call {}, by the model", Quoted::new(&call.tool));
        common.log.write(LineKind::Call, &call.server, words);
        let (stop, stopped) = oneshot::channel();
        call.stage = Stage::Running(printed, stop);
        call.hear.running(id);
        let told = Told {
            view: id.clone(),
            events: common.events.clone(),
            timeline: Arc::clone(&common.timeline),
        };
        tokio::spawn(follow(server, request, Caller::Model, told, stopped));
    }

    /// A call has come to its end.
    pub(super) fn model_called(&mut self, id: &ViewId, outcome: Outcome) {
        let common = &mut self.common;
        let Some(call) = common.model_calls.get(id) else { return };
        let Stage::Running(printed, _) = &call.stage else { return };
        let (printed, server) = (printed.clone(), call.server.clone());
        let outcome = outcome.map_err(|error| error.outline());
        let size = outcome.as_ref().map(|result| result.get().len());
        common.note(&server, id, || Record::outcome(0, size.map_err(String::as_str)));
        let words = match &size {
            Ok(size) => words!("answered the model with {} bytes", size),
            Err(words) => Words::ours(words),
        };
        common.log.write(LineKind::Result, &server, words);
        let Some(call) = common.model_calls.get_mut(id) else { return };
        if let Some(done) = call.done.take() {
            let _ = done.send(match &outcome {
                Ok(result) => Settled::Done(result.clone()),
                Err(words) => Settled::Failed(format!("It failed: {words}.")),
            });
        }
        let seats = call.seats.clone();
        call.stage = Stage::Done(printed, outcome.clone());
        for view in seats {
            if let Some((seat, common)) = self.seat(&view) {
                seat.attached_outcome(common, outcome.clone());
            }
        }
    }

    fn refuse_model_call(&mut self, id: &ViewId, why: &str) {
        let Some(call) = self.common.model_calls.get_mut(id) else { return };
        let words = Words::ours(&format!("a call of the model is not made: {why}"));
        self.common.log.write(LineKind::Refused, &call.server, words);
        call.hear.withdraw(id);
        if let Some(done) = call.done.take() {
            let _ = done.send(Settled::Refused(format!("It was not called: {why}.")));
        }
        self.end_model_call(id, why);
    }

    /// Nobody wants it any more: what its server still answers finds nobody.
    fn stop_model_call(&mut self, id: &ViewId, why: &'static str) {
        let Some(call) = self.common.model_calls.get_mut(id) else { return };
        if matches!(call.stage, Stage::Done(..) | Stage::Never(_)) {
            return;
        }
        call.hear.withdraw(id);
        if let Some(done) = call.done.take() {
            let _ = done.send(Settled::Stopped);
        }
        let stage = std::mem::replace(&mut call.stage, Stage::Writing);
        let (server, tool) = (call.server.clone(), call.tool.clone());
        match stage {
            Stage::Running(_, stop) => {
                let _ = stop.send(why.into());
                self.common.note(&server, id, || Record::cancelled(&tool));
            }
            // Its row finds that nothing waits for it.
            Stage::Held(_) | Stage::Asked(..) => {
                self.common.note(&server, id, || Record::not_cancelled(&tool));
            }
            _ => {}
        }
        self.end_model_call(id, why);
    }

    fn end_model_call(&mut self, id: &ViewId, why: &str) {
        let Some(call) = self.common.model_calls.get_mut(id) else { return };
        call.stage = Stage::Never(why.to_owned());
        for view in call.seats.clone() {
            if let Some((seat, common)) = self.seat(&view) {
                seat.attached_outcome(common, Err(why.to_owned()));
            }
        }
    }
}

impl ModelCall {
    fn new(server: String, tool: String, hear: Arc<dyn Hear>) -> Self {
        let (text, stage, seats, done) = (String::new(), Stage::Writing, vec![], None);
        Self { server, tool, hear, text, stage, seats, done }
    }
}

impl Common {
    /// Holds something that is about a call of the model.
    fn hold(&mut self, server: &str, id: &ViewId, held: Held) {
        let row = match self.ledger.has_failed() {
            true => None,
            false => self.note(server, id, || held.record()),
        };
        self.ledger.hold(row, id.clone(), held);
    }
}

/// What the model wrote is judged, shown, written down and sent as one value.
fn read(text: &str) -> Result<Printed, String> {
    let mut healer = Healer::new();
    if healer.push(text).is_err() || !healer.is_complete() {
        return Err("its arguments are no JSON object".to_owned());
    }
    let raw = RawValue::from_string(healer.healed()).map_err(|error| error.to_string())?;
    Printed::read(&raw).map_err(|why| format!("its arguments are not clear: {why}"))
}

/// What a tool says of itself, as a text that can be compared.
fn said(claims: &Claims) -> String {
    serde_json::to_string(claims).unwrap_or_default()
}

/// What conversations want of the loop; never, where there are none.
pub(super) async fn next_wanted(wanted: &mut mpsc::UnboundedReceiver<Wanted>) -> Wanted {
    match wanted.recv().await {
        Some(wanted) => wanted,
        None => std::future::pending().await,
    }
}
