//! What is done for a view once it is allowed: by its server, by the page, or here.

use std::sync::Arc;

use tokio::sync::oneshot;
use transom::{
    host::{FileBody, Input, Task},
    printed::Printed,
    rpc::ErrorObject,
    violation::Quoted,
    wire::{DisplayMode, RawObject},
};

use super::{Driver, LINE, event::Event, ledger::Held, questions::deed_id, seat::About};
use crate::{
    audit::Record,
    consent,
    envelope::{Deed, Did, ToPage, ViewId},
    upstream::{CallOptions, Request, Update},
    words,
};

impl Driver {
    pub(super) fn perform(&mut self, view: &ViewId, call: u64, task: Task) {
        match task {
            Task::CallTool(tool) => match Request::call_tool(&tool) {
                Ok(request) => self.forward(view, call, request),
                Err(error) => self.settle(view, call, Err(&error.to_string())),
            },
            Task::Read { method, params, .. } => match Request::of_view(method, &params) {
                Ok(request) => self.forward(view, call, request),
                Err(error) => self.settle(view, call, Err(&error.to_string())),
            },
            // H-97: an address is never fetched on a view's behalf.
            Task::Download { files }
                if files.iter().any(|file| matches!(file.body, FileBody::Link(_))) =>
            {
                self.settle(
                    view,
                    call,
                    Err("this host saves what it is given and fetches nothing"),
                );
            }
            Task::OpenLink { .. } | Task::Download { .. } => {
                let deed = consent::deed(&task, deed_id(call)).expect("both are deeds");
                self.deed(view, call, deed);
            }
            Task::AddMessage { content } => {
                self.log_of(view, "message", || words!("{}", Quoted::long(content.get(), LINE)));
                self.settle(view, call, Ok(()));
            }
            Task::UpdateModelContext { content, structured } => {
                self.log_of(view, "message", || {
                    let structured = structured.as_ref().map_or("", Printed::get);
                    let said = Quoted::long(&format!("{} {structured}", content.get()), LINE);
                    words!("for the model: {}", said)
                });
                self.settle(view, call, Ok(()));
            }
            Task::SetDisplayMode(mode) => {
                if let Some(live) = self.live(view) {
                    live.mode_call = Some(call);
                }
                self.say(view, &ToPage::Mode(mode));
            }
            _ => self.settle(view, call, Err("this host cannot do that")),
        }
    }

    pub(super) fn forward(&mut self, view: &ViewId, call: u64, request: Request) {
        let (events, view) = (self.events.clone(), view.clone());
        let (stop, mut stopped) = oneshot::channel::<Quoted>();
        let Some(live) = self.live(&view) else { return };
        live.calls.insert(call, stop);
        let server = Arc::clone(&live.server);
        tokio::spawn(async move {
            let options = CallOptions { progress: true, ..CallOptions::default() };
            let mut pending = match server.start(&request, options) {
                Ok(pending) => pending,
                Err(error) => {
                    let _ = events.send(Event::Done { view, call, outcome: Err(error) }).await;
                    return;
                }
            };
            loop {
                let update = tokio::select! {
                    update = pending.next() => update,
                    reason = &mut stopped => {
                        let reason = reason.unwrap_or_else(|_| "no longer wanted".into());
                        return pending.cancel(reason.as_str());
                    }
                };
                let view = view.clone();
                let event = match update {
                    Some(Update::Progress(params)) => Event::Progress { view, call, params },
                    Some(Update::Done(outcome)) => Event::Done { view, call, outcome },
                    None => return,
                };
                if events.send(event).await.is_err() {
                    return;
                }
            }
        });
    }

    /// Tells the page to do something. The click that allowed it, or one inside the view, still counts
    /// with the browser for some seconds; if there was none, the page says that it could not.
    pub(super) fn deed(&mut self, view: &ViewId, call: u64, deed: Deed) {
        let Some(live) = self.live(view) else { return };
        live.deeds.insert(deed.id.clone(), (call, deed.clone()));
        self.say(view, &ToPage::Do(deed));
    }

    pub(super) fn did(&mut self, view: &ViewId, did: &Did) {
        let deed = self.live(view).and_then(|live| live.deeds.remove(&did.id));
        let Some((call, deed)) = deed else {
            return self.log.write("late", &self.name(view), "done for nobody; ignored");
        };
        if did.done {
            return self.settle(view, call, Ok(()));
        }
        self.hold(view, Held::Click { call, deed });
    }

    pub(super) fn ask_click(&mut self, view: &ViewId, call: u64, deed: Deed) {
        let Some(seat) = self.views.get(view) else { return };
        let ask = consent::click(&seat.server, &seat.tool, &deed);
        self.ask(view, ask, About::Click(call, deed));
    }

    /// Answers a call that was carried out here.
    pub(super) fn settle(&mut self, view: &ViewId, call: u64, outcome: Result<(), &str>) {
        let done = RawObject::default();
        self.note(view, || Record::outcome(call, outcome.map(|()| 0)));
        let outcome = match outcome {
            Ok(()) => Ok(done.raw()),
            Err(words) => Err(ErrorObject::new(transom::rpc::DENIED, words.to_owned())),
        };
        self.input(view, Input::Answer { call, outcome });
    }

    pub(super) fn mode_is(&mut self, view: &ViewId, mode: DisplayMode) {
        self.change_context(view, |context| context.display_mode = Some(mode));
        if let Some(call) = self.live(view).and_then(|live| live.mode_call.take()) {
            self.settle(view, call, Ok(()));
        }
    }
}
