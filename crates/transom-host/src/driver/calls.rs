//! Calls to servers, for views and for the page: here they start, and here it is told what comes of them.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use transom::{host::ToolCall, violation::Quoted};

use super::{
    common::Common,
    event::{Event, News},
    seat::Seat,
};
use crate::{
    envelope::ViewId,
    log::LineKind,
    server::Server,
    upstream::{CallError, CallOptions, Outcome, Request, Update},
    words,
};

/// Who called, and is told what comes of it.
#[derive(Clone, Copy)]
pub(super) enum Caller {
    /// The page, for a person: the tool whose view is opened in this turn.
    Page { turn: u64 },
    /// The view of this turn, in its call of this number. The next one in the seat counts from the same number.
    View { turn: u64, call: u64 },
}

impl Seat {
    /// Calls the tool whose view this is. That it is called is written down.
    pub(super) fn call_opening(&mut self, common: &mut Common, call: &ToolCall) {
        let words = words!("tools/call {}", Quoted::new(&call.name));
        common.log.write(LineKind::Call, &self.server, words);
        self.called_at = common.now();
        let caller = Caller::Page { turn: self.turn };
        match Request::call_tool(call) {
            Ok(request) => self.send(common, caller, request),
            Err(error) => self.not_begun(common, &error.to_string()),
        }
    }

    /// Sends a request to the view's server, and its outcome to the loop.
    pub(super) fn send(&mut self, common: &Common, caller: Caller, request: Request) {
        let Some(server) = common.servers.get(&self.server) else { return };
        let (stop, stopped) = oneshot::channel();
        match (caller, self.live()) {
            (Caller::View { call, .. }, Some(live)) => drop(live.calls.insert(call, stop)),
            (Caller::View { .. }, None) => return,
            (Caller::Page { .. }, _) => self.call = Some(stop),
        }
        tokio::spawn(follow(
            server,
            request,
            caller,
            self.id.clone(),
            common.events.clone(),
            stopped,
        ));
    }
}

impl Common {
    /// Ends what a server keeps for a view. Nothing waits for the outcome: the view may be gone.
    pub(super) fn release(&self, server: &str, call: &ToolCall) {
        let Some(server) = self.servers.get(server) else { return };
        let Ok(request) = Request::call_tool(call) else { return };
        tokio::spawn(async move {
            let Ok(mut pending) = server.start(&request, CallOptions::default()) else { return };
            while let Some(Update::Progress(_)) = pending.next().await {}
        });
    }
}

impl Caller {
    fn done(self, view: ViewId, outcome: Outcome) -> Event {
        match self {
            Self::Page { turn } => Event::Opening { view, turn, news: News::Called(outcome) },
            Self::View { turn, call } => Event::Done { view, turn, call, outcome },
        }
    }
}

/// Waits for the end of a call, unless it is stopped before.
async fn follow(
    server: Arc<Server>,
    request: Request,
    caller: Caller,
    view: ViewId,
    events: mpsc::Sender<Event>,
    mut stopped: oneshot::Receiver<Quoted>,
) {
    let progress = matches!(caller, Caller::View { .. });
    let mut pending =
        match server.start(&request, CallOptions { progress, ..CallOptions::default() }) {
            Ok(pending) => pending,
            Err(error) => return drop(events.send(caller.done(view, Err(error))).await),
        };
    loop {
        let update = tokio::select! {
            // An answer that is there already is not wanted either.
            biased;
            reason = &mut stopped => {
                let reason = reason.unwrap_or_else(|_| "no longer wanted".into());
                return pending.cancel(reason.as_str());
            }
            update = pending.next() => update,
        };
        let outcome = match (update, caller) {
            (Some(Update::Progress(params)), Caller::View { turn, call }) => {
                let view = view.clone();
                let _ = events.send(Event::Progress { view, turn, call, params }).await;
                continue;
            }
            (Some(Update::Progress(_)), Caller::Page { .. }) => continue,
            (Some(Update::Done(outcome)), _) => outcome,
            (None, _) => Err(CallError::Cancelled),
        };
        return drop(events.send(caller.done(view, outcome)).await);
    }
}
