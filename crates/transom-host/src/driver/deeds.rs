//! What is done for a view once it is allowed: by its server, by the page, or here.

use tokio::sync::oneshot;
use transom::{
    host::{Input, Task},
    printed::Printed,
    rpc::{DENIED, ErrorObject},
    violation::Quoted,
    wire::{DisplayMode, RawObject},
};

use super::{
    LINE,
    calls::Caller,
    common::Common,
    event::Event,
    ledger::Held,
    linked::is_linked,
    seat::{About, Seat},
};
use crate::{
    audit::Record,
    consent,
    envelope::{Deed, Did, ToPage},
    log::LineKind,
    upstream::{CallError, Refusal, Request},
    words,
};

impl Seat {
    pub(super) fn perform(&mut self, common: &mut Common, call: u64, task: Task) {
        self.note_begun(common, call, &task);
        match task {
            Task::CallTool(tool) => match Request::call_tool(&tool) {
                Ok(request) => self.send(common, Caller::View { turn: self.turn, call }, request),
                Err(error) => self.settle(common, call, Err(&error.to_string())),
            },
            Task::Read { method, params, .. } => match Request::of_view(method, &params) {
                Ok(request) => self.send(common, Caller::View { turn: self.turn, call }, request),
                Err(error) => self.settle(common, call, Err(&error.to_string())),
            },
            Task::Download { files } if is_linked(&files) => self.collect(common, call, files),
            Task::OpenLink { .. } | Task::Download { .. } => {
                let deed = consent::deed(&task, self.deed_id(call)).expect("both are deeds");
                self.deed(common, call, deed);
            }
            Task::AddMessage { content } => {
                self.log_of(common, LineKind::Message, || {
                    words!("{}", Quoted::long(content.get(), LINE))
                });
                // H-91: outside of a conversation there is none to speak in, and the log shows it.
                let from = self.name();
                let said = match self.heard_by(common) {
                    Some(hear) => hear.message(&from, content.get()),
                    None => Ok(()),
                };
                self.settle(common, call, said);
            }
            Task::UpdateModelContext { content, structured } => {
                self.log_of(common, LineKind::Message, || {
                    let structured = structured.as_ref().map_or("", Printed::get);
                    let said = Quoted::long(&format!("{} {structured}", content.get()), LINE);
                    words!("for the model: {}", said)
                });
                let structured = structured.as_ref().map_or("", Printed::get);
                let from = self.name();
                let said = match self.heard_by(common) {
                    Some(hear) => hear.context(&self.id, &from, content.get(), structured),
                    None => Ok(()),
                };
                self.settle(common, call, said);
            }
            Task::Sample { params } => self.sample(common, call, &params),
            Task::SetDisplayMode(mode) => {
                if let Some(live) = self.live() {
                    live.mode_call = Some(call);
                }
                self.say(common, &ToPage::Mode(mode));
            }
            _ => self.settle(common, call, Err("this host cannot do that")),
        }
    }

    /// Lets the model write for the view, and tells the loop what came of it.
    fn sample(&mut self, common: &mut Common, call: u64, params: &Printed) {
        let Some(sampler) = &common.sampler else {
            return self.settle(common, call, Err("there is no model"));
        };
        let writes = sampler.sample(&self.name(), params.get());
        let (stop, stopped) = oneshot::channel();
        let (events, view, turn) = (common.events.clone(), self.id.clone(), self.turn);
        if let Some(live) = self.live() {
            live.calls.insert(call, stop);
        }
        tokio::spawn(async move {
            let outcome = tokio::select! {
                _ = stopped => return,
                outcome = writes => outcome,
            };
            let refused =
                |message| CallError::Refused(Refusal { code: DENIED, message, data: None });
            let outcome = outcome.map_err(refused);
            let _ = events.send(Event::Done { view, turn, call, outcome }).await;
        });
    }

    /// Tells the page to do something. The click that allowed it, or one inside the view, still counts
    /// with the browser for some seconds; if there was none, the page says that it could not.
    pub(super) fn deed(&mut self, common: &Common, call: u64, deed: Deed) {
        let Some(live) = self.live() else { return };
        live.deeds.insert(deed.id.clone(), (call, deed.clone()));
        self.say(common, &ToPage::Do(deed));
    }

    pub(super) fn did(&mut self, common: &mut Common, did: &Did) {
        let deed = self.live().and_then(|live| live.deeds.remove(&did.id));
        let Some((call, deed)) = deed else {
            return common.log.write(
                LineKind::Late,
                &self.name(),
                "done for a request that has ended; ignored",
            );
        };
        if did.done {
            return self.settle(common, call, Ok(()));
        }
        self.hold(common, Held::Click { call, deed });
    }

    pub(super) fn ask_click(&mut self, common: &Common, call: u64, deed: Deed) {
        let ask = consent::click(&self.server, &self.tool, &deed);
        self.ask(common, ask, About::Click(call, deed));
    }

    /// Answers a call that was carried out here.
    pub(super) fn settle(&mut self, common: &mut Common, call: u64, outcome: Result<(), &str>) {
        let done = RawObject::default();
        self.note(common, || Record::outcome(call, outcome.map(|()| 0)));
        let outcome = match outcome {
            Ok(()) => Ok(done.raw()),
            Err(words) => Err(ErrorObject::new(DENIED, words.to_owned())),
        };
        self.input(common, Input::Answer { call, outcome });
    }

    pub(super) fn mode_is(&mut self, common: &mut Common, mode: DisplayMode) {
        self.change_context(common, |context| context.display_mode = Some(mode));
        if let Some(call) = self.live().and_then(|live| live.mode_call.take()) {
            self.settle(common, call, Ok(()));
        }
    }
}
