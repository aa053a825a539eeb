//! Views that show a call of the model: it is made elsewhere, and they see it being written, made and answered.

use std::sync::Arc;

use serde_json::{Value, value::RawValue};
use tokio::sync::oneshot;
use transom::{
    host::{AppAnswer, AppTool},
    partial::Healer,
    printed::Printed,
    quoted::Quoted,
    wire::RawObject,
};

use super::{
    common::Common,
    ledger::UNWRITTEN,
    model_calls::Stage,
    seat::{Life, Seat},
    writing::so_far,
};
use crate::{
    conversation::{Hear, Offered, Settled},
    envelope::ViewId,
    fallback,
    log::LineKind,
    words,
};

impl Seat {
    /// Takes its place at a call; in words why it cannot.
    pub(super) fn attach(&mut self, common: &mut Common, call: &str) -> Result<(), &'static str> {
        let known = common
            .model_calls
            .get_mut(call)
            .filter(|known| (&*known.server, &*known.tool) == (&*self.server, &*self.tool));
        let Some(known) = known else { return Err("the conversation has no such call now") };
        if !known.seats.contains(&self.id) {
            known.seats.push(self.id.clone());
        }
        self.attached = ViewId::parse(call);
        let mut healer = Healer::new();
        let _ = healer.push(&known.text);
        self.writing = Some(healer);
        Ok(())
    }

    /// That the view opens is written down: what is known of the call by now comes after it.
    pub(super) fn catch_up(&mut self, common: &mut Common) {
        let known = self.attached.as_ref().and_then(|call| common.model_calls.get(call));
        let Some(known) = known else { return };
        let printed = known.stage.arguments().cloned();
        let outcome = match &known.stage {
            Stage::Done(_, outcome) => Some(outcome.clone()),
            Stage::Never(why) => Some(Err(why.clone())),
            _ => None,
        };
        if let Some(printed) = printed {
            self.attached_input(common, &printed);
        }
        if let Some(outcome) = outcome.filter(|_| self.outcome.is_none()) {
            self.attached_outcome(common, outcome);
        }
    }

    /// More of the arguments (H-63).
    pub(super) fn attached_wrote(&mut self, common: &mut Common, text: &str) {
        let Some(healer) = self.writing.as_mut() else { return };
        if healer.push(text).is_err() {
            return;
        }
        let arguments = so_far(healer);
        let Some(live) = self.live() else { return };
        let arguments = RawObject::new(&arguments).unwrap_or_default();
        let _ = live.session.tool_input_partial(arguments);
        self.drive(common);
    }

    /// All of them, once (H-60, H-64).
    pub(super) fn attached_input(&mut self, common: &mut Common, printed: &Printed) {
        if self.writing.take().is_none() {
            return;
        }
        let arguments = RawValue::from_string(printed.get().to_owned()).expect("we printed JSON");
        if let Some(tool) = &mut self.open.tool {
            tool.arguments = Some(arguments.clone());
        }
        if let Life::Live(live) = &mut self.life {
            let _ = live.session.tool_input(RawObject::new(&arguments).unwrap_or_default());
        }
        self.drive(common);
    }

    /// What came of the call.
    pub(super) fn attached_outcome(
        &mut self,
        common: &mut Common,
        outcome: Result<Box<RawValue>, String>,
    ) {
        match outcome {
            Ok(result) => {
                self.text = Some(fallback::text_of(&result));
                self.called(common, Ok(result));
            }
            Err(words) => self.not_begun(common, &words),
        }
    }

    /// The conversation that its call is in.
    pub(super) fn heard_by(&self, common: &Common) -> Option<Arc<dyn Hear>> {
        let call = common.model_calls.get(self.attached.as_ref()?)?;
        Some(Arc::clone(&call.hear))
    }

    /// The model is offered what the view offers (H-111).
    pub(super) fn tell_conversation(&self, common: &Common, offered: &[AppTool]) {
        let Some(hear) = self.heard_by(common) else { return };
        let tool = |it: &AppTool| Offered {
            name: it.name.clone(),
            description: it
                .tool
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .into(),
            schema: it.tool.get("inputSchema").cloned().unwrap_or_default(),
        };
        hear.offers(&self.id, &self.server, offered.iter().map(tool).collect());
    }

    /// It shows the call no more.
    pub(super) fn detach(&mut self, common: &mut Common) {
        let Some(call) = self.attached.take() else { return };
        if let Some(known) = common.model_calls.get_mut(&call) {
            known.seats.retain(|seat| *seat != self.id);
            known.hear.gone(&self.id);
        }
    }

    /// The model calls a tool that the view offers, after whatever the rules say must come first (H-115).
    pub(super) fn call_offered_by_model(
        &mut self,
        common: &mut Common,
        call: &ViewId,
        name: &str,
        arguments: &RawValue,
        done: oneshot::Sender<Settled>,
    ) {
        let now = common.now();
        let words = words!("the model calls {} of the view", Quoted::new(name));
        common.log.write(LineKind::Call, &self.name(), words);
        let Some(live) = self.live() else {
            let _ = done.send(Settled::Refused(GONE.to_owned()));
            return;
        };
        let arguments = RawObject::new(arguments).unwrap_or_default();
        match live.session.call_app_tool(now, name, arguments) {
            Ok(number) => drop(live.by_model.insert(number, (call.clone(), done))),
            Err(error) => {
                let _ = done.send(Settled::Refused(format!("It was not called: {error}.")));
            }
        }
        self.drive(common);
    }

    /// What came of such a call, if it is one.
    pub(super) fn tell_model(&mut self, call: u64, outcome: &AppAnswer) -> bool {
        let asked = self.live().and_then(|live| live.by_model.remove(&call));
        let Some((_, done)) = asked else { return false };
        let refused = |words: &str| Settled::Refused(words.to_owned());
        let failed = |words: &str| Settled::Failed(words.to_owned());
        let _ = done.send(match outcome {
            AppAnswer::Result(result) => Settled::Done(result.clone()),
            AppAnswer::Error { message, .. } => failed(Quoted::long(message, 400).as_str()),
            AppAnswer::Unusable => failed("The answer of the view cannot be used."),
            AppAnswer::TimedOut => failed("The view did not answer in time."),
            AppAnswer::NotSent => refused(UNWRITTEN),
            AppAnswer::Refused => refused("The person refused it."),
            AppAnswer::Gone => refused(GONE),
        });
        true
    }
}

const GONE: &str = "The view is gone, and its tools with it.";
